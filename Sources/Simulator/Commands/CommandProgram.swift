// A command in the simulated world: a user's program that reads its input, writes output, starts children, and exits or
// runs until it is killed.
// Invariant: a command follows its script. It reports its output to the checker when the output is written, and its
// input when it has read the input to the end.
import BankModel
import Glibc
import Posix
import Time

/// The program of one command: what it does until it exits, according to a drawn script.
final class CommandProgram: SimulatedProgram {
  private unowned let process: SimulatedProcess
  private unowned let world: Simulation
  private let loop: EventLoop
  private var script: CommandScript
  /// Time at which the command ends by itself; nil if it never does.
  private var due: MonotonicTime?
  /// The processes that the command still has to start, with the times of their starts.
  private var children: [(at: MonotonicTime, child: CommandScript.Child)] = []
  /// Output that the command has not written yet.
  private var mouth: PendingOutput
  private var input: FileDescriptor?
  private var inputRegistration: Registration?
  private var inputBytes: [UInt8] = []
  /// Signal that kills the process in its next turn; nil if there is none.
  private var fatalSignal: Int32?
  private var exitCode: Int32?

  init(_ process: SimulatedProcess, _ script: CommandScript, in world: Simulation) throws(SystemError) {
    (self.process, self.script, self.world) = (process, script, world)
    loop = try EventLoop()
    let now = process.clock
    if case .never = script.ending { due = nil } else { due = now + script.duration }
    children = script.children.map { (now + $0.begins, $0) }
    mouth = PendingOutput(of: process, in: world)
    mouth.append(CommandOutput.of(process, script.output / 2), on: 1)
    mouth.append(CommandOutput.of(process, script.errors), on: 2)
    if script.readsInput, let input = process.inherited(0) {
      let number = input.rawValue
      self.input = consume input
      // The null device cannot be registered. Reading it returns end-of-file.
      inputRegistration = try? loop.register(fd: number, interest: .read) { [unowned self] _ in read() }
    }
  }

  /// Runs the command once: reads, writes, starts children or ends. Returns its exit code at the end.
  func runIteration() throws(SystemError) -> Int32? {
    if let fatalSignal {
      process.kill(by: fatalSignal)
      return nil
    }
    if let exitCode { return exitCode }
    if inputRegistration == nil { read() }
    if mouth.hasMore { mouth.speak(loop) }
    try loop.runOnce(until: nextMoment)
    act(at: process.clock)
    return fatalSignal == nil ? exitCode : nil
  }

  /// Time of the next start of a child or of the end; nil for none.
  private var nextMoment: MonotonicTime? {
    var moment: MonotonicTime? = fatalSignal == nil ? nil : process.clock
    for (at, _) in children { moment = .earlier(moment, at) }
    if let due, due > process.clock || (!mouth.hasMore && hasReadInput) {
      moment = .earlier(moment, due)
    }
    return moment
  }

  /// Starts the children that are due, and ends the command if its time has come.
  private func act(at now: MonotonicTime) {
    while let place = children.firstIndex(where: { $0.at <= now }) {
      start(children.remove(at: place).child)
    }
    guard let end = due, end <= now, hasReadInput else { return }
    if script.output > 0 {
      mouth.append(CommandOutput.of(process, script.output - script.output / 2), on: 1)
      script.output = 0
    }
    mouth.speak(loop)
    guard !mouth.hasMore else { return }
    switch script.ending {
    case .code(let code): exitCode = code
    case .signal(let signal):
      fatalSignal = signal
      process.kill(by: signal)
    case .never: break
    }
  }

  /// True if the command has read its input to the end, or reads none.
  private var hasReadInput: Bool {
    switch input {
    case .some: false
    case .none: true
    }
  }

  /// Reads the available input, and reports all of it to the checker at its end.
  private func read() {
    guard !hasReadInput else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_024, alignment: 8)
    defer { buffer.deallocate() }
    while !hasReadInput {
      switch try? input?.read(into: buffer) {
      case .bytes(let count)?: inputBytes += buffer.prefix(count)
      case .endOfFile?:
        if let inputRegistration { loop.deregister(inputRegistration) }
        inputRegistration = nil
        input = nil
        world.commandReadInput(process, inputBytes)
      default: return
      }
    }
  }

  /// Starts a child as a copy of the command's process.
  private func start(_ child: CommandScript.Child) {
    let files: [OpenFile?] = child.speaks ? [nil, process.descriptors[1], process.descriptors[2]] : []
    let forked = process.startCopy(leavesGroup: child.leavesGroup, keeping: files) {
      [unowned world] process in
      try? CommandChild(process, child, in: world)
    }
    if let forked { world.commandStarted(forked, of: process) }
  }

  /// Reacts to a signal as the script says: ignores it, exits with a code, or is killed.
  func handle(signal: Int32) {
    guard !script.ignoresTerm || signal != SIGTERM else { return }
    if let code = script.exitCodeAtTerm, signal == SIGTERM { exitCode = code } else { fatalSignal = signal }
  }

  /// Makes the command exit soon, because the faults have ended: with code 0 if it would never exit or would pause its
  /// service.
  func calm() {
    switch script.ending {
    case .never, .code(126), .code(127): script.ending = .code(0)
    default: break
    }
    process.call {
      let soon = process.clock + .milliseconds(20)
      due = due.map { min($0, soon) } ?? soon
    }
  }
}

