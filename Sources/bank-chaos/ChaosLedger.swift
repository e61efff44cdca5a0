// Records of a chaos run's clients: their orders and the tickets that they received.
// Invariant: a key identifies one order permanently; the first tickets received for it count.
// Errors: different tickets for the same key are kept, to be reported.
import BankModel
import Wire

/// A client's request for customers.
struct ChaosOrder: Sendable, Equatable {
  var key: String
  var count: Int64
  var service: ServiceName
  var priority: Priority
  var amount: Won
  var account: AccountNumber
  /// The juice that is ordered; nil for any other service.
  var juice: String?
  /// Payload of a customer of a command or a worker, possibly empty; nil for any other service.
  var payloadSent: [UInt8]?

  private var movesMoney: Bool { amount > 0 }

  /// The request as it is sent; equal for each repetition.
  var command: ControlCommand {
    .enqueue(
      EnqueueParameters(
        count: count, service: service, priority: priority, amount: movesMoney ? amount : nil,
        account: movesMoney ? account : nil, seed: 1, key: key, itemName: juice,
        payload: payloadSent.flatMap { $0.isEmpty ? nil : $0 }))
  }
}

/// A ticket of one business day.
struct ChaosTicket: Sendable, Hashable, Comparable {
  var day: BusinessDay
  var number: TicketNumber

  static func < (left: ChaosTicket, right: ChaosTicket) -> Bool {
    (left.day, left.number) < (right.day, right.number)
  }
}

/// The tickets in the answer to an order.
struct AcknowledgedTickets: Sendable, Equatable {
  var day: BusinessDay
  var first: TicketNumber
  var last: TicketNumber
  var count: Int64 { last >= first ? last - first + 1 : 0 }
}

struct ChaosLedger: Sendable {
  /// The orders, recorded before their first bytes are sent; oldest first.
  private(set) var orders: [ChaosOrder] = []
  /// The first answer to each key.
  private(set) var acknowledgements: [String: AcknowledgedTickets] = [:]
  /// Answers that contradict earlier ones.
  private(set) var contradictions: [(key: String, promise: AcknowledgedTickets)] = []
  /// Number of customers in the first answers, and in the orders.
  private(set) var acknowledged: Int64 = 0
  private(set) var asked: Int64 = 0

  /// Records an order before it is sent.
  mutating func ask(_ order: ChaosOrder) {
    orders.append(order)
    asked += order.count
  }

  /// Records the tickets in an answer; different ones for a known key are a contradiction.
  mutating func acknowledge(key: String, _ promise: AcknowledgedTickets) {
    if let known = acknowledgements[key] {
      if known != promise { contradictions.append((key, promise)) }
      return
    }
    acknowledgements[key] = promise
    acknowledged += promise.count
  }

  var unanswered: [ChaosOrder] { orders.filter { acknowledgements[$0.key] == nil } }
}
