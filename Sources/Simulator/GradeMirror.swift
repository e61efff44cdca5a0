// Owns the queue with its grades upside down: what goes into a core and what comes out of it, with the highest grade for
// the lowest. It must not know why. Invariant: twice mirrored is the same again, so a core between two mirrors does
// everything right but the order of the grades.

import BankModel
import QueueCore

/// Turns grades upside down.
enum GradeMirror {
  static func mirrored(_ grade: Grade) -> Grade {
    switch grade {
    case .vvip: .regular
    case .vip: .vip
    case .regular: .vvip
    }
  }

  static func mirrored(_ line: Line) -> Line { Line(service: line.service, grade: mirrored(line.grade)) }

  static func mirrored(_ customer: Customer) -> Customer {
    var customer = customer
    customer.grade = mirrored(customer.grade)
    return customer
  }

  static func mirrored(_ stored: StoredCustomer) -> StoredCustomer {
    StoredCustomer(customer: mirrored(stored.customer), state: stored.state, dueAt: stored.dueAt)
  }

  static func mirrored(_ books: Books) -> Books {
    var mirror = books
    for line in Line.allCases { mirror.waiting[line.index] = books.waiting[mirrored(line).index] }
    return mirror
  }

  static func mirrored(_ stored: StoredQueue) -> StoredQueue {
    StoredQueue(
      books: mirrored(stored.books),
      delayed: stored.delayed.map { DelayedCustomer(customer: mirrored($0.customer), dueAt: $0.dueAt) })
  }

  static func mirrored(_ event: QueueEvent) -> QueueEvent {
    switch event {
    case .enqueue(let request, let orders, let total, let isLast, let heldBack):
      .enqueue(
        request,
        orders: orders.map { order in
          var order = order
          order.grade = mirrored(order.grade)
          return order
        }, total: total, isLast: isLast, heldBack: heldBack)
    case .pageLoaded(let line, let page): .pageLoaded(mirrored(line), page.map { mirrored($0) })
    case .found(let request, let ticket, let stored):
      .found(request, ticket: ticket, stored.map { mirrored($0) })
    case .deadLoaded(let request, let letters): .deadLoaded(request, letters.map { mirrored($0) })
    default: event
    }
  }

  static func mirrored(_ change: StoreChange) -> StoreChange {
    switch change {
    case .insert(let customer): return .insert(mirrored(customer))
    case .finish(let customer, let state, var receipt):
      receipt.grade = mirrored(receipt.grade)
      return .finish(mirrored(customer), from: state, receipt)
    case .update(let customer): return .update(mirrored(customer))
    case .postpone(let customer, let dueAt): return .postpone(mirrored(customer), dueAt: dueAt)
    case .bury(let customer): return .bury(mirrored(customer))
    case .revive(let customer, let state): return .revive(mirrored(customer), from: state)
    case .record, .remember, .cancelEveryone, .released: return change
    }
  }
}
