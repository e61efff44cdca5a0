// Owns the life of one teller process: spawned with its channel on descriptor 3, welcomed, heard, reaped.
// It knows no customer. Death is noticed by the pidfd; the end of the channel alone means that a teller has closed
// it, and a teller without a channel is of no use to anybody.

import BankModel
import Glibc
import Posix
import Supervision
import Transport
import Wire

extension WindowStaff {
  /// Deaths before being ready after which the bank does not open.
  static let openingPatience = 3

  func start(_ post: WindowPost, at now: Moment) {
    let isRestart = post.startedAt != nil
    post.generation =
      (Kernel.makes("startsGenerationsAnew") ? post.generation : generations[post.window] ?? 0) + 1
    generations[post.window] = post.generation
    post.startedAt = now.monotonic
    post.customers = 0
    post.residentBytes = nil
    do throws(SystemError) {
      try spawn(post)
    } catch {
      log.write(event: "spawn_failed", level: .error, at: now) {
        $0.field("window", post.window.description)
        $0.field("msg", error.description)
      }
      post.lastEnd = Remark(quoting: error.description)
      post.lastExit = nil
      decide(post, at: now, couldNotStart: true)
      return
    }
    post.phase = .starting
    (post.beats, post.beatsSince) = (0, now.monotonic)
    post.readyBy = now.attended + TellerLimits.ready
    if isRestart {
      post.restarts += 1
      log.write(event: "restarted", at: now) {
        $0.field("window", post.window.description)
        $0.field("child", post.pid)
        $0.field("child_gen", post.generation)
      }
    }
  }

  private func spawn(_ post: WindowPost) throws(SystemError) {
    try ChildProcess.spawn(
      executable: programs[post.window.service],
      arguments: [post.window.description, String(post.generation), String(CurrentProcess.pid), home],
      environment: environment
    ) { child, channel throws(SystemError) in try watch(child, channel, at: post) }
  }

  /// Takes a teller that was started into care. Whatever fails, the post stays as it is.
  private func watch(
    _ child: ChildProcess, _ descriptor: consuming FileDescriptor, at post: WindowPost
  ) throws(SystemError) {
    let channel = try TellerChannel(
      descriptor: descriptor, loop: loop, incomingLimit: TellerLimits.frame, backlogLimit: TellerLimits.unread
    )
    let generation = post.generation
    // The post is held until its channel and its child have ended, as they always do. A weak reference would send
    // every other one to the same object the slow way for good: 8 % of the coordinator's own time, by perf.
    channel.onMessage = { [unowned self] message in
      if post.generation == generation { hear(message, from: post) }
    }
    channel.onEnd = { [unowned self] end in
      if post.generation == generation { channelEnded(post, end) }
    }
    let registration = try loop.register(fd: child.fd, interest: .read) { [unowned self] _ in
      if post.generation == generation { processEnded(post) }
    }
    post.child = child
    post.channel = channel
    post.childRegistration = registration
  }

  private func hear(_ message: TellerMessage, from post: WindowPost) {
    switch (post.phase, message) {
    case (.starting, .hello(let hello)): greet(hello, at: post)
    case (.welcomed, .ready):
      post.phase = .ready
      post.readyBy = nil
      post.history.becameReady(at: loop.moment().monotonic)
      onEvent?(post.window, post.generation, .ready(pid: post.pid))
    case (.ready, .done), (.ready, .outOfStock):
      post.history.didWork()
      onEvent?(post.window, post.generation, .said(message))
    case (.ready, .failed), (.ready, .returned):
      onEvent?(post.window, post.generation, .said(message))
    case (.ready, .beat):
      if floods(post) {
        expel(
          post.window, post.generation,
          reason: "floods: more than \(TellerLimits.beats) reports of progress in a second",
          at: loop.moment())
      }
      onEvent?(post.window, post.generation, .said(message))
    case (.leaving, _): break
    case (_, _):
      expel(post.window, post.generation, reason: "spoke out of turn", at: loop.moment())
      onEvent?(post.window, post.generation, .said(message))
    }
  }

  /// Counts a report of progress. The clock is asked once for as many as there may be in a second.
  private func floods(_ post: WindowPost) -> Bool {
    post.beats += 1
    guard post.beats > TellerLimits.beats else { return false }
    let now = SystemClock.moment().monotonic
    defer { (post.beats, post.beatsSince) = (0, now) }
    return now.since(post.beatsSince) < .seconds(1)
  }

