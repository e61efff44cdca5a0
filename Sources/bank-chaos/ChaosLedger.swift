// Owns what the clients of a chaos run remember themselves: what they asked for and which tickets they were promised.
// Invariant: a key stands for one order for ever; the first promise made for it is the one that counts.
// Failure: a second, different promise for the same key is kept, to be reported.
import BankModel
import Wire

struct ChaosOrder: Sendable, Equatable {
  var key: String
  var count: Int64
  var service: ServiceName
  var priority: Priority
  var amount: Won
  var account: AccountNumber
  /// What is ordered at the juice station; nil for a customer of the bank.
  var juice: String?
  /// What a customer of a command or a worker carries, which may be nothing; nil for a customer of the bank itself.
  var carried: [UInt8]?

  /// Whether somebody's account is moved: by deposits and loans, and by commands, whose service has a ledger.
  private var movesMoney: Bool { amount > 0 }

  var command: ControlCommand {
    .enqueue(
      EnqueueOrder(
        count: count, service: service, priority: priority, amount: movesMoney ? amount : nil,
        account: movesMoney ? account : nil, seed: 1, key: key, article: juice,
        payload: carried.flatMap { $0.isEmpty ? nil : $0 }))
  }
}

struct ChaosTicket: Sendable, Hashable, Comparable {
  var day: BusinessDay
  var number: TicketNumber

  static func < (left: ChaosTicket, right: ChaosTicket) -> Bool {
    (left.day, left.number) < (right.day, right.number)
  }
}

struct ChaosPromise: Sendable, Equatable {
  var day: BusinessDay
  var first: TicketNumber
  var last: TicketNumber
  var count: Int64 { last >= first ? last - first + 1 : 0 }
}

struct ChaosLedger: Sendable {
  /// Every order that was ever sent, whole or in part, in the order in which they were thought of.
  private(set) var orders: [ChaosOrder] = []
  private(set) var promises: [String: ChaosPromise] = [:]
  /// Answers that say something else than the promise before.
  private(set) var contradictions: [(key: String, promise: ChaosPromise)] = []
  private(set) var acknowledged: Int64 = 0
  private(set) var asked: Int64 = 0

  mutating func ask(_ order: ChaosOrder) {
    orders.append(order)
    asked += order.count
  }

  mutating func acknowledge(key: String, _ promise: ChaosPromise) {
    if let known = promises[key] {
      if known != promise { contradictions.append((key, promise)) }
      return
    }
    promises[key] = promise
    acknowledged += promise.count
  }

  var unanswered: [ChaosOrder] { orders.filter { promises[$0.key] == nil } }
}
