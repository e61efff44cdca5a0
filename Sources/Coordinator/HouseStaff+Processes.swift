// Owns the life of one process behind the windows: spawned with its channel on descriptor 3, welcomed, heard, reaped.
// It knows nothing of what the process does. Death is noticed by the pidfd.

import BankModel
import Glibc
import Logbook
import Posix
import Supervision
import Transport
import Wire

extension HouseStaff {
  func start(_ post: HousePost, at now: Moment) {
    let isRestart = post.startedAt != nil
    post.generation += 1
    post.startedAt = now.monotonic
    do throws(SystemError) {
      try spawn(post)
    } catch {
      post.lastEnd = Remark(quoting: error.description)
      log.write(event: "spawn_failed", level: .error, at: now) {
        $0.field("worker_name", post.trade.name)
        $0.field("msg", error.description)
      }
      return decide(post, at: now)
    }
    post.phase = .starting
    post.readyBy = now.attended + Self.patience
    if isRestart {
      post.restarts += 1
      log.write(event: "restarted", at: now) {
        $0.field("worker_name", post.trade.name)
        $0.field("child", post.pid)
        $0.field("child_gen", post.generation)
      }
    }
    onChange?()
  }

  private func spawn(_ post: HousePost) throws(SystemError) {
    try ChildProcess.spawn(
      executable: post.trade.program,
      arguments: post.trade.arguments + (post.hasDatabase ? ["--existing"] : []), environment: environment
    ) { child, channel throws(SystemError) in try watch(child, channel, at: post) }
  }