  private func greet(_ hello: Hello, at post: WindowPost) {
    guard let channel = post.channel else { return }
    let mine = BuildIdentity.current
    let reason: Refusal.Reason? =
      hello.version != protocolVersion
      ? .version : hello.build != mine ? .build : hello.role != post.window.service.peerRole ? .hello : nil
    if let reason {
      let detail = "window \(post.window): version \(hello.version) of build \(hello.build) is not mine"
      channel.send(.refused(Refusal(reason: reason, build: mine, detail: detail)))
      channel.closeAfterFlush()
      log.write(event: "refused", level: .error) {
        $0.field("window", post.window.description)
        $0.field("msg", detail)
      }
      return
    }
    guard let orders = orders?(post.window, post.generation) else { return }
    post.phase = .welcomed
    post.isOutdated = false
    tell(post.window, .welcome(orders))
  }

  private func channelEnded(_ post: WindowPost, _ end: ChannelEnd) {
    post.channel = nil
    if post.exitStatus != nil { return settleEnd(of: post) }
    // A teller that dies closes its channel just before its process is reported as ended, so only those who broke
    // the channel themselves are named here.
    switch end {
    case .endOfFile where post.phase == .leaving:
      // It was told to go and is going.
      post.killAt = loop.moment().attended + TellerLimits.exit
      return
    case .endOfFile, .closedHere: break
    default:
      log.write(event: "channel_broken", level: .warn) {
        $0.field("window", post.window.description)
        $0.field("child", post.pid)
        $0.field("msg", end.description)
      }
    }
    post.phase = .leaving
    post.child?.kill(SIGKILL)
  }

  /// The process has ended. What it said before may still be on its way: the end is settled with the channel's.
  private func processEnded(_ post: WindowPost) {
    guard let child = post.child, let status = child.reap() else { return }
    if let registration = post.childRegistration { loop.deregister(registration) }
    post.childRegistration = nil
    post.exitStatus = status
    post.readyBy = nil
    post.killAt = nil
    if post.channel == nil {
      settleEnd(of: post)
    } else {
      post.drainBy = loop.moment().attended + TellerLimits.drain
    }
  }

  /// Process and channel have ended: the teller is reported as lost, and its successor decided upon.
  func settleEnd(of post: WindowPost) {
    guard let child = post.child, let status = post.exitStatus else { return }
    let now = loop.moment()
    post.channel?.onEnd = nil
    post.channel?.close()
    post.channel = nil
    post.child = nil
    post.exitStatus = nil
    post.drainBy = nil
    // It may have been told to go after it had ended, and its successor was not.
    post.killAt = nil
    post.phase = .empty
    report(status, of: child.pid, at: post, now)
    let end: ProcessEnd =
      switch status.ending {
      case .code(let code): .code(code)
      case .signal(let signal, _): .signal(signal)
      // A process that somebody else has reaped: what is certain is that it did not end as it should.
      case .unseen: .code(1)
      }
    post.lastEnd = Remark(status)
    post.lastExit = end
    onEvent?(post.window, post.generation, .ended(end))
    decide(post, at: now)
  }

  private func report(_ status: ExitStatus, of pid: Int32, at post: WindowPost, _ now: Moment) {
    log.write(event: "exit", level: status.isSuccess ? .info : .warn, at: now) {
      $0.field("window", post.window.description)
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

  /// What is to become of a window whose teller has ended.
  private func decide(_ post: WindowPost, at now: Moment, couldNotStart: Bool = false) {
    guard post.isWanted else { return remove(post.window) }
    let decision = post.history.died(at: now.monotonic)
    let isHopeless = !hasOpened && (couldNotStart || post.history.deathsInARow >= Self.openingPatience)
    switch decision {
    case .atOnce: start(post, at: now)
    case .after(let pause) where !isHopeless:
      post.restartAt = now.monotonic + pause
      log.write(event: "backoff", level: .warn, at: now) {
        $0.field("window", post.window.description)
        $0.field("deaths", post.history.deathsInARow)
        $0.field("pause_ms", pause.milliseconds)
        $0.field("msg", post.lastEnd?.description ?? "")
      }
    case .after, .giveUp:
      post.isGivenUp = true
      log.write(event: "given_up", level: .error, at: now) {
        $0.field("window", post.window.description)
        $0.field("deaths", post.history.deathsInARow)
        $0.field("msg", post.lastEnd?.description ?? "")
      }
      onEvent?(post.window, post.generation, .givenUp(lastEnd: post.lastEnd ?? Remark(quoting: "")))
    }
  }
}
