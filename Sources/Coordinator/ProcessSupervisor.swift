// Owns the life of a supervised process, whatever it is for: spawned with its channel on descriptor 3, heard, reaped, and
// succeeded by another one. Death is noticed by the pidfd. What a process says is its supervisor's own.
// Invariant: the end of a process is told exactly once, after it was reaped and its channel closed, and before its successor
// starts.

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
  /// How long the channel of a process that has ended may stay open: only as long as it takes to read what is left.
  var drain = TimeSpan.milliseconds(100)
  /// How long a process that is of no use any more has between SIGABRT and SIGKILL.
  var abort = TimeSpan.milliseconds(200)
}

/// Where workers live in the coordinator's own process: has the worker begin that a program with these arguments would be,
/// and gives this end of its channel.
package typealias ResidentWorkers =
  (_ program: String, _ arguments: [String]) throws(SystemError) -> FileDescriptor

/// Starts processes of one kind, notices every way in which they end, and starts their successors.
protocol ProcessSupervisor: AnyObject {
  associatedtype Incoming: FrameMessage
  associatedtype Outgoing: FrameMessage
  associatedtype Post: SupervisedProcess<Incoming, Outgoing>

  static var limits: ProcessLimits { get }
  var loop: EventLoop { get }
  var log: LogFile { get }
  var environment: Variables { get }
  /// Workers for whom no process is started; nil where all have one.
  var residents: ResidentWorkers? { get }

  /// The field by which log lines name a post.
  func name(of post: Post) -> (key: StaticString, value: String)
  func command(for post: Post) -> (program: String, arguments: [String])
  /// What is started in the place of ``command(for:)`` where it is no program of this build.
  func foreignProgram(for post: Post) throws(SystemError) -> ChildProcess.Program?
  /// Where such a program writes what it writes beside its channel.
  func speech(of post: Post) throws(SystemError) -> FileDescriptor
  func nextGeneration(at post: Post) -> Generation
  /// The longest line of a process that may speak in lines; nil for one that speaks in frames.
  func lineLimit(for post: Post) -> Int?
  /// Whether a process may start at this post now. If not, the supervisor sets when it is asked again.
  func mayStart(_ post: Post, at now: Moment) -> Bool
  /// A process was started; what is expected of it begins.
  func began(_ post: Post, at now: Moment)
  func hear(_ message: Incoming, from post: Post)
  /// A process that has not ended has closed its channel, or broken it.
  func channelEnded(_ post: Post, _ end: ChannelEnd)
  /// Whether nothing is left of what a process has started that has ended. Asked again until it is so.
  func isCleared(_ post: Post, at now: Moment) -> Bool
  /// A process is gone, and nobody is in its place yet.
  func ended(_ post: Post, _ status: ExitStatus)
  /// What is to become of a post without a process is decided: ``succeed(_:at:isHopeless:)`` unless something of its own
  /// happens.
  func decide(_ post: Post, at now: Moment, couldNotStart: Bool)
  /// A post has no process and gets none by itself.
  func gaveUp(_ post: Post)
}

extension ProcessSupervisor {
  /// It starts nothing that could outlive it.
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

