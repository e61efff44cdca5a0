// Observation of a killed worker and its customer in the snapshots (`BoardFrame`).
// Invariant: times are from the coordinator's clock. The time until the customer was served again runs from the exit to
// the next start. If the time of one of the two is unknown, the result is an upper bound, and `isExact` is false.
import Wire

/// Observes a killed process in the snapshots: its exit, its successor, and its customer.
package struct KillTracker: Sendable, Equatable {
  /// What is known of the process and of its customer.
  package enum Stage: Sendable, Equatable {
    /// The kill was requested.
    case ordered
    /// The process exited with this customer, or without one. The time is in milliseconds since 1970. If the exit was
    /// not observed, the time is that of the last observation of the process (a lower bound), or, without a customer,
    /// the time of the frame (an upper bound).
    case died(ticket: Int64?, at: Int64)
    /// The customer is served again, after exactly or at most this number of milliseconds.
    case served(ticket: Int64, window: String, after: Int64, isExact: Bool)
    /// A successor is ready, and no customer of the process is known, or the business day of its customer has ended.
    /// The milliseconds count from the exit to the frame that shows the successor; nil if no event of the exit was
    /// seen, or if the day has ended.
    case replaced(generation: Int64, after: Int64?)
    /// The customer was cancelled, also by a reset, or became a dead letter.
    case ended(ticket: Int64)
  }

  /// Time, customer and newest event number of the last frame that showed the process running.
  private struct Observation: Equatable {
    var time: Int64
    var ticket: Int64?
    var sequence: Int64
  }

  package let window: String
  package let generation: Int64
  package let pid: Int32
  package private(set) var stage = Stage.ordered
  /// Process id of a later process of the window that was ready.
  package private(set) var successor: Int32?
  /// True if the coordinator gave the window up, or the last frame does not contain the window any more.
  private var hasNoSuccessor = false
  /// The last observation of the running process; nil if no frame has shown it.
  private var lastObservation: Observation?
  /// Events up to this number are not later than the exit.
  private var exitSequence: Int64 = 0
  /// True if the event of the exit was in a frame.
  private var isExitObserved = false
  /// Generation of the coordinator, and business day of the customer. A restarted coordinator reuses event numbers, and
  /// another day ticket numbers.
  private var coordinator: Int64 = 0
  private var day: Int64 = 0

  /// Starts the observation with the kill request.
  ///
  /// - Parameter frame: the last frame before the request, or nil.
  package init(window: String, generation: Int64, pid: Int32, in frame: BoardFrame?) {
    (self.window, self.generation, self.pid) = (window, generation, pid)
    if let frame { observe(in: frame) }
  }

  /// True if `other` observes the same process.
  package func isOf(_ other: KillTracker) -> Bool { window == other.window && pid == other.pid }

  /// True if nothing more can become known of the customer.
  package var isOver: Bool {
    switch stage {
    case .ordered, .died: false
    case .served, .replaced, .ended: true
    }
  }

  /// True if the window has a successor or will get none, and nothing more can become known of the customer.
  package var isSettled: Bool {
    guard successor != nil || hasNoSuccessor else { return false }
    return if case .died(nil, _) = stage { true } else { isOver }
  }

  /// Customer of the process; nil if none is known, before the exit was observed, or after the end of its day.
  package var ticket: Int64? {
    switch stage {
    case .died(let ticket, _): ticket
    case .served(let ticket, _, _, _), .ended(let ticket): ticket
    case .ordered, .replaced: nil
    }
  }

  /// Milliseconds until the customer of the killed process was served again, if known exactly.
  package var milliseconds: Int64? {
    if case .served(_, _, let after, true) = stage { after } else { nil }
  }

  /// Updates the observation from the next snapshot.
  package mutating func handle(_ frame: BoardFrame) {
    if stage == .ordered { findExit(in: frame) }
    guard stage != .ordered else { return observe(in: frame) }
    // A restarted coordinator counts events from 1, and its events are later than the exit.
    if frame.coordinator.generation != coordinator {
      (coordinator, exitSequence) = (frame.coordinator.generation, 0)
    }
    findSuccessor(in: frame)
    guard case .died(let ticket, let moment) = stage else { return }
    if let ticket {
      findCustomer(ticket, in: frame, since: moment)
    } else if let next = next(in: frame), next.isReady {
      let after = isExitObserved ? Self.span(from: moment, to: frame.time) : nil
      stage = .replaced(generation: next.generation, after: after)
    }
  }

  private mutating func observe(in frame: BoardFrame) {
    guard let row = frame.windows.first(where: { $0.window == window && $0.pid == pid }) else { return }
    lastObservation = Observation(
      time: frame.time, ticket: row.tickets.first, sequence: frame.events.last?.sequence ?? 0)
    (coordinator, day) = (frame.coordinator.generation, frame.day)
  }

  /// The row of the window if it has another process or waits for one. A restarted coordinator may reuse generations,
  /// so the process id is compared, too.
  private func next(in frame: BoardFrame) -> BoardWindow? {
    frame.windows.first { $0.window == window && ($0.generation > generation || $0.pid != pid) }
  }

  /// Looks for the next process of the window, or for a sign that there will be none.
  private mutating func findSuccessor(in frame: BoardFrame) {
    let next = next(in: frame)
    if let next, next.isReady { successor = next.pid }
    hasNoSuccessor = next?.isFailed == true || !frame.windows.contains { $0.window == window }
  }

  /// Looks for the exit of the process, and for the customer that it had.
  private mutating func findExit(in frame: BoardFrame) {
    let death = frame.events.first { $0.kind == .died && $0.window == window && $0.pid == pid }
    if let death {
      (stage, exitSequence, isExitObserved) = (
        .died(ticket: death.ticket, at: death.time), death.sequence, true
      )
    } else if let now = frame.windows.first(where: { $0.window == window }), now.pid != pid {
      // The frame does not contain the event of the exit.
      if let lastObservation, let ticket = lastObservation.ticket,
        hasLeftProcess(ticket, in: frame, since: lastObservation.time)
      {
        (stage, exitSequence) = (.died(ticket: ticket, at: lastObservation.time), lastObservation.sequence)
        return
      }
      stage = .died(ticket: nil, at: frame.time)
    } else {
      return
    }
    (coordinator, day) = (frame.coordinator.generation, frame.day)
  }

  /// True if the process no longer has the customer: the customer waits, or another process serves it or has started
  /// it after `moment`.
  private func hasLeftProcess(_ ticket: Int64, in frame: BoardFrame, since moment: Int64) -> Bool {
    guard frame.day == day else { return false }
    return frame.waiting.contains { $0.ticket == ticket } || frame.serving.contains { $0.ticket == ticket }
      || frame.events.contains {
        $0.kind == .started && $0.ticket == ticket && $0.pid != pid && $0.time > moment
      }
  }

  /// Looks for the next start, or the end, of the customer whose process exited at `moment` or later.
  private mutating func findCustomer(_ ticket: Int64, in frame: BoardFrame, since moment: Int64) {
    /// Stage of the customer after a window serves it again: at `time`, or at the latest then if `isExact` is false.
    func servedAgain(_ window: String?, at time: Int64, isExact: Bool) -> Stage {
      .served(
        ticket: ticket, window: window ?? self.window, after: Self.span(from: moment, to: time),
        isExact: isExact && isExitObserved)
    }
    for event in frame.events where event.sequence > exitSequence && event.pid != pid {
      switch event.kind {
      case .reset: return stage = .ended(ticket: ticket)
      case _ where event.ticket != ticket: continue
      case .started: return stage = servedAgain(event.window, at: event.time, isExact: true)
      // The event of the start was missed, so this time is an upper bound.
      case .served: return stage = servedAgain(event.window, at: event.time, isExact: false)
      case .cancelled, .dead: return stage = .ended(ticket: ticket)
      default: continue
      }
    }
    // On another day the same number belongs to another customer, and this one cannot be observed any more.
    guard frame.day == day else {
      if let next = next(in: frame), next.isReady {
        stage = .replaced(generation: next.generation, after: nil)
      }
      return
    }
    if let now = frame.serving.first(where: { $0.ticket == ticket && $0.since >= moment }) {
      return stage = servedAgain(now.window, at: now.since, isExact: true)
    }
    // The frame may lack events since the exit, but it has all waiting customers, and no customer is
    // delayed. If this customer is not among them, it counts as served.
    let hasMissedEvents =
      (frame.events.first?.sequence ?? 0) > exitSequence && frame.hidden.waiting == 0
      && frame.counts.delayed == 0
    guard hasMissedEvents, !frame.waiting.contains(where: { $0.ticket == ticket }) else { return }
    stage = servedAgain(nil, at: frame.time, isExact: false)
  }

  /// Difference of two times, at least 0 and without overflow.
  private static func span(from: Int64, to: Int64) -> Int64 {
    let (span, isOver) = to.subtractingReportingOverflow(from)
    return isOver ? .max : max(0, span)
  }
}

extension BoardWindow {
  /// True if the process of the window can serve or is serving.
  fileprivate var isReady: Bool { state == .idle || state == .serving }
}
