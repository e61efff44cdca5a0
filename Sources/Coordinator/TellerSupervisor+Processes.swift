// Owns what is a teller's own in the life of a supervised process: its welcome, what it may say and when, and when its
// window is given up. A teller without a channel is of no use to anybody.

import BankModel
import Glibc
import Posix
import Supervision
import Transport
import Wire

extension TellerSupervisor: ProcessSupervisor {
  typealias Incoming = TellerMessage
  typealias Outgoing = WindowMessage
  typealias Post = SupervisedTeller

  /// Deaths before being ready after which the bank does not open.
  static let openingPatience = 3
  static let limits = ProcessLimits(frame: TellerLimits.frame, unread: TellerLimits.unread)

  func name(of post: SupervisedTeller) -> (key: StaticString, value: String) {
    ("window", post.window.description)
  }

  func command(for post: SupervisedTeller) -> (program: String, arguments: [String]) {
    let name = post.window.description
    let words = [name, String(post.generation), String(CurrentProcess.pid), home]
    return (programs[post.window.service], words)
  }

  func nextGeneration(at post: SupervisedTeller) -> Generation {
    let last = Kernel.makes("startsGenerationsAnew") ? post.generation : generations[post.window] ?? 0
    generations[post.window] = last + 1
    return last + 1
  }

  func began(_ post: SupervisedTeller, at now: Moment) {
    (post.customers, post.residentBytes) = (0, nil)
    (post.beats, post.beatsSince) = (0, now.monotonic)
    if !Kernel.makes("waitsForTheUnready") { post.readyBy = now.attended + TellerLimits.ready }
  }

  func hear(_ message: TellerMessage, from post: SupervisedTeller) {
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
    case (.ready, .failed), (.ready, .returned): onEvent?(post.window, post.generation, .said(message))
    case (.ready, .beat):
      if floods(post) {
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

  /// Counts a report of progress. The clock is asked once for as many as there may be in a second.
  private func floods(_ post: SupervisedTeller) -> Bool {
    post.beats += 1
    guard post.beats > TellerLimits.beats else { return false }
    let now = SystemClock.moment().monotonic
    defer { (post.beats, post.beatsSince) = (0, now) }
    return now.since(post.beatsSince) < .seconds(1)
  }

  private func greet(_ hello: Hello, at post: SupervisedTeller) {
    if let reason = objection(to: hello, as: post.window.service.peerRole) {
      let detail = "window \(post.window): version \(hello.version) of build \(hello.build) is not mine"
      refuse(post, .refused(Refusal(reason: reason, build: BuildIdentity.current, detail: detail)))
      return write("refused", .error, about: post) { $0.field("msg", detail) }
    }
    guard post.channel != nil, let orders = orders?(post.window, post.generation) else { return }
    post.phase = .welcomed
    post.isOutdated = false
    tell(post.window, .welcome(orders))
  }

  /// A teller that dies closes its channel just before its process is reported as ended, so only those who broke the
  /// channel themselves are named here.
  func channelEnded(_ post: SupervisedTeller, _ end: ChannelEnd) {
    switch end {
    case .endOfFile where post.phase == .leaving:
      // It was told to go and is going.
      post.killAt = loop.moment().attended + TellerLimits.exit
      return
    case .endOfFile, .closedHere: break
    default:
      write("channel_broken", .warn, about: post) {
        $0.field("child", post.pid)
        $0.field("msg", end.description)
      }
    }
    post.phase = .leaving
    post.child?.kill(SIGKILL)
  }

  func ended(_ post: SupervisedTeller, _ status: ExitStatus) {
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
  }

  func decide(_ post: SupervisedTeller, at now: Moment, couldNotStart: Bool) {
    if couldNotStart { post.lastExit = nil }
    guard post.isWanted else { return remove(post.window) }
    // While the bank opens somebody is waiting.
    succeed(
      post, at: now,
      isHopeless: !hasOpened && (couldNotStart || post.history.deathsInARow >= Self.openingPatience))
  }

  func gaveUp(_ post: SupervisedTeller) {
    onEvent?(post.window, post.generation, .givenUp(lastEnd: post.lastEnd ?? Remark(quoting: "")))
  }
}

/// Owns one window as the supervisor of tellers sees it: the teller behind it, and what is counted about it.
final class SupervisedTeller: SupervisedProcess<TellerMessage, WindowMessage> {
  let window: Window
  /// Whether something is to be written to the teller at the end of the turn.
  var isUnflushed = false
  var beats = 0
  var beatsSince = MonotonicTime(nanoseconds: 0)
  /// The present teller was told orders that have changed since.
  var isOutdated = false
  var lastExit: ProcessEnd?
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
