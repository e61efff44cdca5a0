// Other programs that run commands, as baselines for the bank's windows for commands. Each program runs the same
// commands, two at a time. The commands are queued before the measurement or during it.
// Invariant: no queue of the user is used.
// Errors: BenchFailure, or SystemError if a program cannot be run. A program that is not installed is not measured.
import Glibc
import Posix

enum CommandBaseline: String, CaseIterable {
  /// Has no queue, and does not store the outcome of a command.
  case xargs = "xargs -P2"
  /// Stores queue and outcomes in the memory of a server, and output in files.
  case taskSpooler = "task-spooler, 2 slots"
  /// Stores queue and output in files. It runs one command at a time, so two queues are used.
  case nq = "nq, two queues"

  /// Environment variable in which `scripts/bench` passes the program's path. It is empty if the program was not
  /// found.
  private var variable: String {
    switch self {
    case .xargs: "BANK_XARGS"
    case .taskSpooler: "BANK_TSP"
    case .nq: "BANK_NQ"
    }
  }

  private var program: String? { Environment.value(variable).flatMap { $0.isEmpty ? nil : $0 } }

  /// The installed programs, measured while all commands of a round already wait. Programs with a queue have no
  /// target, because half of their work is done before the measurement.
  static func serving(_ bench: Bench, _ count: Int64) -> [Baseline] {
    rivals(bench, allCases, targets: [.xargs: .atLeast(1)]) { try $0.perSecond(count, allWait: true, in: $1) }
  }

  /// The programs with a queue, measured from the queueing of the first command to the exit of the last one.
  static func queueing(_ bench: Bench, _ count: Int64) -> [Baseline] {
    rivals(bench, [.taskSpooler, .nq], targets: [.taskSpooler: .atLeast(2), .nq: .atLeast(4)]) {
      try $0.perSecond(count, allWait: false, in: $1)
    }
  }

  /// A baseline for each of these programs that is installed. Each measurement has its own round.
  private static func rivals(
    _ bench: Bench, _ kinds: [CommandBaseline], targets: [CommandBaseline: Target],
    measure: @escaping (CommandBaseline, BaselineRun) throws -> Double
  ) -> [Baseline] {
    kinds.compactMap { kind in
      kind.program.map { program in
        Baseline(name: kind.rawValue, target: targets[kind]) {
          let round = try BaselineRun(bench, program: program)
          defer { round.discard() }
          return try measure(kind, round)
        }
      }
    }
  }

  /// Commands per second of this program, two at a time. If `allWait` is true, all are queued before the time is
  /// measured.
  private func perSecond(_ count: Int64, allWait: Bool, in round: BaselineRun) throws -> Double {
    switch self {
    case .xargs: try Self.listed(count, in: round)
    case .taskSpooler: try Self.spooled(count, allWait: allWait, in: round)
    case .nq: try Self.queued(count, allWait: allWait, in: round)
    }
  }

  /// Commands per second of `xargs`, from a file with a line for each.
  private static func listed(_ count: Int64, in round: BaselineRun) throws -> Double {
    let list = try round.file("list", String(repeating: "x\n", count: Int(count)))
    return try Bench.perSecond(count) { try round.run(["-a", list, "-n", "1", "-P", "2", "true"]) }
  }

  /// Commands per second of task-spooler. If `allWait` is true, all are queued before the time is measured.
  private static func spooled(_ count: Int64, allWait: Bool, in round: BaselineRun) throws -> Double {
    round.environment["TS_SOCKET"] = round.path("socket")
    round.environment["TS_SLOTS"] = "2"
    round.atEnd = ["-K"]
    // The last command needs both slots, so that all others have ended before it. If all commands must wait, the
    // first command holds both slots until the gate is opened. If not, the first command starts the server before the
    // time is measured.
    let gate = try round.gate("gate")
    try round.run(["-n", "-N", "2"] + (allWait ? ["sh", "-c", gate.waits] : ["true"]))
    return try timed(
      count, allWait: allWait,
      queue: {
        for _ in 0..<count { try round.run(["-n", "true"]) }
        try round.run(["-n", "-N", "2", "true"])
      }, open: { try gate.open() }, await: { try round.run(["-w"]) })
  }

