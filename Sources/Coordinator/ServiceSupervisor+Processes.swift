// Owns what is a service's own in the life of a supervised process: its welcome, its signs of life, what it says of itself,
// and when it is given up. It knows nothing of what the process does.

import BankModel
import Glibc
import Posix
import Transport
import Wire

extension ServiceSupervisor: ProcessSupervisor {
  typealias Incoming = WorkerMessage
  typealias Outgoing = SupervisorMessage
  typealias Post = SupervisedService

  static let limits = ProcessLimits(unread: 1 << 16)

  func name(of post: SupervisedService) -> (key: StaticString, value: String) {
    ("worker_name", post.specification.name)
  }

  func command(for post: SupervisedService) -> (program: String, arguments: [String]) {
    (post.specification.program, post.specification.arguments + (post.hasDatabase ? ["--existing"] : []))
  }

  func nextGeneration(at post: SupervisedService) -> Generation { post.generation + 1 }

  func began(_ post: SupervisedService, at now: Moment) {
    post.readyBy = now.attended + Self.patience
    onChange?()
  }

  func hear(_ message: WorkerMessage, from post: SupervisedService) {
    switch (post.phase, message) {
    case (.starting, .hello(let hello)): greet(hello, at: post)
    case (.welcomed, .ready): becomeReady(post)
    case (.welcomed, .failed(let failure)), (.ready, .failed(let failure)):
      // The process ends by itself; this is why.
      post.failure = failure
      post.lastEnd = Self.remark(on: failure)
      post.hasExplained = true
      write("failed", .error, about: post) {
        $0.field("code", failure.code.rawValue)
        $0.field("subject", failure.subject)
        $0.field("msg", failure.detail)
      }
    case (.starting, .beat(WorkerMessage.progress)), (.welcomed, .beat(WorkerMessage.progress)):
      post.readyBy = loop.moment().attended + Self.patience
    case (.ready, .beat(WorkerMessage.progress)):
      if !Kernel.makes("isDeafToProgress") { post.silence?.heard(at: loop.moment().attended) }
    case (.ready, .beat(WorkerMessage.worked)): post.history.didWork()
    case (.ready, .beat(let number)) where number == post.unanswered:
      (post.unanswered, post.silence) = (nil, nil)
      post.history.didWork()
    case (.welcomed, .database(let mark)), (.ready, .database(let mark)): onDatabase?(post, mark)
    case (.leaving, _): break
    // Whoever has ended is judged no more by what it said before: of what it was asked nothing is known any more.
    default:
      if post.exitStatus == nil || Kernel.makes("killsTheSuccessor") {
        abort(post, reason: "spoke out of turn", at: loop.moment())
      }
    }
  }

  private func greet(_ hello: Hello, at post: SupervisedService) {
    guard post.channel != nil, let orders = orders?(post) else { return }
    if let reason = objection(to: hello, as: post.specification.peerRole) {
      let detail = Remark(.otherBuild, post.specification.name, hello.version, hello.build)
      post.lastEnd = detail
      let build = BuildIdentity.current
      return refuse(post, .refused(Refusal(reason: reason, build: build, detail: detail.description)))
    }
    post.phase = .welcomed
    post.told = orders
    say(.welcome(orders), to: post)
  }

  private func becomeReady(_ post: SupervisedService) {
    let now = loop.moment()
    post.phase = .ready
    (post.readyBy, post.lastEnd, post.failure) = (nil, nil, nil)
    post.hasDatabase = true
    post.endChecks()
    post.checkAt = now.monotonic + standstill
    post.history.becameReady(at: now.monotonic)
    write("service_open", about: post, at: now) {
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
    }
    onChange?()
  }

  /// Without a channel nobody can tell it to go; a process that is going anyway is given the time to.
  func channelEnded(_ post: SupervisedService, _ end: ChannelEnd) {
    guard post.child != nil else { return }
    post.phase = .leaving
    post.endChecks()
    if post.killAt == nil { post.killAt = loop.moment().attended + Self.leaveGrace }
  }

  func ended(_ post: SupervisedService, _ status: ExitStatus) {
    // Where it has said itself why it cannot begin, the code says less.
    if !post.hasExplained { (post.lastEnd, post.failure) = (Remark(status), nil) }
    post.hasExplained = false
  }

  func decide(_ post: SupervisedService, at now: Moment, couldNotStart: Bool) {
    defer { onChange?() }
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
    succeed(post, at: now)
  }

  func gaveUp(_ post: SupervisedService) {}

  /// Why a process cannot work, in a few words.
  private static func remark(on failure: Failure) -> Remark {
    if failure.code == .damaged { return Remark(.fileDamaged, failure.subject, failure.detail) }
    return failure.remark ?? Remark(quoting: failure.detail.isEmpty ? failure.code.rawValue : failure.detail)
  }
}
