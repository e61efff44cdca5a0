// Delivery of changes to subscribers. It takes a limited part of the coordinator's time, however many subscribers there
// are, so that customers do not wait. Subscribers receive one piece, a snapshot or some events, in turn.
// Invariant: a subscriber to events receives them without a gap. One that reads too slowly receives
// `slow_consumer` and nothing more.

import BankModel
import Posix
import Transport
import Wire

final class SubscriptionSender: CoordinatorComponent {
  private let reports: BankReports
  private let board: BoardFeed

  init(_ dependencies: CoordinatorComponent, _ reports: BankReports, _ board: BoardFeed) {
    self.reports = reports
    self.board = board
    super.init(dependencies)
  }

  /// Starts a subscription, unless the client has reached its limit.
  func begin(_ requester: RequestHandle, _ topic: SubscriptionTable.Topic) {
    guard server.maySubscribe(requester) else { return }
    switch topic {
    case .events: break
    case .state: server.answer(requester, .status(reports.status()), more: true)
    case .board: server.answer(requester, .board(board.begin()), more: true)
    }
    subscriptions.views.admit(requester, to: topic)
  }

  /// Ends a subscription to the dashboard at the client's request. Returns false if the client has no
  /// subscription to the dashboard under this number.
  func withdraw(_ number: UInt32, of session: ControlSession) -> Bool {
    guard let view = subscriptions.views.view(number, of: session), view.topic == .board else { return false }
    subscriptions.views.end(view)
    server.answer(view.requester, .failure(Failure(.withdrawn)))
    return true
  }

  /// Publishes the changes since the last call, and sends pieces to the subscribers that have not received them.
  func notify() {
    subscriptions.publishEvents(all: !queue.machine.hasUncommittedChanges)
    publishStateIfDue()
    board.show()
    guard subscriptions.views.scheduler.hasPending, !context.isHalted else { return }
    // Answers to requests are sent first.
    server.flush()
    if subscriptions.views.scheduler.notify(at: context.now.monotonic, show) {
      subscriptions.views.tidy()
    }
  }

  /// Sends a status to the subscribers to the state after a change. While the business time runs it is also sent
  /// without changes.
  private func publishStateIfDue() {
    guard subscriptions.changed || queue.machine.isTimerRunning, subscriptions.views.count(of: .state) > 0,
      context.now.monotonic.since(subscriptions.reportedAt) >= Subscriptions.watchPause
    else { return }
    subscriptions.views.show(reports.status())
    subscriptions.changed = false
    subscriptions.reportedAt = context.now.monotonic
  }

  /// Sends a subscription its next piece, and returns whether one was sent, all were sent before, or the client must
  /// read first. The piece is written at once, so that the time for writing counts as time for the subscribers.
  private func show(_ view: SubscriptionTable.Subscription)
    -> SubscriberScheduler<SubscriptionTable.Subscription>.Step
  {
    guard subscriptions.views.isBehind(view) else { return .isCurrent }
    guard !subscriptions.views.isLost(view) else {
      endSlow(view)
      return .sent
    }
    let channel = view.requester.session.channel
    // A slow viewer of the dashboard gets the newest snapshot after the last one was sent, so no snapshot is
    // queued.
    let room = view.topic == .board ? 1 : server.share
    if channel.backlog >= room { channel.flush() }
    guard channel.backlog < room else { return .blocked }
    // The flush may have ended the connection.
    guard subscriptions.views.isBehind(view) else { return .isCurrent }
    channel.send(frames: subscriptions.views.next(for: view))
    channel.flush()
    return .sent
  }

  /// Ends a subscription whose client reads too slowly, with a failure.
  private func endSlow(_ view: SubscriptionTable.Subscription) {
    subscriptions.views.end(view)
    server.answer(
      view.requester, .failure(Failure(.slowConsumer, detail: "the events came faster than they were read")))
    context.write(event: "slow_consumer", level: .warn)
  }

  /// Sends the last events when the bank ends, within the limit of unread bytes of all clients together.
  func sendLast() {
    subscriptions.publishEvents(all: true)
    var room = server.limits.totalBacklogLimit
    for view in subscriptions.views.scheduler.all where view.isForEvents {
      while subscriptions.views.isBehind(view) {
        guard !subscriptions.views.isLost(view), room > 0 else {
          endSlow(view)
          break
        }
        let frames = subscriptions.views.next(for: view)
        room -= frames.count
        view.requester.session.channel.send(frames: frames)
      }
      view.requester.session.channel.flush()
    }
  }
}

extension ControlServer {
  /// Returns true if the client may have another subscription. If not, the request is refused.
  ///
  /// - Parameter others: Number of the client's subscriptions in other parts.
  func maySubscribe(_ requester: RequestHandle, besides others: Int = 0) -> Bool {
    let receipts = requester.session.streams.values.count(where: \.isFollowing) + others
    guard requester.session.views + receipts >= limits.openSubscriptions else { return true }
    answer(
      requester,
      .failure(Failure(.badRequest, messageDetail: MessageDetail(.viewsAtMost, limits.openSubscriptions))))
    return false
  }
}
