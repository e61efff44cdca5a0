// Owns one command from its start until nothing of it is left: the process and all that descends from it, its payload,
// its output, its time. Invariant: the outcome is there when the command itself and everybody whom it has left behind
// have ended, and never before; whoever holds its pipes or ignores its signals delays it by bounded times only.
// Failure: a command that cannot begin is a refusal; SystemError is a shortage that may pass.
import Glibc
import Posix
import Time

/// A command that was started for one customer.
///
/// Not Sendable: it lives with the loop that it waits in. Whoever runs the loop calls ``turn(at:)`` after each turn, and at
/// ``deadline`` at the latest. A command that is dropped is killed with its group.
public final class RunningCommand {
  private enum Phase {
    /// Its output is left in the pipes until then; nil once the loop takes it out.
    case running(attendAt: MonotonicTime?)
    /// It has ended, and somebody may be writing to its output.
    case lingering(until: MonotonicTime)
    /// It has ended, and what it has left is being ended.
    case clearing
    case over(CommandOutcome)
  }

  private let root: ChildProcess
  private let group: ControlGroup?
  private let tree: ProcessTree
  /// Nil for a command that gets nothing.
  private let feed: PayloadFeed?
  private let output: OutputCapture
  private let errors: OutputCapture
  private let startedAt: MonotonicTime
  private let timeoutAt: MonotonicTime?
  private let grace: TimeSpan
  private let linger: TimeSpan
  private var endedAt: MonotonicTime
  private var interruption: CommandOutcome.Interruption?
  /// Whether everything was ended at once, because this process ends.
  private var isGivenUp = false
  private var phase = Phase.running(attendAt: nil)

  /// When to look again where descriptors or memory have run out.
  private static let pause = TimeSpan.milliseconds(10)

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - now: when it starts; its time is counted from here.
  ///   - unattended: for so long its output stays in the pipes, which hold 64 KiB each, and its end alone is waited for.
  ///     A command that has ended by then costs a third less; one that says more waits.
  ///   - adopts: which children of this process belong to the command, other than the command itself: all but those that
  ///     this process has started itself. Where it is true of any, `Subreaper.become()` comes first.
  /// - Throws: what cannot be had now and may be had later: processes, descriptors, memory; and ETXTBSY, where somebody
  ///   is just writing the program. Nothing has begun then. What fails behind the start is tried again while the command runs.
  public static func start(
    _ order: CommandOrder, on loop: EventLoop, at now: MonotonicTime, unattended: TimeSpan = .zero,
    adopts: @escaping (pid_t) -> Bool
  ) throws(SystemError) -> Result<RunningCommand, CommandRefusal> {
    var feed: PayloadFeed?
    let input = try standardInput(order.payload, from: &feed, on: loop)
    let outputPipe = try DescriptorPair.pipe()
    let errorPipe = try DescriptorPair.pipe()
    // Everything that can fail comes before the start: a start that has happened is never taken back.
    let output = try OutputCapture(outputPipe.first, keeping: order.output, on: loop)
    let errors = try OutputCapture(errorPipe.first, keeping: order.errors, on: loop)
    let root: ChildProcess
    do throws(SystemError) {
      root = try ChildProcess.start(
        order.program, input: input, output: outputPipe.second, errors: errorPipe.second)
    } catch {
      guard let refusal = refusal(of: order.program, error) else { throw error }
      return .failure(refusal)
    }
    return .success(
      RunningCommand(
        order, root, feed, output: output, errors: errors, on: loop, at: now, unattended: unattended,
        adopts: adopts))
  }

  /// A pipe with the payload in it; for no payload the null device, which costs less.
  private static func standardInput(
    _ payload: [UInt8], from feed: inout PayloadFeed?, on loop: EventLoop
  ) throws(SystemError) -> FileDescriptor {
    guard !payload.isEmpty else { return try FileDescriptor.open("/dev/null", .readOnly) }
    let pipe = try DescriptorPair.pipe()
    feed = try PayloadFeed(payload, into: pipe.second, on: loop)
    return pipe.first
  }

  private init(
    _ order: CommandOrder, _ root: ChildProcess, _ feed: PayloadFeed?, output: OutputCapture,
    errors: OutputCapture, on loop: EventLoop, at now: MonotonicTime, unattended: TimeSpan,
    adopts: @escaping (pid_t) -> Bool
  ) {
    (self.root, self.feed, group) = (root, feed, order.program.group)
    (startedAt, endedAt, timeoutAt) = (now, now, order.timeout.map { now + $0 })
    (grace, linger) = (order.grace, order.linger)
    tree = ProcessTree(root: root, in: order.program.group, on: loop, adopts: adopts)
    (self.output, self.errors) = (output, errors)
    if unattended > .zero { phase = .running(attendAt: now + unattended) } else { attend(at: now) }
  }

  deinit {
    guard root.reap() == nil else { return }
    group?.kill()
    root.killGroup(SIGKILL)
    // A moment: it is killed. Nobody would collect it afterwards; but where this process ends, somebody will.
    if isGivenUp { root.kill(SIGKILL) } else { root.end() }
  }

  /// The process id of the command, and of its session and its process group.
  public var pid: pid_t { root.pid }

  /// Whether its group was ended with it, so that no other command is to begin there.
  public var hasEndedGroup: Bool { tree.hasEndedGroup }