/// A process that a command has started, and that may outlive the command. It runs for a while, ignores SIGTERM or not,
/// and may start another process.
final class CommandChild: SimulatedProgram {
  private unowned let process: SimulatedProcess
  private unowned let world: Simulation
  private let loop: EventLoop
  private let script: CommandScript.Child
  private let due: MonotonicTime
  private var mouth: PendingOutput
  private var hasWritten = false
  private var hasStarted = false
  private var fatalSignal: Int32?

  init(_ process: SimulatedProcess, _ script: CommandScript.Child, in world: Simulation) throws(SystemError) {
    (self.process, self.script, self.world) = (process, script, world)
    loop = try EventLoop()
    due = process.clock + script.lives
    mouth = PendingOutput(of: process, in: world)
  }

  /// Runs this child of a command once: writes in the middle of its life, may start another process; returns 0 at its
  /// end, else nil.
  func runIteration() throws(SystemError) -> Int32? {
    if let fatalSignal {
      process.kill(by: fatalSignal)
      return nil
    }
    try loop.runOnce(until: hasWritten ? due : min(due, half))
    if process.clock >= half, !hasWritten {
      hasWritten = true
      if script.speaks { mouth.append(CommandOutput.of(process, 30), on: 1) }
      mouth.speak(loop)
    }
    guard process.clock >= due else { return nil }
    if script.hasChild, !hasStarted {
      hasStarted = true
      var next = script
      next.hasChild = false
      let forked = process.startCopy(leavesGroup: script.leavesGroup, keeping: []) {
        [unowned world] process in
        try? CommandChild(process, next, in: world)
      }
      if let forked { world.commandStarted(forked, of: process) }
    }
    return 0
  }

  /// Time at which the process writes its output, in the middle of its life.
  private var half: MonotonicTime { due - script.lives / 2 }

  /// Makes the signal kill the process, unless it is SIGTERM and the script ignores that.
  func handle(signal: Int32) { if !script.ignoresTerm || signal != SIGTERM { fatalSignal = signal } }
}

/// Output of a command on its two streams that was not written yet.
struct PendingOutput {
  private unowned let process: SimulatedProcess
  private unowned let world: Simulation
  private var unsent: [CInt: [UInt8]] = [:]
  private var registrations: [CInt: Registration] = [:]

  init(of process: SimulatedProcess, in world: Simulation) { (self.process, self.world) = (process, world) }

  var hasMore: Bool { !unsent.isEmpty }
  mutating func append(_ bytes: [UInt8], on stream: CInt) {
    if !bytes.isEmpty { unsent[stream, default: []] += bytes }
  }

  /// Writes as much as fits. The loop wakes the process when there is space for the rest.
  mutating func speak(_ loop: EventLoop) {
    for stream in unsent.keys.sorted() {
      while let bytes = unsent[stream] {
        let count = bytes.withUnsafeBytes { process.write(stream, $0) }
        guard count > 0 else {
          // The reader is gone: drop the rest.
          if errno != EAGAIN { unsent[stream] = nil }
          break
        }
        // Output of a process that was killed in this turn is not written.
        if !process.isMarkedForTermination {
          world.commandWroteOutput(process, Array(bytes.prefix(count)), on: stream)
        }
        unsent[stream] = count == bytes.count ? nil : Array(bytes.dropFirst(count))
      }
      if unsent[stream] != nil, registrations[stream] == nil {
        registrations[stream] = try? loop.register(fd: stream, interest: .write) { _ in }
      } else if unsent[stream] == nil, let registration = registrations.removeValue(forKey: stream) {
        loop.deregister(registration)
      }
    }
  }
}

/// Output of commands: a repeated identification, so that every part of it can be recognized.
enum CommandOutput {
  /// This many bytes of output, which repeat the ticket and the pid of the process.
  static func of(_ process: SimulatedProcess, _ count: Int) -> [UInt8] {
    let word = Array("\(process.environment["BANK_TICKET"] ?? "")/\(process.pid) ".utf8)
    return (0..<count).map { word[$0 % word.count] }
  }
}
