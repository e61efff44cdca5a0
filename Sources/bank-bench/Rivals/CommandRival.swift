// Owns others who run commands for somebody, beside whom the bank's windows for commands are measured: each with the same
// commands, two at a time, which wait already or are still to be queued. Invariant: whatever is started has the directory of its round in its
// command line, and is gone with the round; none of it is a queue of the machine's own.
// Failure: BenchFailure, or SystemError where a program cannot be run. Who is not installed is no rival.
import Glibc
import Posix

enum CommandRival: String, CaseIterable {
  /// Keeps no queue, and nothing of what a command has come to.
  case xargs = "xargs -P2"
  /// Keeps queue and ends in the memory of a server, and output in files.
  case taskSpooler = "task-spooler, 2 slots"
  /// Keeps queue and output in files, and runs one at a time: two of them.
  case nq = "nq, two queues"

  /// What says where `scripts/bench` has found the program; empty where it has found none.
  private var variable: String {
    switch self {
    case .xargs: "BANK_XARGS"
    case .taskSpooler: "BANK_TSP"
    case .nq: "BANK_NQ"
    }
  }

  private var program: String? { Environment.value(variable).flatMap { $0.isEmpty ? nil : $0 } }

  /// Those who are installed, with so many commands a round that all wait already. Of those with a queue nothing is wanted
  /// here: half of their work is done before.
  static func serving(_ bench: Bench, _ count: Int64) -> [Rival] {
    rivals(bench, allCases, targets: [.xargs: .atLeast(1)]) { try $0.perSecond(count, allWait: true, in: $1) }
  }

  /// Those with a queue, from the first command that is queued to the end of the last. Both queue by a process a command.
  static func queueing(_ bench: Bench, _ count: Int64) -> [Rival] {
    rivals(bench, [.taskSpooler, .nq], targets: [.taskSpooler: .atLeast(2), .nq: .atLeast(4)]) {
      try $0.perSecond(count, allWait: false, in: $1)
    }
  }

  private static func rivals(
    _ bench: Bench, _ kinds: [CommandRival], targets: [CommandRival: Target],
    measure: @escaping (CommandRival, RivalRound) throws -> Double
  ) -> [Rival] {
    kinds.compactMap { kind in
      kind.program.map { program in
        Rival(name: kind.rawValue, target: targets[kind]) {
          let round = try RivalRound(bench, program: program)
          defer { round.discard() }
          return try measure(kind, round)
        }
      }
    }
  }

  private func perSecond(_ count: Int64, allWait: Bool, in round: RivalRound) throws -> Double {
    switch self {
    case .xargs: try Self.listed(count, in: round)
    case .taskSpooler: try Self.spooled(count, allWait: allWait, in: round)
    case .nq: try Self.queued(count, allWait: allWait, in: round)
    }
  }

  private static func listed(_ count: Int64, in round: RivalRound) throws -> Double {
    let list = try round.file("list", String(repeating: "x\n", count: Int(count)))
    return try Bench.perSecond(count) { try round.run(["-a", list, "-n", "1", "-P", "2", "true"]) }
  }

  private static func spooled(_ count: Int64, allWait: Bool, in round: RivalRound) throws -> Double {
    round.environment["TS_SOCKET"] = round.path("socket")
    round.environment["TS_SLOTS"] = "2"
    round.atEnd = ["-K"]
    // The last wants both slots, so that all have ended before it. Where all shall wait, the first holds both until the
    // gate is opened; else it has the server started before the time begins.
    let gate = try round.gate("gate")
    try round.run(["-n", "-N", "2"] + (allWait ? ["sh", "-c", gate.waits] : ["true"]))
    return try timed(
      count, allWait: allWait,
      queue: {
        for _ in 0..<count { try round.run(["-n", "true"]) }
        try round.run(["-n", "-N", "2", "true"])
      }, open: { try gate.open() }, await: { try round.run(["-w"]) })
  }

  private static func queued(_ count: Int64, allWait: Bool, in round: RivalRound) throws -> Double {
    let queues = [round.path("first"), round.path("second")]
    var gates: [RivalGate] = []
    for queue in queues {
      try Directory.create(path: queue)
      gates.append(try round.gate("\(Paths.lastPart(of: queue)).gate"))
    }
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

  /// Commands a second from the opening of the gate on where all shall wait by then, else from the first that is queued on.
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

/// One round of a rival: a directory of its own, and its program under a name in there, by which it is found.
final class RivalRound {
  /// What the program is told; it can find others.
  var environment: Variables = ["PATH": Environment.value("PATH") ?? "/usr/bin:/bin", "LANG": "C.UTF-8"]
  /// The words with which whoever serves in the background ends; empty where nobody does.
  var atEnd: [String] = []
  private let directory: String
  private let program: String

  init(_ bench: Bench, program original: String) throws {
    directory = bench.newHome().path
    program = Paths.join(directory, Paths.lastPart(of: original))
    try Directory.create(path: directory)
    environment["TMPDIR"] = directory
    guard symlink(original, program) == 0 else { throw BenchFailure("no link can be made at \(program)") }
  }

  func path(_ name: String) -> String { Paths.join(directory, name) }

  func file(_ name: String, _ text: String) throws -> String {
    try FileDescriptor.open(path(name), [.writeOnly, .create, .truncate]).writeAll(Array(text.utf8))
    return path(name)
  }

  func gate(_ name: String) throws -> RivalGate {
    guard mkfifo(path(name), 0o600) == 0 else { throw BenchFailure("no gate can be made at \(path(name))") }
    return RivalGate(path: path(name))
  }

  /// Runs the program to its end.
  func run(_ arguments: [String]) throws {
    let process = try ChildProcess.spawn(
      executable: program, arguments: arguments, environment: environment, standardOutput: .null,
      standardError: .null)
    let status = process.wait()
    guard status.isSuccess else {
      throw BenchFailure("\(Paths.lastPart(of: program)) \(arguments.joined(separator: " ")): \(status)")
    }
  }

  func discard() {
    if !atEnd.isEmpty { _ = try? run(atEnd) }
    Directory.removeTree(directory)
  }
}

/// What a command waits at that holds up all behind it.
struct RivalGate {
  let path: String
  /// The words of a shell that waits.
  var waits: String { "read line <'\(path)'" }

  /// Lets the one through that waits, or will.
  func open() throws { try FileDescriptor.open(path, .writeOnly).writeAll(Array("go\n".utf8)) }
}