  /// What it has said so far, and on the other stream.
  public var said: (output: CapturedOutput, errors: CapturedOutput) { (output.captured, errors.captured) }

  /// When ``turn(at:)`` is to be called, if nothing happens before; nil for when something happens.
  public var deadline: MonotonicTime? {
    switch phase {
    case .running(let attendAt):
      .earliest(attendAt, interruption == nil ? timeoutAt : nil, tree.deadline)
    case .clearing: tree.deadline
    case .lingering(let until): until
    case .over: nil
    }
  }

  /// Whether its output stays in the pipes for now, and nobody looks after what it leaves behind.
  public var isUnattended: Bool { if case .running(attendAt: _?) = phase { true } else { false } }

  /// Ends the command with all that descends from it: SIGTERM to its group, and SIGKILL to the whole tree after its
  /// grace. Does nothing to one that has ended already, or is being ended.
  public func cancel(at now: MonotonicTime) { interrupt(.cancel, at: now) }

  /// Ends everything at once by SIGKILL, whatever time the command was given: for a process that ends itself. What comes of
  /// it then is nobody's business; ``turn(at:)`` still says when nothing is left.
  public func end(at now: MonotonicTime) {
    isGivenUp = true
    switch phase {
    case .running:
      if interruption == nil, root.reap() == nil { interruption = .cancel }
      tree.end(grace: .zero, at: now)
    case .lingering: phase = .lingering(until: now)
    case .clearing, .over: break
    }
  }

  /// Collects descendants that have ended in the background. See ``ProcessTree/collect()``
  public func collect() { tree.collect() }

  /// Does what is due. To be called after each turn of the loop.
  ///
  /// - Returns: the outcome, once nothing of the command is left.
  public func turn(at now: MonotonicTime) -> CommandOutcome? {
    if case .running = phase, let timeoutAt, timeoutAt <= now { interrupt(.timeout, at: now) }
    if case .running(let attendAt?) = phase, attendAt <= now, !root.isReaped { attend(at: now) }
    tree.turn(at: now)
    // One that waits for a dead disk is given up; nobody will know how it ends.
    if case .running = phase, root.isReaped || tree.isGone {
      endedAt = now
      feed?.close()
      output.readWhatIsThere()
      errors.readWhatIsThere()
      // Where it was ended, the rest of the tree is being ended, too, and may say why it goes.
      phase = interruption == nil ? .lingering(until: lingerEnd(at: now)) : .clearing
    }
    if case .lingering(let until) = phase, until <= now || output.isAtEnd && errors.isAtEnd {
      if !Kernel.makes("leavesTheTreeOfTheEnded") { tree.end(grace: .zero, at: now) }
      phase = .clearing
    }
    if case .clearing = phase, tree.isGone || Kernel.makes("leavesTheTreeOfTheEnded") {
      phase = .over(outcome())
    }
    if case .over(let outcome) = phase { return outcome }
    return nil
  }

  /// Until when others may go on writing to its output. Where the loop cannot take it out nobody is waited for.
  private func lingerEnd(at now: MonotonicTime) -> MonotonicTime {
    do throws(SystemError) { try attend() } catch { return now }
    return now + linger
  }

  private func attend(at now: MonotonicTime) {
    do throws(SystemError) {
      try attend()
      phase = .running(attendAt: nil)
    } catch {
      // No memory in the kernel: it comes back, and until then whoever says much waits.
      phase = .running(attendAt: now + Self.pause)
    }
  }

  private func attend() throws(SystemError) {
    try output.attend()
    try errors.attend()
  }

  private func interrupt(_ reason: CommandOutcome.Interruption, at now: MonotonicTime) {
    // One that has ended before anybody noticed has ended by itself.
    guard case .running = phase, interruption == nil, root.reap() == nil else { return }
    interruption = reason
    tree.end(grace: grace, at: now)
  }

  private func outcome() -> CommandOutcome {
    output.finish()
    errors.finish()
    return CommandOutcome(
      ending: root.exitStatus?.ending ?? .unseen, duration: endedAt.since(startedAt),
      interruption: interruption,
      output: output.captured, errors: errors.captured, leftBehind: tree.remaining)
  }

  /// What the failure of a start says of the command; nil where it says something of this machine at this moment.
  private static func refusal(of program: ChildProcess.Program, _ error: SystemError) -> CommandRefusal? {
    let passing = [EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY, EINTR, EIO]
    guard !passing.contains(error.code) else { return nil }
    switch (error.call, error.code) {
    case ("chdir", _): return .directoryUnusable(error.subject, reason: error.reason)
    case ("execve", E2BIG): return .argumentTooLong(bytes: program.words.map(\.count).max() ?? 0)
    case ("execve", ENOENT):
      let path = Paths.join(program.directory ?? "", program.path)
      guard let facts = try? FileFacts.inspect(path), facts.isFile else {
        return .programMissing(path, searched: nil)
      }
      let fault = FirstLine.fault(
        of: path, search: program.environment["PATH"], directory: program.directory)
      return .notExecutable(path, reason: fault ?? "the interpreter that it names is missing")
    case ("execve", ENOEXEC):
      return .notExecutable(program.path, reason: "no program, and no first line that names one")
    case ("execve", _): return .notExecutable(program.path, reason: error.reason)
    default: return nil
    }
  }
}
