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

/// The limits on what a supervised process may take of others.
struct ProcessLimits {
  /// The longest frame, in bytes.
  var frame = FrameLimits.teller
  /// Bytes that may wait for a process that does not read.
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
  /// What processes are started with.
  var environment: [String: String] { get }
  /// Workers for whom no process is started; nil where all have one.
  var residents: ResidentWorkers? { get }

  /// The field by which log lines name a post.
  func name(of post: Post) -> (key: StaticString, value: String)
  /// What is started at a post.
  func command(for post: Post) -> (program: String, arguments: [String])
  /// The generation of the next process at a post.
  func nextGeneration(at post: Post) -> Generation
  /// A process was started; what is expected of it begins.
  func began(_ post: Post, at now: Moment)
  /// A process has said something.
  func hear(_ message: Incoming, from post: Post)
  /// A process that has not ended has closed its channel, or broken it.
  func channelEnded(_ post: Post, _ end: ChannelEnd)
  /// A process is gone, and nobody is in its place yet.
  func ended(_ post: Post, _ status: ExitStatus)
  /// What is to become of a post without a process is decided: ``succeed(_:at:isHopeless:)`` unless something of its own
  /// happens.
  func decide(_ post: Post, at now: Moment, couldNotStart: Bool)
  /// A post has no process and gets none by itself.
  func gaveUp(_ post: Post)
}

extension ProcessSupervisor {
  /// Starts the next process at a post.
  func start(_ post: Post, at now: Moment) {
    let isRestart = post.startedAt != nil
    post.generation = nextGeneration(at: post)
    post.startedAt = now.monotonic
    do throws(SystemError) {
      let command = command(for: post)
      if let residents {
        try watch(nil, residents(command.program, command.arguments), at: post)
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
      descriptor: descriptor, loop: loop, incomingLimit: limits.frame, backlogLimit: limits.unread)
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
    post.channel = channel
  }

  /// Why a process that has said hello cannot be what was started; nil where it can.
  func objection(to hello: Hello, as role: PeerRole) -> Refusal.Reason? {
    hello.version != protocolVersion
      ? .version : hello.build != BuildIdentity.current ? .build : hello.role != role ? .hello : nil
  }

  /// Ends a conversation with the reason.
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
    post.channel = nil
    post.child = nil
    post.exitStatus = nil
    post.drainBy = nil
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
  ///
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

  /// When something has to be done by itself next.
  func nextDeadline(of posts: some Collection<Post>) -> MonotonicTime? {
    var earliest: MonotonicTime?
    for post in posts {
      if let moment = post.nextDeadline { earliest = min(earliest ?? moment, moment) }
    }
    return earliest
  }

  /// When somebody is judged next who has not said or done what was expected, in the time that was attended.
  func nextJudgement(of posts: some Collection<Post>) -> MonotonicTime? {
    var earliest: MonotonicTime?
    for post in posts {
      if let moment = post.nextJudgement { earliest = min(earliest ?? moment, moment) }
    }
    return earliest
  }

  /// Starts the successor that is due.
  func restartIfDue(_ post: Post, at now: Moment) {
    guard let due = post.restartAt, due <= now.monotonic else { return }
    post.restartAt = nil
    start(post, at: now)
  }

  /// Ends whoever was to have gone, and reads no longer than until now whoever has ended.
  ///
  /// - Parameter heard: Until when everything that was said has been heard.
  func endOverdue(_ post: Post, heard: MonotonicTime) {
    if let due = post.killAt, due <= heard {
      post.killAt = nil
      post.child?.kill(SIGKILL)
    }
    if let due = post.drainBy, due <= heard { settleEnd(of: post) }
  }

  // MARK: - Words

  /// Writes a line about a post.
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
