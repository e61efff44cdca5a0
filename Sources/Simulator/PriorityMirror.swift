// Reversed priorities, for a planted bug of the queue's core.
// Invariant: two reversals cancel each other, so a core with reversed inputs and outputs is correct except for the
// order of the priorities.
import BankModel
import QueueCore

/// Reverses the priorities in a core's inputs and outputs.
enum PriorityMirror {
  /// The reversed priority: the one that is served first becomes the last.
  static func mirrored(_ priority: Priority) -> Priority {
    Priority(.max - priority.number)
  }

  static func mirrored(_ line: Line) -> Line {
    Line(service: line.service, priority: mirrored(line.priority))
  }

  static func mirrored<Graded>(_ graded: Graded, _ priority: WritableKeyPath<Graded, Priority>) -> Graded {
    var mirror = graded
    mirror[keyPath: priority] = mirrored(graded[keyPath: priority])
    return mirror
  }

  static func mirrored(_ customer: Customer) -> Customer { mirrored(customer, \.priority) }

  static func mirrored(_ stored: StoredCustomer) -> StoredCustomer {
    StoredCustomer(customer: mirrored(stored.customer), state: stored.state, dueAt: stored.dueAt)
  }

  static func mirrored(_ dayCounters: DayCounters) -> DayCounters {
    var mirror = dayCounters
    mirror.waiting = LineCounts()
    for (line, count) in dayCounters.waiting.occupied { mirror.waiting[mirrored(line)] = count }
    return mirror
  }

  static func mirrored(_ stored: StoredQueue) -> StoredQueue {
    StoredQueue(
      dayCounters: mirrored(stored.dayCounters),
      delayed: stored.delayed.map { mirrored($0, \.customer.priority) })
  }

  static func mirrored(_ event: QueueEvent) -> QueueEvent {
    switch event {
    case .enqueue(let request, let orders, let total, let isLast, let heldBack, let attachments):
      .enqueue(
        request, orders: orders.map { mirrored($0, \.priority) }, total: total, isLast: isLast,
        heldBack: heldBack, attachments: attachments)
    case .pageLoaded(let line, let page): .pageLoaded(mirrored(line), page.map { mirrored($0) })
    case .delayedLoaded(let page): .delayedLoaded(page.map { mirrored($0, \.customer.priority) })
    case .found(let request, let ticket, let stored):
      .found(request, ticket: ticket, stored.map { mirrored($0) })
    case .deadLoaded(let request, let letters): .deadLoaded(request, letters.map { mirrored($0) })
    default: event
    }
  }

  static func mirrored(_ change: StoreChange) -> StoreChange {
    switch change {
    case .insert(let customer): .insert(mirrored(customer))
    case .insertDelayed(let customer, let dueAt): .insertDelayed(mirrored(customer), dueAt: dueAt)
    case .finish(let customer, let state, let receipt):
      .finish(mirrored(customer), from: state, mirrored(receipt, \.priority))
    case .update(let customer): .update(mirrored(customer))
    case .postpone(let customer, let dueAt): .postpone(mirrored(customer), dueAt: dueAt)
    case .bury(let customer): .bury(mirrored(customer))
    case .revive(let customer, let state): .revive(mirrored(customer), from: state)
    case .record, .remember, .cancelAllCustomers, .released, .attach: change
    }
  }
}
