// Owns the queue with its grades upside down: what goes into a core and what comes out of it, with the highest grade for
// the lowest. It must not know why. Invariant: twice mirrored is the same again, so a core between two mirrors does
// everything right but the order of the grades.

import BankModel
import QueueCore

enum GradeMirror {
  static func mirrored(_ grade: Grade) -> Grade {
    switch grade {
    case .vvip: .regular
    case .vip: .vip
    case .regular: .vvip
    }
  }

  static func mirrored(_ line: Line) -> Line { Line(service: line.service, grade: mirrored(line.grade)) }

  static func mirrored<Graded>(_ graded: Graded, _ grade: WritableKeyPath<Graded, Grade>) -> Graded {
    var mirror = graded
    mirror[keyPath: grade] = mirrored(graded[keyPath: grade])
    return mirror
  }

  static func mirrored(_ customer: Customer) -> Customer { mirrored(customer, \.grade) }

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
        orders: orders.map { mirrored($0, \.grade) }, total: total, isLast: isLast, heldBack: heldBack)
    case .pageLoaded(let line, let page): .pageLoaded(mirrored(line), page.map { mirrored($0) })
    case .found(let request, let ticket, let stored):
      .found(request, ticket: ticket, stored.map { mirrored($0) })
    case .deadLoaded(let request, let letters): .deadLoaded(request, letters.map { mirrored($0) })
    default: event
    }
  }

  static func mirrored(_ change: StoreChange) -> StoreChange {
    switch change {
    case .insert(let customer): .insert(mirrored(customer))
    case .finish(let customer, let state, let receipt):
      .finish(mirrored(customer), from: state, mirrored(receipt, \.grade))
    case .update(let customer): .update(mirrored(customer))
    case .postpone(let customer, let dueAt): .postpone(mirrored(customer), dueAt: dueAt)
    case .bury(let customer): .bury(mirrored(customer))
    case .revive(let customer, let state): .revive(mirrored(customer), from: state)
    case .record, .remember, .cancelEveryone, .released: change
    }
  }
}
