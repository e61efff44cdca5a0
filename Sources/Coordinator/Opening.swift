// Owns whether the bank has opened, and what becomes of one that cannot: why, and how long it stays to say so. It opens
// nothing itself: the windows open by the supervisor.
// Invariants: a bank opens once, when every window has a teller at work, and whoever waits for its windows is told when they
// are as they shall be; one that cannot open ends by itself, and serves nobody before.

import BankModel
import Time
import Wire

final class Opening: BankPart {
  /// How long a bank that cannot open waits for somebody to whom it could say so.
  private static let failurePatience = TimeSpan.seconds(5)

  private let reports: BankReports
  private var isOpen = false
  /// Why the bank cannot open, and until when it stays to say so.
  private var failure: Failure?
  private var tellUntil: MonotonicTime?

  init(_ ground: BankPart, _ reports: BankReports) {
    self.reports = reports
    super.init(ground)
  }

  /// Whoever waits until the windows are as they shall be is told when they are. This is looked at when the turn ends
  /// and not when a teller is heard: a window that was closed is gone only after its teller's end has been dealt with.
  func tellWaiting() {
    guard failure == nil, !isOpen || !followers.windowWaiters.isEmpty, tellerSupervisor.isSettled,
      serviceSupervisor.isSettled
    else { return }
    if !isOpen, !context.isEnding {
      isOpen = true
      tellerSupervisor.hasOpened = true
      context.write(event: "opened") { $0.field("day", queue.machine.books.day) }
      context.bindings.guardianship?.opened(
        windows: tellerSupervisor.posts.count, day: queue.machine.books.day)
    }
    let seats = followers.takeWindowWaiters()
    guard !seats.isEmpty else { return }
    let report = reports.status()
    for seat in seats { server.answer(seat, .status(report)) }
  }

  /// A window was given up. A bank that has never opened ends; an open one goes on with the others.
  func windowGivenUp(_ window: Window, lastEnd: Remark) {
    let failure = Failure(.windowsFailed, subject: context.name(of: window), remark: lastEnd)
    let seats = followers.takeWindowWaiters()
    for seat in seats { server.answer(seat, .failure(failure)) }
    guard !isOpen, self.failure == nil else { return }
    self.failure = failure
    tellerSupervisor.closeAll()
    tellerSupervisor.killAll()
    // Whoever started this process may not have asked yet: it is told when it does, if it does soon.
    if seats.isEmpty, !server.sessions.isEmpty {
      tellUntil = context.now.monotonic + Self.failurePatience
    } else {
      context.end(with: 1)
    }
  }

  /// Answers whoever asks a bank that could not be opened, which was all that it was still there for. Who begins by
  /// following asks for something next.
  /// - Returns: false where the bank has opened, or still may.
  func refuses(_ request: ControlRequest, _ session: ControlSession) -> Bool {
    guard let failure else { return false }
    if case .follow = request.command { return true }
    // A list has one answer for all of its parts, whoever answers the later ones.
    server.turnAway(request, of: session, saying: failure)
    context.end(with: 1)
    return true
  }

  var nextDeadline: MonotonicTime? { tellUntil }
  func keepTime() { if let due = tellUntil, due <= context.now.monotonic { context.end(with: 1) } }
}
