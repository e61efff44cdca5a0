// Life cycle of a supervised process: its start with a channel on descriptor 3, its exit and its successor.
// Invariant: the exit of a process is reported once, after it was reaped and its channel closed, and before its
// successor starts.

import BankModel
import Glibc
import Logging
import Posix
import Supervision
import Time
import Transport
import Wire

/// Limits of the channels and timeouts of supervised processes of one kind.
struct ProcessLimits {
  var frame = FrameLimits.teller
  var unread: Int
  /// Time for which the channel of an exited process may stay open, to read the remaining messages.
  var drain = TimeSpan.milliseconds(100)
  /// Time between SIGABRT and SIGKILL for a process that is being killed.
  var abort = TimeSpan.milliseconds(200)
}

/// Starts a worker inside the coordinator's own process (simulation), instead of a program with these arguments, and
/// returns the coordinator's end of its channel.
package typealias InProcessWorkerFactory =
  (_ program: String, _ arguments: [String]) throws(SystemError) -> FileDescriptor

protocol ProcessSupervisor: AnyObject {
  associatedtype Incoming: FrameMessage
  associatedtype Outgoing: FrameMessage
  associatedtype Slot: SupervisedProcess<Incoming, Outgoing>

  static var limits: ProcessLimits { get }
  var loop: EventLoop { get }
  var log: LogFile { get }
  var environment: EnvironmentVariables { get }
  /// Function that starts workers without processes; nil if each worker has a process.
  var inProcessWorkers: InProcessWorkerFactory? { get }

  /// Log field that identifies a slot.
  func name(of slot: Slot) -> (key: StaticString, value: String)
  /// Program of this build that runs at the slot, and its arguments.
  func command(for slot: Slot) -> (program: String, arguments: [String])
  /// Foreign program, which does not belong to this build, to start instead of ``command(for:)``; nil for a
  /// program of this build.
  func foreignProgram(for slot: Slot) throws(SystemError) -> ChildProcess.Program?
  /// Descriptor for the output that a foreign program writes outside its channel.
  func workerOutput(of slot: Slot) throws(SystemError) -> FileDescriptor
  /// Generation of the next process at the slot.
  func nextGeneration(at slot: Slot) -> Generation
  /// Longest line of a process that may send lines; nil for a process that sends frames.
  func lineLimit(for slot: Slot) -> Int?
  /// True if a process may start at this slot now. If not, the supervisor sets the time of the next check.
  func mayStart(_ slot: Slot, at now: Moment) -> Bool
  /// Called after a process was started, to set its deadlines.
  func began(_ slot: Slot, at now: Moment)
  func handle(_ message: Incoming, from slot: Slot)
  /// Called when a running process has closed or broken its channel.
  func channelEnded(_ slot: Slot, _ end: CloseReason)
  /// True if no child process of an exited process remains. Checked again until it is true.
  func hasNoOrphans(_ slot: Slot, at now: Moment) -> Bool
  /// Called after a process has exited, before its successor starts.
  func ended(_ slot: Slot, _ status: ExitStatus)
  /// Decides what happens to a slot whose process has exited or could not start.
  func decide(_ slot: Slot, at now: Moment, couldNotStart: Bool)
  /// Called when a slot was given up; see ``giveUp(_:at:)``.
  func gaveUp(_ slot: Slot)
}

extension ProcessSupervisor {
  /// Default: no child process remains.
  func hasNoOrphans(_ slot: Slot, at now: Moment) -> Bool { true }
  /// Default: a program of this build.
  func foreignProgram(for slot: Slot) throws(SystemError) -> ChildProcess.Program? { nil }
  /// Default: `/dev/null`, so the output is discarded.
  func workerOutput(of slot: Slot) throws(SystemError) -> FileDescriptor {
    try FileDescriptor.open("/dev/null", .writeOnly)
  }
  /// Default: a process may start.
  func mayStart(_ slot: Slot, at now: Moment) -> Bool { true }
  /// Default: the process sends binary frames.
  func lineLimit(for slot: Slot) -> Int? { nil }

  /// Starts the next process at a slot, if the slot permits a start now.
  func start(_ slot: Slot, at now: Moment) {
    guard mayStart(slot, at: now) else { return }
    let isRestart = slot.startedAt != nil
    slot.generation = nextGeneration(at: slot)
    slot.startedAt = now.monotonic
    do throws(SystemError) {
      let command = command(for: slot)
      if let inProcessWorkers {
        try watch(nil, inProcessWorkers(command.program, command.arguments), at: slot)
      } else if let foreign = try foreignProgram(for: slot) {
        try ChildProcess.start(foreign, output: workerOutput(of: slot)) {
          child, channel throws(SystemError) in try watch(child, channel, at: slot)
        }
      } else {
        try ChildProcess.spawn(
          executable: command.program, arguments: command.arguments, environment: environment
        ) { child, channel throws(SystemError) in try watch(child, channel, at: slot) }
      }
    } catch {
      slot.lastExitReason = MessageDetail(quoting: error.description)
      write("spawn_failed", .error, about: slot, at: now) { $0.field("msg", error.description) }
      return decide(slot, at: now, couldNotStart: true)
    }
    slot.phase = .starting
    if isRestart {
      slot.restarts += 1
      write("restarted", about: slot, at: now) {
        $0.field("child", slot.pid)
        $0.field("child_gen", slot.generation)
      }
    }
    began(slot, at: now)
  }

