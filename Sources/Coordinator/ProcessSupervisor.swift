// Life cycle of a supervised process: its start with a channel on descriptor 3, its exit and its successor. Exits are
// detected by a pidfd. Each supervisor handles the messages of its processes itself.
// Invariant: the exit of a process is reported exactly once, after it was reaped and its channel closed, and before its
// successor starts.

import BankModel
import Glibc
import Logbook
import Posix
import Supervision
import Time
import Transport
import Wire

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
package typealias ResidentWorkers =
  (_ program: String, _ arguments: [String]) throws(SystemError) -> FileDescriptor

/// Supervisor of processes of one kind.
protocol ProcessSupervisor: AnyObject {
  associatedtype Incoming: FrameMessage
  associatedtype Outgoing: FrameMessage
  associatedtype Post: SupervisedProcess<Incoming, Outgoing>

  static var limits: ProcessLimits { get }
  var loop: EventLoop { get }
  var log: LogFile { get }
  var environment: Variables { get }
  /// Function that starts workers without processes; nil if each worker has a process.
  var residents: ResidentWorkers? { get }

  /// Log field that identifies a post.
  func name(of post: Post) -> (key: StaticString, value: String)
  func command(for post: Post) -> (program: String, arguments: [String])
  /// Foreign program, which does not belong to this build, to start instead of ``command(for:)``; nil for a
  /// program of this build.
  func foreignProgram(for post: Post) throws(SystemError) -> ChildProcess.Program?
  /// Descriptor for the output that a foreign program writes outside its channel.
  func speech(of post: Post) throws(SystemError) -> FileDescriptor
  func nextGeneration(at post: Post) -> Generation
  /// Longest line of a process that may send lines; nil for a process that sends frames.
  func lineLimit(for post: Post) -> Int?
  /// True if a process may start at this post now. If not, the supervisor sets the time of the next check.
  func mayStart(_ post: Post, at now: Moment) -> Bool
  /// Called after a process was started, to set its deadlines.
  func began(_ post: Post, at now: Moment)
  func hear(_ message: Incoming, from post: Post)
  /// Called when a running process has closed or broken its channel.
  func channelEnded(_ post: Post, _ end: ChannelEnd)
  /// True if no child process of an exited process remains. Checked again until it is true.
  func isCleared(_ post: Post, at now: Moment) -> Bool
  /// Called after a process has exited, before its successor starts.
  func ended(_ post: Post, _ status: ExitStatus)
  /// Decides what happens to a post whose process has exited or could not start. Implementations call
  /// ``succeed(_:at:isHopeless:)``, unless a rule of their own applies.
  func decide(_ post: Post, at now: Moment, couldNotStart: Bool)
  /// Called when a post was given up; see ``giveUp(_:at:)``.
  func gaveUp(_ post: Post)
}

extension ProcessSupervisor {
  /// Default for processes that start no children that could outlive them.
  func isCleared(_ post: Post, at now: Moment) -> Bool { true }
  func foreignProgram(for post: Post) throws(SystemError) -> ChildProcess.Program? { nil }
  func speech(of post: Post) throws(SystemError) -> FileDescriptor {
    try FileDescriptor.open("/dev/null", .writeOnly)
  }
  func mayStart(_ post: Post, at now: Moment) -> Bool { true }
  func lineLimit(for post: Post) -> Int? { nil }

  func start(_ post: Post, at now: Moment) {
    guard mayStart(post, at: now) else { return }
    let isRestart = post.startedAt != nil
    post.generation = nextGeneration(at: post)
    post.startedAt = now.monotonic
    do throws(SystemError) {
      let command = command(for: post)
      if let residents {
        try watch(nil, residents(command.program, command.arguments), at: post)
      } else if let foreign = try foreignProgram(for: post) {
        try ChildProcess.start(foreign, said: speech(of: post)) {
          child, channel throws(SystemError) in try watch(child, channel, at: post)
        }
      } else {
        try ChildProcess.spawn(
          executable: command.program, arguments: command.arguments, environment: environment
        ) { child, channel throws(SystemError) in try watch(child, channel, at: post) }
      }
    } catch {
      post.lastEnd = Remark(quoting: error.description)
      write("spawn_failed", .error, about: post, at: now) { $0.field("msg", error.description) }
      return decide(post, at: now, couldNotStart: true)
    }
    post.phase = .starting
    if isRestart {
      post.restarts += 1
      write("restarted", about: post, at: now) {
        $0.field("child", post.pid)
        $0.field("child_gen", post.generation)
      }
    }
    began(post, at: now)
  }