  /// Takes a process that was started into care. Whatever fails, the post stays as it is.
  private func watch(
    _ child: ChildProcess?, _ descriptor: consuming FileDescriptor, at post: Post
  ) throws(SystemError) {
    let limits = Self.limits
    let channel = try MessageChannel<Incoming, Outgoing>(
      descriptor: descriptor, loop: loop, incomingLimit: limits.frame, backlogLimit: limits.unread,
      lineLimit: lineLimit(for: post))
    let generation = post.generation
    // The post is held until its channel and its child have ended, as they always do. A weak reference would send
    // every other one to the same object the slow way for good: 8 % of the coordinator's own time, by perf.
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

  /// Why a process that has said hello cannot be what was started; nil where it can.
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

  // MARK: - The end

  /// The process has ended. What it said before may still be on its way: the end is settled with the channel's.
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

  /// Process and channel have ended: it is told, and what becomes of the post is decided.
  func settleEnd(of post: Post) {
    guard let child = post.child, let status = post.exitStatus else { return }
    let now = loop.moment()
    post.channel?.onEnd = nil
    post.channel?.close()
    (post.channel, post.drainBy) = (nil, nil)
    guard isCleared(post, at: now) else { return }
    (post.channel, post.child, post.exitStatus, post.drainBy) = (nil, nil, nil, nil)
    // It may have been told to go after it had ended, and its successor was not.
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

  /// Starts a successor, now or later, unless there were too many deaths in a row.
  /// - Parameter isHopeless: Whether nobody waits for a later one; asked when the death was counted.
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

  /// No process comes to this post by itself any more.
  func giveUp(_ post: Post, at now: Moment) {
    post.isGivenUp = true
    write("given_up", .error, about: post, at: now) {
      $0.field("deaths", post.history.deathsInARow)
      $0.field("msg", post.lastEnd?.description ?? "")
    }
    gaveUp(post)
  }

  /// Ends a process that is of no use any more: SIGABRT, so that a core may tell why, and SIGKILL soon after.
  func abort(_ post: Post, at now: Moment) {
    post.phase = .leaving
    post.child?.kill(SIGABRT)
    // Whoever is stopped dies when it goes on.
    post.child?.kill(SIGCONT)
    if !Kernel.makes("abortsOnly") { post.killAt = now.attended + Self.limits.abort }
  }

  // MARK: - Time

  func nextDeadline(of posts: some Collection<Post>) -> MonotonicTime? {
    posts.reduce(nil) { .earlier($0, $1.nextDeadline) }
  }

  /// When somebody is judged next who has not said or done what was expected, in the time that was attended.
  func nextJudgement(of posts: some Collection<Post>) -> MonotonicTime? {
    posts.reduce(nil) { .earlier($0, $1.nextJudgement) }
  }

  func restartIfDue(_ post: Post, at now: Moment) {
    guard let due = post.restartAt, due <= now.monotonic else { return }
    post.restartAt = nil
    start(post, at: now)
  }

  /// Ends whoever was to have gone, and reads no longer than until now whoever has ended.
  /// - Parameter heard: Until when everything that was said has been heard.
  func endOverdue(_ post: Post, heard: MonotonicTime) {
    if let due = post.killAt, due <= heard {
      post.killAt = nil
      post.child?.kill(SIGKILL)
    }
    if let due = post.drainBy, due <= heard { settleEnd(of: post) }
  }

  // MARK: - Words

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

/// One process as its supervisor sees it: the process, the channel on its descriptor 3, and its deaths. Invariant:
/// `channel` and `child` are of the same generation.
enum ProcessPhase: Equatable {
  case empty
  /// Started, and has not said hello.
  case starting
  /// Has said hello, and not that it is ready.
  case welcomed
  case ready
  /// It has been told to go, or is being ended.
  case leaving
}

/// A place for a process, and the process that is there.
package class SupervisedProcess<Incoming: FrameMessage, Outgoing: FrameMessage> {
  typealias Channel = MessageChannel<Incoming, Outgoing>

  final var phase = ProcessPhase.empty
  package final var generation: Generation = 0
  final var child: ChildProcess?
  /// The process that was started here last, also when it has ended; 0 for none.
  final var lastPid: Int32 = 0
  final var childRegistration: Registration?
  final var channel: Channel?
  final var isWanted = true
  /// When the successor starts; nil while there is a process or none shall come.
  final var restartAt: MonotonicTime?
  /// Until when the present process must be ready. This and the next two are moments of the time that was attended.
  final var readyBy: MonotonicTime?
  final var killAt: MonotonicTime?
  final var drainBy: MonotonicTime?
  /// How the process has ended, while its channel is still being read.
  final var exitStatus: ExitStatus?
  final var startedAt: MonotonicTime?
  final var history: RestartHistory
  final var restarts: Int64 = 0
  final var isGivenUp = false
  /// How the last process here ended, or why none could be started or could begin.
  final var lastEnd: Remark?

  init(history: RestartHistory) { self.history = history }

  final var pid: Int32 { child.map { $0.isReaped ? 0 : $0.pid } ?? 0 }
  var nextDeadline: MonotonicTime? { restartAt }
  /// When it is judged by what it has said, in the time that was attended.
  var nextJudgement: MonotonicTime? { .earlier(readyBy, .earlier(killAt, drainBy)) }
  /// Nothing is expected of it any more: it has ended.
  func expectNothing() { (readyBy, killAt) = (nil, nil) }
}
