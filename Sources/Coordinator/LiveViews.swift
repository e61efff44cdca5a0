// Owns when those who look on are told, and how much of the coordinator's time they get: a share of it, however many they
// are, so that whoever is served does not wait for them. Everybody gets a piece in turn.
// Whoever follows events and falls too far behind is told `too_slow` and no more; nobody is told with a gap.

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

  /// Begins to tell a client of changes, unless it is told of as many as it may be.
  func begin(_ seat: Seat, _ topic: Views.Topic) {
    guard server.mayView(seat) else { return }
    switch topic {
    case .events: break
    case .state: server.answer(seat, .status(reports.status()), more: true)
    case .board: server.answer(seat, .board(board.begin()), more: true)
    }
    followers.views.admit(seat, to: topic)
  }

  /// Tells a client of no more pictures of the board, as it wishes; false where the request is none for these.
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
    // Whoever has asked for something comes first.
    server.flush()
    if followers.views.audience.tell(at: context.now.monotonic, show) {
      followers.views.tidy()
    }
  }

  /// Those who watch see the timer run, also while nothing else happens.
  private func showPictureIfDue() {
    guard followers.changed || queue.machine.isTimerRunning, followers.views.count(of: .state) > 0,
      context.now.monotonic.since(followers.toldAt) >= Followers.watchPause
    else { return }
    followers.views.show(reports.status())
    followers.changed = false
    followers.toldAt = context.now.monotonic
  }

  /// Gives a view its next piece. It is written at once, so that the time which that takes is part of their share.
  private func show(_ view: Views.View) -> Audience<Views.View>.Step {
    guard followers.views.isBehind(view) else { return .isCurrent }
    guard !followers.views.isLost(view) else {
      endSlow(view)
      return .wasTold
    }
    let channel = view.seat.session.channel
    // Of the board whoever reads slowly is shown the newest picture when the last one has left, and none is kept back.
    let room = view.topic == .board ? 1 : server.share
    if channel.backlog >= room { channel.flush() }
    guard channel.backlog < room else { return .waits }
    // Its client may have left just now.
    guard followers.views.isBehind(view) else { return .isCurrent }
    channel.send(frames: followers.views.next(for: view))
    channel.flush()
    return .wasTold
  }

  private func endSlow(_ view: Views.View) {
    followers.views.end(view)
    server.answer(
      view.seat, .failure(Failure(.tooSlow, detail: "the events came faster than they were read")))
    context.write(event: "follower_lost", level: .warn)
  }

  /// The last events, when the bank ends: as much of them as may wait for all clients together.
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
  /// Whether a client may have another request that is told of changes; it is refused otherwise.
  ///
  /// - Parameter others: those it has of somebody else.
  func mayView(_ seat: Seat, besides others: Int = 0) -> Bool {
    let receipts = seat.session.streams.values.count(where: \.isFollowing) + others
    guard seat.session.views + receipts >= limits.openViews else { return true }
    answer(seat, .failure(Failure(.badRequest, remark: Remark(.viewsAtMost, limits.openViews))))
    return false
  }
}
