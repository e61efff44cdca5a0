// Protocol states of the process at a window: which messages are allowed, when, and how often. Messages about customers
// are passed on unchanged.
// Invariant: no message is accepted before the hello. A process that sends a message out of order is killed, and that
// message is passed on at most once.

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
      expel(post.window, post.generation, reason: "reported a shortage of stock", at: loop.moment())
    case (.ready, .done), (.ready, .outOfStock), (.ready, .worked):
      post.history.didWork()
      onEvent?(post.window, post.generation, .said(message))
    case (.ready, .failed), (.ready, .returned): onEvent?(post.window, post.generation, .said(message))
    case (.ready, .beat), (.ready, .progressed):
      if post.beats.isTooMany() {
        let reason = "sent more than \(TellerLimits.beats) reports of progress in a second"
        expel(post.window, post.generation, reason: reason, at: loop.moment())
      }
      onEvent?(post.window, post.generation, .said(message))
    case (.leaving, _): break
    case (_, _):
      expel(post.window, post.generation, reason: "sent a message out of turn", at: loop.moment())
      onEvent?(post.window, post.generation, .said(message))
    }
  }

  private func greet(_ hello: Hello, at post: SupervisedTeller) {
    if post.kind == .worker { return engage(hello, at: post) }
    let role = post.kind.peerRole(of: post.window.service)
    if let reason = objection(to: hello, as: role) {
      let detail = "window \(post.window): protocol \(hello.version) (build \(hello.build)) is not supported"
      refuse(post, .refused(Refusal(reason: reason, build: BuildIdentity.current, detail: detail)))
      return write("hello_refused", .error, about: post) { $0.field("msg", detail) }
    }
    guard post.channel != nil, let orders = orders?(post.window, post.generation) else { return }
    post.phase = .welcomed
    post.isOutdated = false
    tell(post.window, .welcome(orders))
  }

  /// Accepts a worker program. The program need not be of the same build, but must use the same protocol
  /// version.
  private func engage(_ hello: Hello, at post: SupervisedTeller) {
    let reason: Refusal.Reason? =
      hello.version != protocolVersion ? .version : hello.role != .worker ? .hello : nil
    if let reason {
      let detail =
        reason == .version ? hello.otherVersion : "the role of a program at a window is worker"
      refuse(post, .refused(Refusal(reason: reason, build: BuildIdentity.current, detail: detail)))
      return write("hello_refused", .error, about: post) { $0.field("msg", detail) }
    }
    guard post.channel != nil, let terms = workerTerms?(post.window) else { return }
    post.phase = .welcomed
    post.isOutdated = false
    post.inHand = hello.offer?.inHand
    tell(post.window, .engaged(terms))
  }
}

/// State of one window in the supervisor: its worker process and the counters of the process.
final class SupervisedTeller: SupervisedProcess<TellerMessage, WindowMessage> {
  let window: Window
  /// Kind of the present process, even if the configuration has changed since.
  var kind = ServiceKind.work
  /// Number of customers that a worker takes at once, as the worker reported; nil if it reported none.
  var inHand: Int32?
  /// True if messages are to be flushed at the end of the iteration.
  var isUnflushed = false
  var beats = BeatCount()
  /// True if the orders have changed since the present teller received them.
  var isOutdated = false
  var lastExit: ProcessEnd?
  /// Output of a worker program outside its channel; nil for a teller.
  var speech: WorkerSpeech?
  /// Reason why the window waits for the exit of processes that could not be killed; nil if it does not.
  var holdUp: Remark?
  /// Time of a kill after a deadline or a violation of the protocol, in attended time (see `AttendedTime`). Nil if
  /// there was no such kill, after the exit, and after the process was logged; see ``undyingAt``.
  var killedAt: MonotonicTime?
  /// Time at which a process that has still not exited after the kill is logged.
  var undyingAt: MonotonicTime? { killedAt.map { $0 + .seconds(10) } }
  override var nextJudgement: MonotonicTime? { .earlier(super.nextJudgement, undyingAt) }
  var customers: Int64 = 0
  /// Generation that is being replaced because it has reached a limit of `RecyclePolicy`.
  var recycledGeneration: Generation = 0
  /// Memory of the present teller and the time of measurement. The time stays when the teller is replaced.
  var residentBytes: Int64?
  var measuredAt = MonotonicTime(nanoseconds: 0)

  init(window: Window, history: RestartHistory) {
    self.window = window
    super.init(history: history)
  }
}
