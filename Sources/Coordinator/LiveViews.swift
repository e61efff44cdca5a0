// Delivery of changes to subscribers, in a limited share of the coordinator's time, however many subscribers there are,
// so that customers do not wait. Each subscriber receives one piece in turn.
// Invariant: a subscriber to events receives them without a gap. One that reads too slowly receives
// `slow_consumer` and nothing more.

import BankModel
import Posix
import Transport
import Wire

final class LiveViews: BankPart {
  private let reports: BankReports
  private let board: BoardFeed

  init(_ ground: BankPart, _ reports: BankReports, _ board: BoardFeed) {
    self.reports = reports
    self.board = board
    super.init(ground)
  }

  /// Starts a subscription, unless the client has reached its limit.
  func begin(_ seat: Seat, _ topic: Views.Topic) {
    guard server.mayView(seat) else { return }
    switch topic {
    case .events: break
    case .state: server.answer(seat, .status(reports.status()), more: true)
    case .board: server.answer(seat, .board(board.begin()), more: true)
    }
    followers.views.admit(seat, to: topic)
  }

  /// Ends a subscription to the dashboard at the client's request. Returns false if the client has no
  /// subscription to the dashboard under this number.
  func withdraw(_ number: UInt32, of session: ControlSession) -> Bool {
    guard let view = followers.views.view(number, of: session), view.topic == .board else { return false }
    followers.views.end(view)
    server.answer(view.seat, .failure(Failure(.withdrawn)))
    return true
  }

  func tell() {
    followers.publishEvents(all: !queue.machine.isUnsettled)
    showPictureIfDue()
    board.show()
    guard followers.views.audience.isOwed, !context.isCutOff else { return }
    // Answers to requests are sent first.
    server.flush()
    if followers.views.audience.tell(at: context.now.monotonic, show) {
      followers.views.tidy()
    }
  }

  /// Sends a status to the subscribers to the state after a change. While the business time runs it is also sent
  /// without changes.
  private func showPictureIfDue() {
    guard followers.changed || queue.machine.isTimerRunning, followers.views.count(of: .state) > 0,
      context.now.monotonic.since(followers.toldAt) >= Followers.watchPause
    else { return }
    followers.views.show(reports.status())
    followers.changed = false
    followers.toldAt = context.now.monotonic
  }

  /// Sends a subscription its next piece. The piece is written at once, so that the time for writing counts
  /// toward the share of the subscribers.
  private func show(_ view: Views.View) -> Audience<Views.View>.Step {
    guard followers.views.isBehind(view) else { return .isCurrent }
    guard !followers.views.isLost(view) else {
      endSlow(view)
      return .wasTold
    }
    let channel = view.seat.session.channel
    // A slow viewer of the dashboard gets the newest snapshot after the last one was sent, so no snapshot is
    // queued.
    let room = view.topic == .board ? 1 : server.share
    if channel.backlog >= room { channel.flush() }
    guard channel.backlog < room else { return .waits }
    // The flush may have ended the connection.
    guard followers.views.isBehind(view) else { return .isCurrent }
    channel.send(frames: followers.views.next(for: view))
    channel.flush()
    return .wasTold
  }

  private func endSlow(_ view: Views.View) {
    followers.views.end(view)
    server.answer(
      view.seat, .failure(Failure(.tooSlow, detail: "the events came faster than they were read")))
    context.write(event: "slow_consumer", level: .warn)
  }

  /// Sends the last events when the bank ends, within the limit of unread bytes of all clients together.
  func tellLast() {
    followers.publishEvents(all: true)
    var room = server.limits.unreadInAll
    for view in followers.views.audience.all where view.isOfEvents {
      while followers.views.isBehind(view) {
        guard !followers.views.isLost(view), room > 0 else {
          endSlow(view)
          break
        }
        let frames = followers.views.next(for: view)
        room -= frames.count
        view.seat.session.channel.send(frames: frames)
      }
      view.seat.session.channel.flush()
    }
  }
}

extension ControlServer {
  /// Returns true if the client may have another subscription. If not, the request is refused.
  ///
  /// - Parameter others: Number of the client's subscriptions in other parts.
  func mayView(_ seat: Seat, besides others: Int = 0) -> Bool {
    let receipts = seat.session.streams.values.count(where: \.isFollowing) + others
    guard seat.session.views + receipts >= limits.openViews else { return true }
    answer(seat, .failure(Failure(.badRequest, remark: Remark(.viewsAtMost, limits.openViews))))
    return false
  }
}
