// Protocol states of the process at a window: which messages are allowed, when, and how often.
// Invariant: no message is accepted before the hello. A process that sends a message out of order is killed.

import BankModel
import Configuration
import Logging
import Posix
import Supervision
import Time
import Transport
import Wire

extension TellerSupervisor {
  /// Handles a message of the process at a window, if it is allowed in the present phase.
  func handle(_ message: TellerMessage, from slot: SupervisedTeller) {
    switch (slot.phase, message) {
    case (.starting, .hello(let hello)): greet(hello, at: slot)
    case (.welcomed, .ready):
      slot.phase = .ready
      slot.readyDeadline = nil
      slot.history.becameReady(at: loop.moment().monotonic)
      let isWorker = slot.kind == .worker
      onEvent?(
        slot.window, slot.generation,
        isWorker ? .workerReady(pid: slot.pid, inFlight: slot.inFlight) : .ready(pid: slot.pid))
    case (.ready, .outOfStock) where slot.kind == .worker:
      expel(slot.window, slot.generation, reason: "reported a shortage of stock", at: loop.moment())
    case (.ready, .done), (.ready, .outOfStock), (.ready, .worked):
      slot.history.didWork()
      onEvent?(slot.window, slot.generation, .message(message))
    case (.ready, .failed), (.ready, .returned): onEvent?(slot.window, slot.generation, .message(message))
    case (.ready, .beat), (.ready, .progressed):
      if slot.beats.isTooMany() {
        let reason = "sent more than \(TellerLimits.beats) reports of progress in a second"
        expel(slot.window, slot.generation, reason: reason, at: loop.moment())
      }
      onEvent?(slot.window, slot.generation, .message(message))
    case (.leaving, _): break
    case (_, _):
      expel(slot.window, slot.generation, reason: "sent a message out of turn", at: loop.moment())
      onEvent?(slot.window, slot.generation, .message(message))
    }
  }

  /// Checks the hello of a process, and sends its settings or a refusal.
  private func greet(_ hello: Hello, at slot: SupervisedTeller) {
    if slot.kind == .worker { return acceptWorkerProgram(hello, at: slot) }
    let role = slot.kind.peerRole(of: slot.window.service)
    if let reason = objection(to: hello, as: role) {
      let detail = "window \(slot.window): protocol \(hello.version) (build \(hello.build)) is not supported"
      refuse(slot, .refused(Refusal(reason: reason, build: BuildIdentity.current, detail: detail)))
      return write("hello_refused", .error, about: slot) { $0.field("msg", detail) }
    }
    guard slot.channel != nil, let orders = orders?(slot.window, slot.generation) else { return }
    slot.phase = .welcomed
    slot.isOutdated = false
    send(slot.window, .welcome(orders))
  }

  /// Accepts a worker program. The program need not be of the same build, but must use the same protocol
  /// version.
  private func acceptWorkerProgram(_ hello: Hello, at slot: SupervisedTeller) {
    let reason: Refusal.Reason? =
      hello.version != protocolVersion ? .version : hello.role != .worker ? .hello : nil
    if let reason {
      let detail =
        reason == .version ? hello.otherVersion : "the role of a program at a window is worker"
      refuse(slot, .refused(Refusal(reason: reason, build: BuildIdentity.current, detail: detail)))
      return write("hello_refused", .error, about: slot) { $0.field("msg", detail) }
    }
    guard slot.channel != nil, let terms = workerTerms?(slot.window) else { return }
    slot.phase = .welcomed
    slot.isOutdated = false
    slot.inFlight = hello.offer?.inFlight
    send(slot.window, .workerAccepted(terms))
  }
}

/// State of one window in the supervisor: its worker process and the counters of the process.
final class SupervisedTeller: SupervisedProcess<TellerMessage, MessageToTeller> {
  let window: Window
  /// Kind of the present process, even if the configuration has changed since.
  var kind = ServiceKind.work
  /// Number of customers that a worker takes at once, as the worker reported; nil if it reported none.
  var inFlight: Int32?
  /// True if messages are to be flushed.
  var isUnflushed = false
  /// Counter of the progress reports of the present process.
  var beats = BeatCount()
  /// True if the teller's settings have changed since the present process received them in its welcome.
  var isOutdated = false
  /// Exit of the last process; nil if none has exited, or if the last one could not start.
  var lastExit: ProcessEnd?
  /// Output of a worker program outside its channel; nil for a teller.
  var workerOutput: WorkerOutputReader?
  /// Reason why the window waits for the exit of processes that could not be killed; nil if it does not.
  var holdUp: MessageDetail?
  /// Time of a kill after a deadline or a violation of the protocol, in listening time (see `ListeningClock`). Nil if
  /// there was no such kill, after the exit, and after the process was logged; see ``unkillableAt``.
  var killedAt: MonotonicTime?
  /// Time at which a process that has still not exited after the kill is logged.
  var unkillableAt: MonotonicTime? { killedAt.map { $0 + .seconds(10) } }
  override var nextJudgement: MonotonicTime? { .earlier(super.nextJudgement, unkillableAt) }
  /// Number of customers that the present process has answered.
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
