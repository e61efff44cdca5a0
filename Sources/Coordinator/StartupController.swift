// Opening of the bank, and the end of a bank that cannot open.
// Invariant: a bank opens once, when its windows are settled (`TellerSupervisor.isSettled`) and each of its service
// processes is ready or has failed.

import BankModel
import Time
import Wire

final class StartupController: CoordinatorComponent {
  /// Time for which a bank that cannot open waits for a client, to report the reason.
  private static let failurePatience = TimeSpan.seconds(5)

  private let reports: BankReports
  private var isOpen = false
  /// Reason why the bank cannot open, reported until `reportUntil`.
  private var failure: Failure?
  private var reportUntil: MonotonicTime?

  init(_ dependencies: CoordinatorComponent, _ reports: BankReports) {
    self.reports = reports
    super.init(dependencies)
  }

  /// Once windows and services are settled: records that the bank is open, and answers the clients that wait for this.
  /// This is checked at the end of an iteration and not at the event of a teller, because a closed window is removed
  /// only after the exit of its teller was handled.
  func answerWaitingClients() {
    guard failure == nil, !isOpen || !subscriptions.windowWaiters.isEmpty, tellerSupervisor.isSettled,
      serviceSupervisor.isSettled
    else { return }
    if !isOpen, !context.isEnding {
      isOpen = true
      tellerSupervisor.hasOpened = true
      context.write(event: "opened") { $0.field("day", queue.machine.dayCounters.day) }
      context.bindings.guardianSupervisor?.opened(
        windows: tellerSupervisor.slots.count, day: queue.machine.dayCounters.day)
    }
    let requesters = subscriptions.takeWindowWaiters()
    guard !requesters.isEmpty else { return }
    let report = reports.status()
    for requester in requesters { server.answer(requester, .status(report)) }
  }

  /// Handles a window that was given up. A bank that has not opened yet exits; an open bank continues with the
  /// other windows.
  func windowGivenUp(_ window: Window, lastExitReason: MessageDetail) {
    let failure = Failure(.startFailed, subject: context.name(of: window), messageDetail: lastExitReason)
    let requesters = subscriptions.takeWindowWaiters()
    for requester in requesters { server.answer(requester, .failure(failure)) }
    guard !isOpen, self.failure == nil else { return }
    self.failure = failure
    tellerSupervisor.closeAll()
    tellerSupervisor.killAll()
    // The process that started this one may not have sent its request yet: wait for the request until
    // `reportUntil`.
    if requesters.isEmpty, !server.sessions.isEmpty {
      reportUntil = context.now.monotonic + Self.failurePatience
    } else {
      context.end(with: 1)
    }
  }

  /// Returns false if the bank has opened or may still open. If it could not open, answers the request with the reason,
  /// and ends the process. A follow request is ignored, because its client sends another request next.
  func refuses(_ request: ControlRequest, _ session: ControlSession) -> Bool {
    guard let failure else { return false }
    if case .follow = request.command { return true }
    // A list gets one answer for all its parts, so later parts must not get another one.
    server.refusePending(request, of: session, reason: failure)
    context.end(with: 1)
    return true
  }

  var nextDeadline: MonotonicTime? { reportUntil }
  /// Exits if no client has asked in time why the bank cannot open.
  func runTimers() { if let due = reportUntil, due <= context.now.monotonic { context.end(with: 1) } }
}
