// Owns when those who look on are told, and how much of the coordinator's time they get: a share of it, however many they
// are, so that whoever is served does not wait for them. Everybody gets a piece in turn.
// Whoever follows events and falls too far behind is told `too_slow` and no more; nobody is told with a gap.

import BankModel
import Posix
import QueueCore
import Wire

extension Coordinator {
  /// Begins to tell a client of changes, unless it is told of as many as it may be.
  func beginView(_ seat: Followers.Seat, isOfEvents: Bool) {
    guard mayView(seat) else { return }
    if !isOfEvents { server.answer(seat.session, seat.number, .status(statusReport()), more: true) }
    followers.views.admit(seat, isOfEvents: isOfEvents)
  }

  /// Whether a client may have another request that is told of changes; it is refused otherwise.
  func mayView(_ seat: Followers.Seat) -> Bool {
    let receipts = seat.session.streams.values.count(where: \.isFollowing)
    guard seat.session.views + receipts >= ClientLimits.openViews else { return true }
    let detail =
      "at most \(ClientLimits.openViews) requests that watch or follow may be open on one connection"
    server.answer(seat.session, seat.number, .failure(Failure(.badRequest, detail: detail)))
    return false
  }

  /// Tells those who look on what they have not seen, for as long as they may have.
  func tellViews() {
    followers.publishEvents(all: !machine.isUnsettled)
    showPictureIfDue()
    guard followers.views.isOwed, now.monotonic >= followers.views.due else { return }
    let begin = SystemClock.moment().monotonic
    followers.views.isOwed = tellViews(until: begin + Views.turn)
    followers.views.tidy()
    let end = SystemClock.moment().monotonic
    followers.views.due = end + TimeSpan(nanoseconds: end.since(begin).nanoseconds * Views.rest)
  }

  /// Those who watch see the timer run, also while nothing else happens.
  private func showPictureIfDue() {
    guard followers.changed || machine.isTimerRunning, followers.views.watcherCount > 0,
      now.monotonic.since(followers.toldAt) >= Followers.watchPause
    else { return }
    followers.views.show(statusReport())
    followers.changed = false
    followers.toldAt = now.monotonic
  }

  /// Gives everybody a piece, again and again, until the time is up or nobody reads any more.
  ///
  /// - Returns: whether somebody has not seen everything.
  private func tellViews(until deadline: MonotonicTime) -> Bool {
    while true {
      let views = followers.views.all
      var (isOwed, wasTold) = (false, false)
      for step in views.indices {
        let view = views[(followers.views.first + step) % views.count]
        guard followers.views.isBehind(view) else { continue }
        isOwed = true
        if followers.views.isLost(view) {
          endSlow(view)
        } else if view.seat.session.channel.backlog < server.share {
          tell(view)
          wasTold = true
        }
        guard SystemClock.moment().monotonic < deadline else {
          followers.views.first = (followers.views.first + step + 1) % views.count
          return true
        }
      }
      guard wasTold else {
        followers.views.waitsForReaders = isOwed
        return isOwed
      }
    }
  }

  /// It is written at once, so that the time which that takes is part of their share.
  private func tell(_ view: Views.View) {
    let channel = view.seat.session.channel
    channel.send(frames: followers.views.next(for: view))
    channel.flush()
  }

  private func endSlow(_ view: Views.View) {
    followers.views.end(view)
    let failure = Failure(.tooSlow, detail: "the events came faster than they were read")
    server.answer(view.seat.session, view.seat.number, .failure(failure))
    log.write(event: "follower_lost", level: .warn, at: now)
  }

  /// The last events, when the bank ends: as much of them as may wait for all clients together.
  func tellLastEvents() {
    followers.publishEvents(all: true)
    var room = ClientLimits.unreadInAll
    for view in followers.views.all where view.isOfEvents {
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
