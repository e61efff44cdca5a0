// One command from its start until none of its processes is left: the process and all its descendants, its
// payload, its output, its timeout.
// Invariant: the outcome is available only after the command and all processes that it left behind have
// exited, or could not be ended within a time limit. A process that keeps its pipes open or ignores its
// signals delays the outcome by a bounded time. Errors: a command that cannot start is a refusal; a
// SystemError is a shortage that may be temporary.
import Glibc
import Posix
import Time

/// A command that was started for one customer.
///
/// Not Sendable: it belongs to the loop on which it waits. The caller runs the loop and calls ``runIteration(at:)``
/// after each iteration, and at ``deadline`` at the latest. If the object is released while the command runs,
/// the command, its process group and its control group are killed.
public final class RunningCommand {
  /// Stage of a command from its start to its outcome.
  private enum Phase {
    /// The command runs. Its output stays in the pipes until `readAt`, which is nil once the loop reads the
    /// output.
    case running(readAt: MonotonicTime?)
    /// The command has exited, but its descendants may still write to its output.
    case lingering(until: MonotonicTime)
    /// The command has exited, and the processes that it left behind are being ended.
    case endingDescendants
    /// No process is left, or only processes that could not be ended.
    case over(CommandOutcome)
  }

  private let root: ChildProcess
  private let group: ControlGroup?
  private let tree: ProcessTree
  /// Nil for a command without a payload.
  private let feed: PayloadWriter?
  private let output: OutputCapture
  private let errors: OutputCapture
  private let startedAt: MonotonicTime
  /// Time at which the timeout expires; nil for none.
  private let timeoutAt: MonotonicTime?
  private let grace: TimeSpan
  private let linger: TimeSpan
  /// Time of the command's own exit; the time of the start until then.
  private var endedAt: MonotonicTime
  /// Reason for which the command is being ended; nil if it is not.
  private var interruption: CommandOutcome.Interruption?
  /// True after ``end(at:)``.
  private var isAborted = false
  private var phase = Phase.running(readAt: nil)

  private static let pause = TimeSpan.milliseconds(10)