  /// Registers a started process. On an error the post is unchanged.
  private func watch(
    _ child: ChildProcess?, _ descriptor: consuming FileDescriptor, at post: Post
  ) throws(SystemError) {
    let limits = Self.limits
    let channel = try MessageChannel<Incoming, Outgoing>(
      descriptor: descriptor, loop: loop, incomingLimit: limits.frame, backlogLimit: limits.unread,
      lineLimit: lineLimit(for: post))
    let generation = post.generation
    // The closures retain the post until its channel and child have ended, which always happens. A weak
    // reference would permanently make all other references to the object slower: 8 % of the coordinator's CPU
    // time (measured with perf).
    channel.onMessage = { [unowned self] message in
      if post.generation == generation { hear(message, from: post) }
    }
    channel.onEnd = { [unowned self] end in
      guard post.generation == generation else { return }
      post.channel = nil
      if post.exitStatus != nil { settleEnd(of: post) } else { channelEnded(post, end) }
    }
    if let child {
      post.childRegistration = try loop.register(fd: child.fd, interest: .read) { [unowned self] _ in
        if post.generation == generation { processEnded(post) }
      }
    }
    post.child = child
    if let child { post.lastPid = child.pid }
    post.channel = channel
  }

  /// Reason for refusing a hello of an unexpected process; nil if the process is the expected one.
  func objection(to hello: Hello, as role: PeerRole) -> Refusal.Reason? {
    hello.version != protocolVersion
      ? .version : hello.build != BuildIdentity.current ? .build : hello.role != role ? .hello : nil
  }

  func say(_ message: Outgoing, to post: Post) {
    post.channel?.send(message)
    post.channel?.flush()
  }

  func refuse(_ post: Post, _ refused: Outgoing) {
    post.channel?.send(refused)
    post.channel?.closeAfterFlush()
  }

  // MARK: - Process exit

  /// Reaps an exited process. Its last messages may still be unread: the exit is reported after the channel has
  /// ended, too.
  private func processEnded(_ post: Post) {
    guard let child = post.child, let status = child.reap() else { return }
    if let registration = post.childRegistration { loop.deregister(registration) }
    post.childRegistration = nil
    post.exitStatus = status
    post.expectNothing()
    if post.channel == nil {
      settleEnd(of: post)
    } else {
      post.drainBy = loop.moment().attended + Self.limits.drain
    }
  }

  /// Closes the channel of a reaped process. If no child processes of the process remain, reports its exit and decides
  /// on a successor; see ``isCleared(_:at:)``.
  func settleEnd(of post: Post) {
    guard let child = post.child, let status = post.exitStatus else { return }
    let now = loop.moment()
    post.channel?.onEnd = nil
    post.channel?.close()
    (post.channel, post.drainBy) = (nil, nil)
    guard isCleared(post, at: now) else { return }
    (post.channel, post.child, post.exitStatus, post.drainBy) = (nil, nil, nil, nil)
    // A request to exit may have set this deadline after the exit; it does not apply to the successor.
    if !Kernel.makes("killsTheSuccessor") { post.killAt = nil }
    post.phase = .empty
    report(status, of: child.pid, at: post, now)
    ended(post, status)
    decide(post, at: now, couldNotStart: false)
  }

  private func report(_ status: ExitStatus, of pid: Int32, at post: Post, _ now: Moment) {
    write("exit", status.isSuccess ? .info : .warn, about: post, at: now) {
      $0.field("child", pid)
      $0.field("child_gen", post.generation)
      switch status.ending {
      case .code(let code): $0.field("code", code)
      case .signal(let signal, _): $0.field("signal", signal)
      case .unseen: $0.field("end", status.description)
      }
      if let startedAt = post.startedAt { $0.field("uptime_ms", now.monotonic.since(startedAt).milliseconds) }
      $0.field("max_rss_kb", status.maxResidentBytes / 1024)
    }
  }

  /// Starts a successor, at once or after a pause, unless there were too many exits in a row.
  /// - Parameter isHopeless: True to give up instead of a pause; evaluated after the exit was counted.
  func succeed(_ post: Post, at now: Moment, isHopeless: @autoclosure () -> Bool = false) {
    switch post.history.died(at: now.monotonic) {
    case .atOnce: start(post, at: now)
    case .after(let pause) where !isHopeless():
      if !Kernel.makes("forgetsTheSuccessor") { post.restartAt = now.monotonic + pause }
      write("backoff", .warn, about: post, at: now) {
        $0.field("deaths", post.history.deathsInARow)
        $0.field("pause_ms", pause.milliseconds)
        $0.field("msg", post.lastEnd?.description ?? "")
      }
    case .after, .giveUp: giveUp(post, at: now)
    }
  }