  /// Registers a started process and its channel at the slot, and watches it for messages and its exit. On an error the
  /// slot is unchanged.
  private func watch(
    _ child: ChildProcess?, _ descriptor: consuming FileDescriptor, at slot: Slot
  ) throws(SystemError) {
    let limits = Self.limits
    let channel = try MessageChannel<Incoming, Outgoing>(
      descriptor: descriptor, loop: loop, incomingLimit: limits.frame, backlogLimit: limits.unread,
      lineLimit: lineLimit(for: slot))
    let generation = slot.generation
    // The closures retain the slot until its channel and child have ended. A weak reference would make all other
    // references to the object slower.
    channel.onMessage = { [unowned self] message in
      if slot.generation == generation { handle(message, from: slot) }
    }
    channel.onEnd = { [unowned self] end in
      guard slot.generation == generation else { return }
      slot.channel = nil
      if slot.exitStatus != nil { settleExit(of: slot) } else { channelEnded(slot, end) }
    }
    if let child {
      slot.childRegistration = try loop.register(fd: child.fd, interest: .read) { [unowned self] _ in
        if slot.generation == generation { processEnded(slot) }
      }
    }
    slot.child = child
    if let child { slot.lastPid = child.pid }
    slot.channel = channel
  }

  /// Reason for refusing a hello of an unexpected process; nil if the process is the expected one.
  func objection(to hello: Hello, as role: PeerRole) -> Refusal.Reason? {
    hello.version != protocolVersion
      ? .version : hello.build != BuildIdentity.current ? .build : hello.role != role ? .hello : nil
  }

  /// Sends a message to the present process at once.
  func send(_ message: Outgoing, to slot: Slot) {
    slot.channel?.send(message)
    slot.channel?.flush()
  }

  /// Sends a refusal to a process, and then closes its channel.
  func refuse(_ slot: Slot, _ refused: Outgoing) {
    slot.channel?.send(refused)
    slot.channel?.closeAfterFlush()
  }

  // MARK: - Process exit

  /// Reaps an exited process. Its last messages may still be unread: the exit is reported after the channel has
  /// ended, too.
  private func processEnded(_ slot: Slot) {
    guard let child = slot.child, let status = child.reap() else { return }
    if let registration = slot.childRegistration { loop.deregister(registration) }
    slot.childRegistration = nil
    slot.exitStatus = status
    slot.clearDeadlines()
    if slot.channel == nil {
      settleExit(of: slot)
    } else {
      slot.drainDeadline = loop.moment().listeningTime + Self.limits.drain
    }
  }

  /// Closes the channel of a reaped process. If no child processes of the process remain, reports its exit and decides
  /// on a successor; see ``hasNoOrphans(_:at:)``.
  func settleExit(of slot: Slot) {
    guard let child = slot.child, let status = slot.exitStatus else { return }
    let now = loop.moment()
    slot.channel?.onEnd = nil
    slot.channel?.close()
    (slot.channel, slot.drainDeadline) = (nil, nil)
    guard hasNoOrphans(slot, at: now) else { return }
    (slot.channel, slot.child, slot.exitStatus, slot.drainDeadline) = (nil, nil, nil, nil)
    // A request to exit may have set this deadline after the exit; it does not apply to the successor.
    if !Mutant.killsTheSuccessor.isActive { slot.killAt = nil }
    slot.phase = .empty
    report(status, of: child.pid, at: slot, now)
    ended(slot, status)
    decide(slot, at: now, couldNotStart: false)
  }

  private func report(_ status: ExitStatus, of pid: Int32, at slot: Slot, _ now: Moment) {
    write("exit", status.isSuccess ? .info : .warn, about: slot, at: now) {
      $0.field("child", pid)
      $0.field("child_gen", slot.generation)
      switch status.ending {
      case .code(let code): $0.field("code", code)
      case .signal(let signal, _): $0.field("signal", signal)
      case .unknown: $0.field("end", status.description)
      }
      if let startedAt = slot.startedAt { $0.field("uptime_ms", now.monotonic.since(startedAt).milliseconds) }
      $0.field("max_rss_kb", status.maxResidentBytes / 1024)
    }
  }

  /// Starts a successor, at once or after a pause, unless there were too many exits in a row.
  /// - Parameter shouldGiveUp: True to give up instead of a pause; evaluated after the exit was counted.
  func startSuccessor(_ slot: Slot, at now: Moment, shouldGiveUp: @autoclosure () -> Bool = false) {
    switch slot.history.died(at: now.monotonic) {
    case .atOnce: start(slot, at: now)
    case .after(let pause) where !shouldGiveUp():
      if !Mutant.forgetsDelayedRestart.isActive { slot.restartAt = now.monotonic + pause }
      write("backoff", .warn, about: slot, at: now) {
        $0.field("deaths", slot.history.consecutiveDeaths)
        $0.field("pause_ms", pause.milliseconds)
        $0.field("msg", slot.lastExitReason?.description ?? "")
      }
    case .after, .giveUp: giveUp(slot, at: now)
    }
  }