  /// Takes a process that was started into care. Whatever fails, the post stays as it is.
  private func watch(
    _ child: ChildProcess, _ descriptor: consuming FileDescriptor, at post: HousePost
  ) throws(SystemError) {
    let generation = post.generation
    let channel = try HouseChannel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: Self.backlogLimit)
    channel.onMessage = { [weak self, weak post] message in
      guard let self, let post, post.generation == generation else { return }
      self.hear(message, from: post)
    }
    channel.onEnd = { [weak self, weak post] _ in
      guard let self, let post, post.generation == generation else { return }
      self.channelEnded(post)
    }
    let registration = try loop.register(fd: child.fd, interest: .read) { [weak self, weak post] _ in
      guard let self, let post, post.generation == generation else { return }
      self.processEnded(post)
    }
    post.child = child
    post.channel = channel
    post.childRegistration = registration
  }

  private func hear(_ message: WorkerMessage, from post: HousePost) {
    switch (post.phase, message) {
    case (.starting, .hello(let hello)): greet(hello, at: post)
    case (.welcomed, .ready): becomeReady(post)
    case (.welcomed, .failed(let failure)), (.ready, .failed(let failure)):
      // The process ends by itself; this is why.
      post.failure = failure
      post.lastEnd = Self.remark(on: failure)
      post.hasExplained = true
      log.write(event: "failed", level: .error) {
        $0.field("worker_name", post.trade.name)
        $0.field("code", failure.code.rawValue)
        $0.field("subject", failure.subject)
        $0.field("msg", failure.detail)
      }
    case (.starting, .beat(WorkerMessage.progress)), (.welcomed, .beat(WorkerMessage.progress)):
      post.readyBy = loop.moment().attended + Self.patience
    case (.ready, .beat(WorkerMessage.progress)):
      post.silence?.heard(at: loop.moment().attended)
    case (.ready, .beat(WorkerMessage.worked)): post.history.didWork()
    case (.ready, .beat(let number)) where number == post.unanswered:
      (post.unanswered, post.silence) = (nil, nil)
      post.history.didWork()
    case (.welcomed, .database(let mark)), (.ready, .database(let mark)): onDatabase?(post, mark)
    case (.leaving, _): break
    // Whoever has ended is judged no more by what it said before: of what it was asked nothing is known any more.
    default: if post.exitStatus == nil { abort(post, reason: "spoke out of turn", at: loop.moment()) }
    }
  }

  private func greet(_ hello: Hello, at post: HousePost) {
    guard let channel = post.channel, let orders = orders?(post) else { return }
    let mine = BuildIdentity.current
    let reason: Refusal.Reason? =
      hello.version != protocolVersion
      ? .version : hello.build != mine ? .build : hello.role != post.trade.peerRole ? .hello : nil
    if let reason {
      let detail = Remark(.otherBuild, post.trade.name, hello.version, hello.build)
      post.lastEnd = detail
      channel.send(.refused(Refusal(reason: reason, build: mine, detail: detail.description)))
      channel.closeAfterFlush()
      return
    }
    post.phase = .welcomed
    post.told = orders
    channel.send(.welcome(orders))
    channel.flush()
  }

  private func becomeReady(_ post: HousePost) {
    let now = loop.moment()
    post.phase = .ready
    post.readyBy = nil
    post.lastEnd = nil
    post.failure = nil
    post.hasDatabase = true
    post.endChecks()
    post.checkAt = now.monotonic + standstill
    post.history.becameReady(at: now.monotonic)
    log.write(event: "service_open", at: now) {
      $0.field("worker_name", post.trade.name)
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
    }
    onChange?()
  }

  /// Without a channel nobody can tell it to go; a process that is going anyway is given the time to.
  private func channelEnded(_ post: HousePost) {
    post.channel = nil
    if post.exitStatus != nil { return settleEnd(of: post) }
    guard post.child != nil else { return }
    post.phase = .leaving
    post.endChecks()
    if post.killAt == nil { post.killAt = loop.moment().attended + Self.leaveGrace }
  }

  /// The process has ended. What it said last may still be on its way: why it could not begin.
  private func processEnded(_ post: HousePost) {
    guard let child = post.child, let status = child.reap() else { return }
    if let registration = post.childRegistration { loop.deregister(registration) }
    post.childRegistration = nil
    post.exitStatus = status
    post.readyBy = nil
    post.killAt = nil
    post.endChecks()
    if post.channel == nil {
      settleEnd(of: post)
    } else {
      post.drainBy = loop.moment().attended + Self.drainGrace
    }
  }

  /// Process and channel have ended: what becomes of the post is decided.
  func settleEnd(of post: HousePost) {
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
    report(status, of: child.pid, at: post, now)
    // Where it has said itself why it cannot begin, the code says less.
    if !post.hasExplained {
      post.lastEnd = Remark(status)
      post.failure = nil
    }
    post.hasExplained = false
    post.phase = .empty
    decide(post, at: now)
    onChange?()
  }

  private func report(_ status: ExitStatus, of pid: Int32, at post: HousePost, _ now: Moment) {
    log.write(event: "exit", level: status.isSuccess ? .info : .warn, at: now) {
      $0.field("worker_name", post.trade.name)
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

  private func decide(_ post: HousePost, at now: Moment) {
    guard post.isWanted else { return }
    if post.isReplaced {
      post.isReplaced = false
      post.history.forgive()
      return start(post, at: now)
    }
    // What was removed does not come back by itself, and what is damaged does not heal.
    if let code = post.failure?.code, [.removed, .damaged, .newerSchema].contains(code) {
      return giveUp(post, at: now)
    }
    switch post.history.died(at: now.monotonic) {
    case .atOnce: start(post, at: now)
    case .after(let pause):
      post.restartAt = now.monotonic + pause
      log.write(event: "backoff", level: .warn, at: now) {
        $0.field("worker_name", post.trade.name)
        $0.field("deaths", post.history.deathsInARow)
        $0.field("pause_ms", pause.milliseconds)
        $0.field("msg", post.lastEnd?.description ?? "")
      }
    case .giveUp: giveUp(post, at: now)
    }
  }

  /// Why a process cannot work, in a few words.
  private static func remark(on failure: Failure) -> Remark {
    if failure.code == .damaged { return Remark(.fileDamaged, failure.subject, failure.detail) }
    return failure.remark ?? Remark(quoting: failure.detail.isEmpty ? failure.code.rawValue : failure.detail)
  }

  private func giveUp(_ post: HousePost, at now: Moment) {
    post.isGivenUp = true
    log.write(event: "given_up", level: .error, at: now) {
      $0.field("worker_name", post.trade.name)
      $0.field("deaths", post.history.deathsInARow)
      $0.field("msg", post.lastEnd?.description ?? "")
    }
  }
}
