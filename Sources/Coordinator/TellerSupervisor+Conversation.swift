// Owns the conversation with whoever stands behind a window, as far as it is no customer's: who may speak, when, and how
// often. What is said of customers is passed on as it is.
// Invariant: nobody is heard before the hello, and whoever speaks out of turn is ended, its word passed on no more than once.

import BankModel
import Configuration
import Logbook
import Posix
import Supervision
import Time
import Transport
import Wire

extension TellerSupervisor {
  func hear(_ message: TellerMessage, from post: SupervisedTeller) {
    switch (post.phase, message) {
    case (.starting, .hello(let hello)): greet(hello, at: post)
    case (.welcomed, .ready):
      post.phase = .ready
      post.readyBy = nil
      post.history.becameReady(at: loop.moment().monotonic)
      let isWorker = post.kind == .worker
      onEvent?(
        post.window, post.generation,
        isWorker ? .workerReady(pid: post.pid, inHand: post.inHand) : .ready(pid: post.pid))
    case (.ready, .outOfStock) where post.kind == .worker:
      expel(post.window, post.generation, reason: "spoke of stock", at: loop.moment())
    case (.ready, .done), (.ready, .outOfStock), (.ready, .worked):
      post.history.didWork()
      onEvent?(post.window, post.generation, .said(message))
    case (.ready, .failed), (.ready, .returned): onEvent?(post.window, post.generation, .said(message))
    case (.ready, .beat), (.ready, .progressed):
      if post.beats.isTooMany() {
        let reason = "floods: more than \(TellerLimits.beats) reports of progress in a second"
        expel(post.window, post.generation, reason: reason, at: loop.moment())
      }
      onEvent?(post.window, post.generation, .said(message))
    case (.leaving, _): break
    case (_, _):
      expel(post.window, post.generation, reason: "spoke out of turn", at: loop.moment())
      onEvent?(post.window, post.generation, .said(message))
    }
  }

  private func greet(_ hello: Hello, at post: SupervisedTeller) {
    if post.kind == .worker { return engage(hello, at: post) }
    let role = post.kind.peerRole(of: post.window.service)
    if let reason = objection(to: hello, as: role) {
      let detail = "window \(post.window): version \(hello.version) of build \(hello.build) is not mine"
      refuse(post, .refused(Refusal(reason: reason, build: BuildIdentity.current, detail: detail)))
      return write("refused", .error, about: post) { $0.field("msg", detail) }
    }
    guard post.channel != nil, let orders = orders?(post.window, post.generation) else { return }
    post.phase = .welcomed
    post.isOutdated = false
    tell(post.window, .welcome(orders))
  }

  /// A program of no build: the version of the protocol is all that it must have in common with this one.
  private func engage(_ hello: Hello, at post: SupervisedTeller) {
    let reason: Refusal.Reason? =
      hello.version != protocolVersion ? .version : hello.role != .worker ? .hello : nil
    if let reason {
      let detail =
        reason == .version ? hello.otherVersion : "the role of a program at a window is worker"
      refuse(post, .refused(Refusal(reason: reason, build: BuildIdentity.current, detail: detail)))
      return write("refused", .error, about: post) { $0.field("msg", detail) }
    }
    guard post.channel != nil, let terms = workerTerms?(post.window) else { return }
    post.phase = .welcomed
    post.isOutdated = false
    post.inHand = hello.offer?.inHand
    tell(post.window, .engaged(terms))
  }
}

/// One window as the supervisor of tellers sees it: the teller behind it, and what is counted about it.
final class SupervisedTeller: SupervisedProcess<TellerMessage, WindowMessage> {
  let window: Window
  /// What the present process is, whatever is configured by now.
  var kind = ServiceKind.work
  /// Customers that a worker takes at once, as it says itself.
  var inHand: Int32?
  /// Whether something is to be written to the teller at the end of the turn.
  var isUnflushed = false
  var beats = BeatCount()
  /// The present teller was told orders that have changed since.
  var isOutdated = false
  var lastExit: ProcessEnd?
  /// What a worker program writes beside its channel; nil for a teller.
  var speech: WorkerSpeech?
  /// Why the window waits for the end of former processes; nil where it does not.
  var holdUp: Remark?
  /// When it was killed because it was of no use any more; a moment of the time that was attended.
  var killedAt: MonotonicTime?
  /// When it is named, should it not have ended by then.
  var undyingAt: MonotonicTime? { killedAt.map { $0 + .seconds(10) } }
  override var nextJudgement: MonotonicTime? { .earlier(super.nextJudgement, undyingAt) }
  var customers: Int64 = 0
  /// The generation that is to go because it has worked long enough.
  var recycledGeneration: Generation = 0
  /// The memory of the present teller, and when it was looked at; the moment outlives the teller.
  var residentBytes: Int64?
  var measuredAt = MonotonicTime(nanoseconds: 0)

  init(window: Window, history: RestartHistory) {
    self.window = window
    super.init(history: history)
  }
}