  /// Gives up a slot: no process is started at this slot automatically any more.
  func giveUp(_ slot: Slot, at now: Moment) {
    slot.isGivenUp = true
    write("restarts_stopped", .error, about: slot, at: now) {
      $0.field("deaths", slot.history.consecutiveDeaths)
      $0.field("msg", slot.lastExitReason?.description ?? "")
    }
    gaveUp(slot)
  }

  /// Kills a process: SIGABRT first, so that a core dump shows the cause, and SIGKILL soon after.
  func abort(_ slot: Slot, at now: Moment) {
    slot.phase = .leaving
    slot.child?.kill(SIGABRT)
    // A stopped process dies only when it is continued.
    slot.child?.kill(SIGCONT)
    slot.killAt = now.listeningTime + Self.limits.abort
  }

  // MARK: - Deadlines

  /// Earliest deadline of these slots on the monotonic clock.
  func nextDeadline(of slots: some Collection<Slot>) -> MonotonicTime? {
    slots.reduce(nil) { .earlier($0, $1.nextDeadline) }
  }

  /// Next timeout of a process that has not sent or done what was expected, in listening time (see
  /// `ListeningClock`).
  func nextSilenceTimeout(of slots: some Collection<Slot>) -> MonotonicTime? {
    slots.reduce(nil) { .earlier($0, $1.nextJudgement) }
  }

  /// Starts the successor at a slot if its pause is over.
  func restartIfDue(_ slot: Slot, at now: Moment) {
    guard let due = slot.restartAt, due <= now.monotonic else { return }
    slot.restartAt = nil
    start(slot, at: now)
  }

  /// Kills a process that was to exit by a time before `heard`, and stops reading from a process that exited long ago.
  /// - Parameter heard: Time up to which all received messages were handled.
  func enforceDeadlines(_ slot: Slot, heard: MonotonicTime) {
    if let due = slot.killAt, due <= heard {
      slot.killAt = nil
      slot.child?.kill(SIGKILL)
    }
    if let due = slot.drainDeadline, due <= heard { settleExit(of: slot) }
  }

  // MARK: - Log

  func write(
    _ event: StaticString, _ level: LogLevel = .info, about slot: Slot, at now: Moment = SystemClock.moment(),
    _ fields: (inout LogFields) -> Void = { _ in }
  ) {
    let name = name(of: slot)
    log.write(event: event, level: level, at: now) {
      $0.field(name.key, name.value)
      fields(&$0)
    }
  }
}

enum ProcessPhase: Equatable {
  case empty
  /// Started; no hello received.
  case starting
  /// Hello received, but not ready.
  case welcomed
  case ready
  /// Asked to exit, being killed, or without a channel.
  case leaving
}

/// Slot for a process, and the process running in it: its channel on descriptor 3 and its earlier exits.
/// Invariant: `channel` and `child` are of the same generation.
package class SupervisedProcess<Incoming: FrameMessage, Outgoing: FrameMessage> {
  typealias Channel = MessageChannel<Incoming, Outgoing>

  final var phase = ProcessPhase.empty
  package final var generation: Generation = 0
  final var child: ChildProcess?
  /// Process id of the last process started at this slot, even if it has exited; 0 for none.
  final var lastPid: Int32 = 0
  final var childRegistration: Registration?
  final var channel: Channel?
  /// False after the slot was closed: no successor starts.
  final var isWanted = true
  /// Start time of the successor; nil while a process runs or none is to start.
  final var restartAt: MonotonicTime?
  /// Time by which the process must be ready. This deadline and the next two are in listening time; see
  /// `ListeningClock`.
  final var readyDeadline: MonotonicTime?
  /// Time at which a process that was to exit is killed.
  final var killAt: MonotonicTime?
  /// Time at which the channel of an exited process is closed.
  final var drainDeadline: MonotonicTime?
  /// Exit status of a reaped process, until its exit is reported.
  final var exitStatus: ExitStatus?
  final var startedAt: MonotonicTime?
  final var history: RestartHistory
  /// Number of processes started at this slot after the first one.
  final var restarts: Int64 = 0
  /// True if no successor starts automatically, for example after too many exits.
  final var isGivenUp = false
  /// Reason of the last exit at this slot, or reason why no process could start.
  final var lastExitReason: MessageDetail?

  init(history: RestartHistory) { self.history = history }

  /// Process id of the running process; 0 if there is none.
  final var pid: Int32 { child.map { $0.isReaped ? 0 : $0.pid } ?? 0 }
  /// Next deadline on the monotonic clock.
  var nextDeadline: MonotonicTime? { restartAt }
  /// Next timeout, in listening time; see `ListeningClock`.
  var nextJudgement: MonotonicTime? { .earlier(readyDeadline, .earlier(killAt, drainDeadline)) }
  /// Removes the deadlines of a process that has exited.
  func clearDeadlines() { (readyDeadline, killAt) = (nil, nil) }
}