  /// Commands per second of nq. If `allWait` is true, all are queued before the time is measured.
  private static func queued(_ count: Int64, allWait: Bool, in round: BaselineRun) throws -> Double {
    let queues = [round.path("first"), round.path("second")]
    var gates: [StartGate] = []
    for queue in queues {
      try Directory.create(path: queue)
      gates.append(try round.gate("\(Paths.lastPart(of: queue)).gate"))
    }
    /// Selects each queue in turn for the next commands of the round, and calls the closure.
    func each(_ perform: (Int) throws -> Void) rethrows {
      for index in queues.indices {
        round.environment["NQDIR"] = queues[index]
        try perform(index)
      }
    }
    if allWait { try each { try round.run(["-q", "sh", "-c", gates[$0].waits]) } }
    return try timed(
      count / 2 * 2, allWait: allWait,
      queue: {
        for _ in 0..<count / 2 { try each { _ in try round.run(["-q", "true"]) } }
      }, open: { for gate in gates { try gate.open() } }, await: { try each { _ in try round.run(["-w"]) } })
  }

  /// Commands per second. The time starts when the gate is opened if all commands already wait, and when the first
  /// command is queued if not.
  private static func timed(
    _ count: Int64, allWait: Bool, queue: () throws -> Void, open: () throws -> Void,
    await end: () throws -> Void
  ) throws -> Double {
    if allWait { try queue() }
    return try Bench.perSecond(count) {
      try allWait ? open() : queue()
      try end()
    }
  }
}

/// One round of a baseline. It has its own directory with a link to its program.
final class BaselineRun {
  /// Environment of the program, with the search path.
  var environment: EnvironmentVariables = [
    "PATH": Environment.value("PATH") ?? "/usr/bin:/bin", "LANG": "C.UTF-8",
  ]
  /// Arguments that end the background server of the program; empty for a program without a server.
  var atEnd: [String] = []
  private let directory: String
  private let program: String

  init(_ bench: Bench, program original: String) throws {
    directory = bench.newHome().path
    program = Paths.join(directory, Paths.lastPart(of: original))
    try Directory.create(path: directory)
    environment["TMPDIR"] = directory
    guard symlink(original, program) == 0 else { throw BenchFailure("cannot create a link at \(program)") }
  }

  /// Path of a file in the directory of the round.
  func path(_ name: String) -> String { Paths.join(directory, name) }

  /// Writes a file into the directory of the round. Returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    try FileDescriptor.open(path(name), [.writeOnly, .create, .truncate]).writeAll(Array(text.utf8))
    return path(name)
  }

  /// Makes a closed gate, for which the first command of a queue waits.
  func gate(_ name: String) throws -> StartGate {
    guard mkfifo(path(name), 0o600) == 0 else { throw BenchFailure("cannot create a FIFO at \(path(name))") }
    return StartGate(path: path(name))
  }

  /// Runs the program and waits for its exit.
  func run(_ arguments: [String]) throws {
    let process = try ChildProcess.spawn(
      executable: program, arguments: arguments, environment: environment, standardOutput: .null,
      standardError: .null)
    let status = process.wait()
    guard status.isSuccess else {
      throw BenchFailure("\(Paths.lastPart(of: program)) \(arguments.joined(separator: " ")): \(status)")
    }
  }

  /// Ends the program's server, and removes the directory.
  func discard() {
    if !atEnd.isEmpty { _ = try? run(atEnd) }
    Directory.removeTree(directory)
  }
}

/// A pipe that blocks the first command, and with it all following commands.
struct StartGate {
  let path: String
  /// Shell command that waits at the gate.
  var waits: String { "read line <'\(path)'" }

  /// Releases one command that waits or will wait at the gate.
  func open() throws { try FileDescriptor.open(path, .writeOnly).writeAll(Array("go\n".utf8)) }
}