  /// Gives up a post: no process is started at this post automatically any more.
  func giveUp(_ post: Post, at now: Moment) {
    post.isGivenUp = true
    write("restarts_stopped", .error, about: post, at: now) {
      $0.field("deaths", post.history.deathsInARow)
      $0.field("msg", post.lastEnd?.description ?? "")
    }
    gaveUp(post)
  }

  /// Kills a process: SIGABRT first, so that a core dump shows the cause, and SIGKILL soon after.
  func abort(_ post: Post, at now: Moment) {
    post.phase = .leaving
    post.child?.kill(SIGABRT)
    // A stopped process dies only when it is continued.
    post.child?.kill(SIGCONT)
    if !Kernel.makes("abortsOnly") { post.killAt = now.attended + Self.limits.abort }
  }

  // MARK: - Deadlines

  func nextDeadline(of posts: some Collection<Post>) -> MonotonicTime? {
    posts.reduce(nil) { .earlier($0, $1.nextDeadline) }
  }

  /// Next timeout of a process that has not sent or done what was expected, in attended time (see
  /// `AttendedTime`).
  func nextJudgement(of posts: some Collection<Post>) -> MonotonicTime? {
    posts.reduce(nil) { .earlier($0, $1.nextJudgement) }
  }

  func restartIfDue(_ post: Post, at now: Moment) {
    guard let due = post.restartAt, due <= now.monotonic else { return }
    post.restartAt = nil
    start(post, at: now)
  }

  /// Kills a process that was to exit and has exceeded its time, and stops reading from an exited process.
  /// - Parameter heard: Time up to which all received messages were handled.
  func endOverdue(_ post: Post, heard: MonotonicTime) {
    if let due = post.killAt, due <= heard {
      post.killAt = nil
      post.child?.kill(SIGKILL)
    }
    if let due = post.drainBy, due <= heard { settleEnd(of: post) }
  }

  // MARK: - Log

  func write(
    _ event: StaticString, _ level: LogLevel = .info, about post: Post, at now: Moment = SystemClock.moment(),
    _ fields: (inout LogFields) -> Void = { _ in }
  ) {
    let name = name(of: post)
    log.write(event: event, level: level, at: now) {
      $0.field(name.key, name.value)
      fields(&$0)
    }
  }
}

/// Phase of a supervised process.
enum ProcessPhase: Equatable {
  case empty
  /// Started; no hello received.
  case starting
  /// Hello received, but not ready.
  case welcomed
  case ready
  /// Asked to exit, or being killed.
  case leaving
}

/// Post for a process, and the process running at it: its channel on descriptor 3 and its history of exits.
/// Invariant: `channel` and `child` are of the same generation.
package class SupervisedProcess<Incoming: FrameMessage, Outgoing: FrameMessage> {
  typealias Channel = MessageChannel<Incoming, Outgoing>

  final var phase = ProcessPhase.empty
  package final var generation: Generation = 0
  final var child: ChildProcess?
  /// Process id of the last process started at this post, even if it has exited; 0 for none.
  final var lastPid: Int32 = 0
  final var childRegistration: Registration?
  final var channel: Channel?
  final var isWanted = true
  /// Start time of the successor; nil while a process runs or none is to start.
  final var restartAt: MonotonicTime?
  /// Time by which the process must be ready. This deadline and the next two are in attended time; see
  /// `AttendedTime`.
  final var readyBy: MonotonicTime?
  final var killAt: MonotonicTime?
  final var drainBy: MonotonicTime?
  /// Exit status of a reaped process, until its exit is reported.
  final var exitStatus: ExitStatus?
  final var startedAt: MonotonicTime?
  final var history: RestartHistory
  final var restarts: Int64 = 0
  final var isGivenUp = false
  /// Exit of the last process at this post, or the reason why none could start.
  final var lastEnd: Remark?

  init(history: RestartHistory) { self.history = history }

  final var pid: Int32 { child.map { $0.isReaped ? 0 : $0.pid } ?? 0 }
  var nextDeadline: MonotonicTime? { restartAt }
  /// Next timeout, in attended time; see `AttendedTime`.
  var nextJudgement: MonotonicTime? { .earlier(readyBy, .earlier(killAt, drainBy)) }
  /// Removes the deadlines of a process that has exited.
  func expectNothing() { (readyBy, killAt) = (nil, nil) }
}