  /// Starts a command. Returns a refusal if the command itself cannot start; throws for a temporary shortage.
  ///
  /// - Parameters:
  ///   - now: time of the start. The duration and the timeout are measured from it.
  ///   - readDelay: time during which the loop does not read the output. This saves work if the command exits
  ///     meanwhile. A command that writes more than the pipes hold blocks.
  ///   - adopts: returns true for a child that this process has not started itself and that belongs to the command. A
  ///     caller that adopts orphans calls `Subreaper.become()` first; any other returns false.
  /// - Throws: temporary shortages of processes, descriptors or memory, ETXTBSY if another process is writing the
  ///   program file, and other errors that the command did not cause, such as those of its control group. The command
  ///   has not started then.
  public static func start(
    _ order: CommandInvocation, on loop: EventLoop, at now: MonotonicTime, readDelay: TimeSpan = .zero,
    adopts: @escaping (pid_t) -> Bool
  ) throws(SystemError) -> Result<RunningCommand, CommandStartError> {
    var feed: PayloadWriter?
    let input = try standardInput(order.payload, from: &feed, on: loop)
    let outputPipe = try DescriptorPair.pipe()
    let errorPipe = try DescriptorPair.pipe()
    // The pipes are prepared before the start, because a start cannot be undone.
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
        order, root, feed, output: output, errors: errors, on: loop, at: now, readDelay: readDelay,
        adopts: adopts))
  }

  /// Returns the reading end of a pipe into which the payload is written. Without a payload it is the null device,
  /// which costs less.
  private static func standardInput(
    _ payload: [UInt8], from feed: inout PayloadWriter?, on loop: EventLoop
  ) throws(SystemError) -> FileDescriptor {
    guard !payload.isEmpty else { return try FileDescriptor.open("/dev/null", .readOnly) }
    let pipe = try DescriptorPair.pipe()
    feed = try PayloadWriter(payload, into: pipe.second, on: loop)
    return pipe.first
  }

  private init(
    _ order: CommandInvocation, _ root: ChildProcess, _ feed: PayloadWriter?, output: OutputCapture,
    errors: OutputCapture, on loop: EventLoop, at now: MonotonicTime, readDelay: TimeSpan,
    adopts: @escaping (pid_t) -> Bool
  ) {
    (self.root, self.feed, group) = (root, feed, order.program.group)
    (startedAt, endedAt, timeoutAt) = (now, now, order.timeout.map { now + $0 })
    (grace, linger) = (order.grace, order.linger)
    tree = ProcessTree(root: root, in: order.program.group, on: loop, adopts: adopts)
    (self.output, self.errors) = (output, errors)
    if readDelay > .zero { phase = .running(readAt: now + readDelay) } else { startReading(at: now) }
  }

  deinit {
    guard root.reap() == nil else { return }
    group?.kill()
    root.killGroup(SIGKILL)
    // `end()` kills the command and waits for its exit, because no later code reaps it. If this process is about to
    // exit, the command is only killed, and its new parent reaps it.
    if isAborted { root.kill(SIGKILL) } else { root.end() }
  }

  /// Process id of the command; also the id of its session and its process group.
  public var pid: pid_t { root.pid }

  /// True if the control group was killed with the command, so that no other command may start in that group.
  public var hasEndedGroup: Bool { tree.hasEndedGroup }

  /// Standard output and standard error captured so far.
  public var capturedOutput: (output: CapturedOutput, errors: CapturedOutput) {
    (output.captured, errors.captured)
  }

  /// Latest time for the next ``runIteration(at:)``; nil if no call is due before the next event.
  public var deadline: MonotonicTime? {
    switch phase {
    case .running(let readAt):
      .earliest(readAt, interruption == nil ? timeoutAt : nil, tree.deadline)
    case .endingDescendants: tree.deadline
    case .lingering(let until): until
    case .over: nil
    }
  }

  /// True while the loop does not read the output of the command, which stays in the pipes.
  public var isReadingDelayed: Bool { if case .running(readAt: _?) = phase { true } else { false } }

  /// Ends the command with all its descendants: see ``ProcessTree/end(grace:at:)``. Does nothing if the
  /// command has exited already, or is being ended.
  public func cancel(at now: MonotonicTime) { interrupt(.cancel, at: now) }

  /// Kills the command and its descendants, whatever the command's grace is, because this process exits.
  /// ``runIteration(at:)`` still reports when no process is left.
  public func end(at now: MonotonicTime) {
    isAborted = true
    switch phase {
    case .running:
      if interruption == nil, root.reap() == nil { interruption = .cancel }
      tree.end(grace: .zero, at: now)
    case .lingering: phase = .lingering(until: now)
    // After a timeout or a cancellation the descendants may still have time to exit.
    case .endingDescendants: tree.end(grace: .zero, at: now)
    case .over: break
    }
  }

  /// Reaps background descendants that have exited. See ``ProcessTree/reapDescendants()``
  public func reapDescendants() { tree.reapDescendants() }

  /// Does the work that is due after an iteration of the loop. Returns the outcome once no process of the command is
  /// left, or only processes that could not be ended; nil before.
  public func runIteration(at now: MonotonicTime) -> CommandOutcome? {
    if case .running = phase, let timeoutAt, timeoutAt <= now { interrupt(.timeout, at: now) }
    if case .running(let readAt?) = phase, readAt <= now, !root.isReaped { startReading(at: now) }
    tree.runIteration(at: now)
    // A command that waits for a disk that does not respond is given up. Its exit status stays unknown.
    if case .running = phase, root.isReaped || tree.isGone {
      endedAt = now
      feed?.close()
      output.readAvailable()
      errors.readAvailable()
      // If the runner ended the command, the rest of its tree is being ended, too, and may still write error
      // messages.
      phase = interruption == nil ? .lingering(until: lingerEnd(at: now)) : .endingDescendants
    }
    if case .lingering(let until) = phase, until <= now || output.isAtEnd && errors.isAtEnd {
      if !Mutant.leavesDescendantsOfCommand.isActive { tree.end(grace: .zero, at: now) }
      phase = .endingDescendants
    }
    if case .endingDescendants = phase, tree.isGone || Mutant.leavesDescendantsOfCommand.isActive {
      phase = .over(outcome())
    }
    if case .over(let outcome) = phase { return outcome }
    return nil
  }

  /// End of the time in which descendants of the exited command may still write: now, if the loop cannot read the
  /// output.
  private func lingerEnd(at now: MonotonicTime) -> MonotonicTime {
    do throws(SystemError) { try startReading() } catch { return now }
    return now + linger
  }

  /// Makes the loop read the output, or schedules another attempt if the kernel is out of memory.
  private func startReading(at now: MonotonicTime) {
    do throws(SystemError) {
      try startReading()
      phase = .running(readAt: nil)
    } catch {
      // Until the retry a command with much output blocks.
      phase = .running(readAt: now + Self.pause)
    }
  }

  private func startReading() throws(SystemError) {
    try output.startReading()
    try errors.startReading()
  }

  /// Ends the running command for this reason; does nothing if it has exited or is being ended.
  private func interrupt(_ reason: CommandOutcome.Interruption, at now: MonotonicTime) {
    // If the command exited before the interruption was handled, the command counts as exited by itself.
    guard case .running = phase, interruption == nil, root.reap() == nil else { return }
    interruption = reason
    tree.end(grace: grace, at: now)
  }

  /// Reads the last output, and returns the outcome.
  private func outcome() -> CommandOutcome {
    output.finish()
    errors.finish()
    return CommandOutcome(
      ending: root.exitStatus?.ending ?? .unknown, duration: endedAt.since(startedAt),
      interruption: interruption,
      output: output.captured, errors: errors.captured, leftBehind: tree.remaining)
  }

  /// Refusal for a start that failed because of the command; nil for any other cause, such as a temporary
  /// state of the machine.
  private static func refusal(of program: ChildProcess.Program, _ error: SystemError) -> CommandStartError? {
    let transientErrors = [EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY, EINTR, EIO]
    guard !transientErrors.contains(error.code) else { return nil }
    switch (error.call, error.code) {
    case ("chdir", _): return .directoryUnusable(error.subject, reason: error.reason)
    case ("execve", E2BIG): return .argumentTooLong(bytes: program.words.map(\.count).max() ?? 0)
    case ("execve", ENOENT):
      let path = Paths.join(program.directory ?? "", program.path)
      guard let facts = try? FileMetadata.inspect(path), facts.isFile else {
        return .programMissing(path, searched: nil)
      }
      let fault = ShebangLine.fault(
        of: path, search: program.environment["PATH"], directory: program.directory)
      return .notExecutable(path, reason: fault ?? "its interpreter is missing")
    case ("execve", ENOEXEC):
      return .notExecutable(program.path, reason: "it is not a program, and its first line does not name one")
    case ("execve", _): return .notExecutable(program.path, reason: error.reason)
    default: return nil
    }
  }
}
