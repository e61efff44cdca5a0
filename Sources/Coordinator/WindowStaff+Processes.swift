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
  /// Bytes that may wait for a teller that does not read.
  static let backlogLimit = 1 << 20
  /// Deaths before being ready after which the bank does not open.
  static let openingPatience = 3
  /// How long a teller that has closed its channel to go may take to end.
  static let exitGrace = TimeSpan.seconds(1)
  /// How long the channel of a process that has ended may stay open: only as long as it takes to read what is left.
  static let drainGrace = TimeSpan.milliseconds(100)

  func start(_ post: WindowPost, at now: Moment) {
    let isRestart = post.startedAt != nil
    post.generation = (generations[post.window] ?? 0) + 1
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
      post.lastEnd = error.description
      post.lastExit = nil
      decide(post, at: now, couldNotStart: true)
      return
    }
    post.phase = .starting
    post.readyBy = now.monotonic + Self.patience
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
    let pair = try UnixSocket.pair()
    let child = try ChildProcess.spawn(
      executable: executable,
      arguments: [post.window.description, String(post.generation), String(getpid()), home],
      environment: environment, channel: pair.second)
    let channel = try TellerChannel(
      descriptor: pair.first, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: Self.backlogLimit)
    let generation = post.generation
    channel.onMessage = { [weak self, weak post] message in
      guard let self, let post, post.generation == generation else { return }
      self.hear(message, from: post)
    }
    channel.onEnd = { [weak self, weak post] end in
      guard let self, let post, post.generation == generation else { return }
      self.channelEnded(post, end)
    }
    let registration = try loop.register(fd: child.fd, interest: .read) { [weak self, weak post] _ in
      guard let self, let post, post.generation == generation else { return }
      self.processEnded(post)
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
      post.history.becameReady(at: MonotonicTime(nanoseconds: SystemClock.monotonic().nanoseconds))
      onEvent?(post.window, post.generation, .ready(pid: post.pid))
    case (.ready, .done), (.ready, .failed), (.ready, .returned), (.ready, .beat):
      onEvent?(post.window, post.generation, .said(message))
    case (.leaving, _): break
    case (_, _):
      expel(post.window, post.generation, reason: "spoke out of turn", at: SystemClock.moment())
      onEvent?(post.window, post.generation, .said(message))
    }
  }

  private func greet(_ hello: Hello, at post: WindowPost) {
    guard let channel = post.channel else { return }
    let mine = BuildIdentity.current
    let reason: Refusal.Reason? =
      hello.version != protocolVersion
      ? .version : hello.build != mine ? .build : hello.role != .teller ? .hello : nil
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
      post.killAt = SystemClock.moment().monotonic + Self.exitGrace
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
      post.drainBy = SystemClock.moment().monotonic + Self.drainGrace
    }
  }

  /// Process and channel have ended: the teller is reported as lost, and its successor decided upon.
  func settleEnd(of post: WindowPost) {
    guard let child = post.child, let status = post.exitStatus else { return }
    let now = SystemClock.moment()
    post.channel?.onEnd = nil
    post.channel?.close()
    post.channel = nil
    post.child = nil
    post.exitStatus = nil
    post.drainBy = nil
    post.phase = .empty
    report(status, of: child.pid, at: post, now)
    let end: ProcessEnd =
      switch status.ending {
      case .code(let code): .code(code)
      case .signal(let signal, _): .signal(signal)
      }
    post.lastEnd = status.description
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
      }
      if let startedAt = post.startedAt { $0.field("uptime_ms", now.monotonic.since(startedAt).milliseconds) }
      $0.field("max_rss_kb", status.maxResidentBytes / 1024)
    }
  }

  /// What is to become of a window whose teller has ended.
  private func decide(_ post: WindowPost, at now: Moment, couldNotStart: Bool = false) {
    guard post.isWanted else {
      posts[post.window] = nil
      return
    }
    let decision = post.history.died(at: now.monotonic)
    let isHopeless = !hasOpened && (couldNotStart || post.history.earlyDeaths >= Self.openingPatience)
    switch decision {
    case .atOnce: start(post, at: now)
    case .after(let pause) where !isHopeless: post.restartAt = now.monotonic + pause
    case .after, .giveUp:
      post.isGivenUp = true
      log.write(event: "given_up", level: .error, at: now) {
        $0.field("window", post.window.description)
        $0.field("deaths", post.history.earlyDeaths)
        $0.field("msg", post.lastEnd ?? "")
      }
      onEvent?(post.window, post.generation, .givenUp(lastEnd: post.lastEnd ?? ""))
    }
  }
}
