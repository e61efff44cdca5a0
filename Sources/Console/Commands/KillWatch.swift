// Owns what became of a teller that was killed by hand, and of its customer, as frame after frame of the board tells it.
// Invariant: the time is the one between two events of the coordinator's own clock; where these have gone by unseen, as they
// may at full speed, it is the frame's, and the note says that it was no longer than so.
import Time
import Wire

struct KillWatch: Sendable, Equatable {
  enum Stage: Sendable, Equatable {
    /// The kill was asked for.
    case ordered
    /// It died at this moment, in milliseconds since 1970, with this customer.
    case died(ticket: Int64?, at: Int64)
    /// The customer is at a window again, after so many milliseconds at the most or exactly.
    case served(ticket: Int64, window: String, after: Int64, isExact: Bool)
    /// Nobody was at the window, and a successor is ready; nil where its death was among what no frame has told.
    case succeeded(generation: Int64, after: Int64?)
    /// The customer was taken out, or has become a dead letter.
    case ended(ticket: Int64)
  }

  let window: String
  let generation: Int64
  let pid: Int32
  private(set) var stage = Stage.ordered
  /// The next process at the window, when it is ready.
  private(set) var successor: Int32?
  /// Nobody comes to the window any more: it was given up, or is closed.
  private var staysEmpty = false
  private var diedIn: Int64 = 0
  private var isDeathSeen = false

  init(_ window: BoardWindow, pid: Int32) {
    (self.window, generation, self.pid) = (window.window, window.generation, pid)
  }

  /// Whether there is nothing more to find out.
  var isOver: Bool {
    switch stage {
    case .ordered, .died: false
    case .served, .succeeded, .ended: true
    }
  }

  /// Whether the window has a successor, too, where it is to get one.
  var isSettled: Bool {
    guard successor != nil || staysEmpty else { return false }
    return if case .died(nil, _) = stage { true } else { isOver }
  }

  /// Whom it was serving; nil for nobody.
  var ticket: Int64? {
    switch stage {
    case .died(let ticket, _): ticket
    case .served(let ticket, _, _, _), .ended(let ticket): ticket
    case .ordered, .succeeded: nil
    }
  }

  /// Milliseconds until its customer was served again, where they are known exactly.
  var milliseconds: Int64? { if case .served(_, _, let after, true) = stage { after } else { nil } }

  mutating func hear(_ frame: BoardFrame) {
    if stage == .ordered { findDeath(in: frame) }
    if stage != .ordered { findSuccessor(in: frame) }
    guard case .died(let ticket, let moment) = stage else { return }
    if let ticket {
      findCustomer(ticket, in: frame, since: moment)
    } else if let now = frame.windows.first(where: { $0.window == window }), now.generation > generation,
      now.state == .idle || now.state == .serving
    {
      let after = isDeathSeen ? Self.span(from: moment, to: frame.time) : nil
      stage = .succeeded(generation: now.generation, after: after)
    }
  }

  private mutating func findSuccessor(in frame: BoardFrame) {
    let next = frame.windows.first { $0.window == window && $0.generation > generation }
    if let next, next.state == .idle || next.state == .serving { successor = next.pid }
    staysEmpty = next?.isFailed == true || !frame.windows.contains { $0.window == window }
  }

  private mutating func findDeath(in frame: BoardFrame) {
    let death = frame.events.first { $0.kind == .died && $0.window == window && $0.pid == pid }
    if let death {
      (stage, diedIn, isDeathSeen) = (.died(ticket: death.ticket, at: death.time), death.sequence, true)
    } else if let now = frame.windows.first(where: { $0.window == window }), now.pid != pid {
      // So much has happened that its death was among what the frame has no room for.
      (stage, diedIn) = (.died(ticket: nil, at: frame.time), frame.events.first?.sequence ?? 0)
    }
  }

  private mutating func findCustomer(_ ticket: Int64, in frame: BoardFrame, since moment: Int64) {
    for event in frame.events where event.sequence > diedIn && event.ticket == ticket {
      switch event.kind {
      case .started:
        let after = Self.span(from: moment, to: event.time)
        return stage = .served(ticket: ticket, window: event.window ?? window, after: after, isExact: true)
      case .cancelled, .dead: return stage = .ended(ticket: ticket)
      default: continue
      }
    }
    if let now = frame.serving.first(where: { $0.ticket == ticket && $0.since >= moment }) {
      let after = Self.span(from: moment, to: now.since)
      return stage = .served(ticket: ticket, window: now.window, after: after, isExact: true)
    }
    // Whoever neither waits nor is anywhere to be seen, when everything that was told then has gone by, has been served.
    let isOutOfSight =
      (frame.events.first?.sequence ?? 0) > diedIn && frame.hidden.waiting == 0 && frame.counts.delayed == 0
    guard isOutOfSight, !frame.waiting.contains(where: { $0.ticket == ticket }) else { return }
    let after = Self.span(from: moment, to: frame.time)
    stage = .served(ticket: ticket, window: window, after: after, isExact: false)
  }

  private static func span(from: Int64, to: Int64) -> Int64 {
    let (span, isOver) = to.subtractingReportingOverflow(from)
    return isOver ? .max : max(0, span)
  }
}
