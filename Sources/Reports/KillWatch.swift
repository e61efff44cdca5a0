// Owns what became of a teller that was killed by hand, and of its customer, as frame after frame of the board tells it: for a
// command, for the dashboard and for the page. It knows no clock.
// Invariant: the time is the one between two events of the coordinator's own clock; where these have gone by unseen, as they
// may at full speed or while nobody looks, the one told is no shorter than it was, and is marked as such.
import Wire

/// Follows one process from the order to kill it.
package struct KillWatch: Sendable, Equatable {
  package enum Stage: Sendable, Equatable {
    /// The kill was asked for.
    case ordered
    /// It died with this customer. The moment is in milliseconds since 1970; where nobody saw it, it did not die before that.
    case died(ticket: Int64?, at: Int64)
    /// The customer is at a window again, after so many milliseconds at the most or exactly.
    case served(ticket: Int64, window: String, after: Int64, isExact: Bool)
    /// Nobody was at the window, and a successor is ready; nil where of its death, or of whom it had, no frame has told.
    case succeeded(generation: Int64, after: Int64?)
    /// The customer was taken out, or has become a dead letter.
    case ended(ticket: Int64)
  }

  /// Where it was seen last, and with whom.
  private struct Sight: Equatable {
    var time: Int64
    var ticket: Int64?
    var sequence: Int64
  }

  package let window: String
  package let generation: Int64
  package let pid: Int32
  package private(set) var stage = Stage.ordered
  /// The next process at the window, when it is ready.
  package private(set) var successor: Int32?
  /// Nobody comes to the window any more: it was given up, or is closed.
  private var staysEmpty = false
  /// The last that was seen of it alive; nil where no frame has shown it.
  private var sight: Sight?
  private var diedIn: Int64 = 0
  private var isDeathSeen = false
  /// The coordinator and the day in which it died: events and tickets of others have the same numbers.
  private var coordinator: Int64 = 0
  private var day: Int64 = 0

  /// The order to kill a process is given.
  ///
  /// - Parameter frame: what is known of the bank at that moment; nil for nothing.
  package init(window: String, generation: Int64, pid: Int32, in frame: BoardFrame?) {
    (self.window, self.generation, self.pid) = (window, generation, pid)
    if let frame { see(in: frame) }
  }

  /// Whether the other follows the same process.
  package func isOf(_ other: KillWatch) -> Bool { window == other.window && pid == other.pid }

  /// Whether there is nothing more to find out.
  package var isOver: Bool {
    switch stage {
    case .ordered, .died: false
    case .served, .succeeded, .ended: true
    }
  }

  /// Whether the window has a successor, too, where it is to get one.
  package var isSettled: Bool {
    guard successor != nil || staysEmpty else { return false }
    return if case .died(nil, _) = stage { true } else { isOver }
  }

  /// Whom it was serving; nil for nobody.
  package var ticket: Int64? {
    switch stage {
    case .died(let ticket, _): ticket
    case .served(let ticket, _, _, _), .ended(let ticket): ticket
    case .ordered, .succeeded: nil
    }
  }

  /// Milliseconds until its customer was served again, where they are known exactly.
  package var milliseconds: Int64? {
    if case .served(_, _, let after, true) = stage { after } else { nil }
  }

  /// Looks at the next frame.
  package mutating func hear(_ frame: BoardFrame) {
    if stage == .ordered { findDeath(in: frame) }
    guard stage != .ordered else { return see(in: frame) }
    // A coordinator that was replaced counts its events anew, and all of them are later.
    if frame.coordinator.generation != coordinator {
      (coordinator, diedIn) = (frame.coordinator.generation, 0)
    }
    findSuccessor(in: frame)
    guard case .died(let ticket, let moment) = stage else { return }
    if let ticket {
      findCustomer(ticket, in: frame, since: moment)
    } else if let next = next(in: frame), next.isReady {
      let after = isDeathSeen ? Self.span(from: moment, to: frame.time) : nil
      stage = .succeeded(generation: next.generation, after: after)
    }
  }

  private mutating func see(in frame: BoardFrame) {
    guard let row = frame.windows.first(where: { $0.window == window && $0.pid == pid }) else { return }
    sight = Sight(time: frame.time, ticket: row.tickets.first, sequence: frame.events.last?.sequence ?? 0)
    (coordinator, day) = (frame.coordinator.generation, frame.day)
  }

  /// The window as another process has it, or is to have it. A coordinator that was replaced counts generations anew, too.
  private func next(in frame: BoardFrame) -> BoardWindow? {
    frame.windows.first { $0.window == window && ($0.generation > generation || $0.pid != pid) }
  }

  private mutating func findSuccessor(in frame: BoardFrame) {
    let next = next(in: frame)
    if let next, next.isReady { successor = next.pid }
    staysEmpty = next?.isFailed == true || !frame.windows.contains { $0.window == window }
  }

  private mutating func findDeath(in frame: BoardFrame) {
    let death = frame.events.first { $0.kind == .died && $0.window == window && $0.pid == pid }
    if let death {
      (stage, diedIn, isDeathSeen) = (.died(ticket: death.ticket, at: death.time), death.sequence, true)
    } else if let now = frame.windows.first(where: { $0.window == window }), now.pid != pid {
      // So much has happened that its death was among what the frame has no room for.
      if let sight, let ticket = sight.ticket, isBack(ticket, in: frame, since: sight.time) {
        (stage, diedIn) = (.died(ticket: ticket, at: sight.time), sight.sequence)
        return
      }
      stage = .died(ticket: nil, at: frame.time)
    } else {
      return
    }
    (coordinator, day) = (frame.coordinator.generation, frame.day)
  }

  /// Whether somebody whom the process was seen with has come back from it: waits, or is somewhere else by now.
  private func isBack(_ ticket: Int64, in frame: BoardFrame, since moment: Int64) -> Bool {
    guard frame.day == day else { return false }
    return frame.waiting.contains { $0.ticket == ticket } || frame.serving.contains { $0.ticket == ticket }
      || frame.events.contains {
        $0.kind == .started && $0.ticket == ticket && $0.pid != pid && $0.time > moment
      }
  }

  private mutating func findCustomer(_ ticket: Int64, in frame: BoardFrame, since moment: Int64) {
    func again(_ window: String?, at time: Int64, isExact: Bool) -> Stage {
      .served(
        ticket: ticket, window: window ?? self.window, after: Self.span(from: moment, to: time),
        isExact: isExact && isDeathSeen)
    }
    for event in frame.events where event.sequence > diedIn && event.pid != pid {
      switch event.kind {
      case .reset: return stage = .ended(ticket: ticket)
      case _ where event.ticket != ticket: continue
      case .started: return stage = again(event.window, at: event.time, isExact: true)
      // The start has gone by unseen; it was before that.
      case .served: return stage = again(event.window, at: event.time, isExact: false)
      case .cancelled, .dead: return stage = .ended(ticket: ticket)
      default: continue
      }
    }
    // On another day the same number is another customer, and this one is not told of any more.
    guard frame.day == day else {
      if let next = next(in: frame), next.isReady {
        stage = .succeeded(generation: next.generation, after: nil)
      }
      return
    }
    if let now = frame.serving.first(where: { $0.ticket == ticket && $0.since >= moment }) {
      return stage = again(now.window, at: now.since, isExact: true)
    }
    // Whoever neither waits nor is anywhere to be seen, when everything that was told then has gone by, has been served.
    let isOutOfSight =
      (frame.events.first?.sequence ?? 0) > diedIn && frame.hidden.waiting == 0 && frame.counts.delayed == 0
    guard isOutOfSight, !frame.waiting.contains(where: { $0.ticket == ticket }) else { return }
    stage = again(nil, at: frame.time, isExact: false)
  }

  private static func span(from: Int64, to: Int64) -> Int64 {
    let (span, isOver) = to.subtractingReportingOverflow(from)
    return isOver ? .max : max(0, span)
  }
}

extension BoardWindow {
  fileprivate var isReady: Bool { state == .idle || state == .serving }
}
