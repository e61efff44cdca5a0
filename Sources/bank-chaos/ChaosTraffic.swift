// Clients of a chaos run. Each sends one order after the other, each order under its own key. A client repeats the
// request with the same key after its connection was lost.
// Invariant: an order is recorded before its first byte is sent. A transient refusal is retried; any other
// one is reported.
import BankModel
import ControlClient
import Posix
import Time
import Wire

final class ChaosTraffic {
  /// A client of a chaos run, and the order that it has sent or will send again.
  private struct Client {
    var chance: SeededGenerator
    var connection: ChaosConnection?
    var order: ChaosOrder?
    /// Number of the open request; nil if none is open.
    var asked: UInt32?
    /// The cut that ends the connection with the next request; nil for none.
    var cut: ChaosPlan.Cut?
    /// Time after which the client no longer waits for an answer.
    var until = MonotonicTime(nanoseconds: .max)
    /// Time before which the client does not send its order again.
    var notBefore = MonotonicTime(nanoseconds: 0)
    var orders = 0
  }

  /// Number of ordinary clients, and of further clients that only order juice.
  static let clientCount = 4
  static let juiceClients = 8
  /// Number of further clients with work for commands and workers, and the number of their waiting and serving
  /// customers from which they send no new orders.
  static let workClients = 4
  static let maxWaitingWork: Int64 = 16
  /// Number of waiting and delayed customers, for each branch, from which the other clients send no new order. More
  /// customers would prove nothing and delay the end.
  static let crowd: Int64 = 40
  private static let pollInterval = TimeSpan.milliseconds(4)
  /// Longest wait for the answer of one branch of several.
  private static let timeout = TimeSpan.seconds(3)
  private(set) var ledger = ChaosLedger()
  /// Permanent refusals of orders.
  private(set) var refusals: [Failure] = []
  private(set) var cuts: Int64 = 0
  private var clients: [Client]
  /// Homes of the branches. Each order may go to a different branch, and so may its repetition.
  private let homes: [BankHome]
  private let loop: EventLoop
  private let name: String
  /// Maximum number of customers of all orders.
  private let limit: Int64
  private let juices: [String]
  private let hasWork: Bool

  /// Makes the clients of one bank. All keys start with `name`, which no other run on the same home has.
  /// `limit` is a number of customers; without `juices` no juice is ordered.
  convenience init(
    _ home: BankHome, on loop: EventLoop, seed: UInt64, name: String, limit: Int64, juices: [String] = [],
    hasWork: Bool = false
  ) {
    self.init([home], on: loop, seed: seed, name: name, limit: limit, juices: juices, hasWork: hasWork)
  }

  /// - Parameter homes: homes of branches that share a bank.
  init(
    _ homes: [BankHome], on loop: EventLoop, seed: UInt64, name: String, limit: Int64, juices: [String] = [],
    hasWork: Bool = false
  ) {
    (self.homes, self.loop, self.name, self.limit) = (homes, loop, name, limit)
    (self.juices, self.hasWork) = (juices, hasWork)
    var chance = SeededGenerator(seed: seed ^ 0x7261_6666_6963)
    let count = Self.clientCount + (juices.isEmpty ? 0 : Self.juiceClients) + (hasWork ? Self.workClients : 0)
    clients = (0..<count).map { _ in Client(chance: SeededGenerator(seed: chance.next())) }
  }

  /// True if every order has its answer.
  var isSettled: Bool { clients.allSatisfy { $0.order == nil } }
  /// True if the orders have reached the maximum number of customers.
  var isExhausted: Bool { ledger.asked >= limit }
  /// Lets one of the clients disconnect during its next request, as the plan says.
  func cut(_ cut: ChaosPlan.Cut) { clients[Int(cut.pick % UInt64(clients.count))].cut = cut }
  /// Disconnects all clients. Call at the end.
  func disconnect() { for index in clients.indices { clients[index].connection = nil } }

  /// Reads all answers, and lets idle clients send new orders: ordinary ones if `wantsMore` is true, and those for
  /// commands and workers if `wantsWork` is.
  func runIteration(_ now: MonotonicTime, wantsMore: Bool, wantsWork: Bool = false) {
    for index in clients.indices {
      handle(index, now)
      if clients[index].order == nil, isWorkClient(index) ? wantsWork : wantsMore, !isExhausted {
        chooseOrder(index)
      }
      if clients[index].order != nil, clients[index].asked == nil, now >= clients[index].notBefore {
        ask(index, now)
      }
    }
  }

  /// Reads the answers for one client, and notices the end of its connection.
  private func handle(_ index: Int, _ now: MonotonicTime) {
    guard let connection = clients[index].connection else { return }
    // A branch that is cut off does not answer. The client then asks a branch chosen at random, under the same key.
    if homes.count > 1, now >= clients[index].until {
      (clients[index].connection, clients[index].asked) = (nil, nil)
      return
    }
    for reply in connection.take() where reply.number == clients[index].asked {
      handle(reply.answer, index, now)
    }
    guard !connection.isOpen else { return }
    clients[index].connection = nil
    clients[index].asked = nil
  }

  /// Records an answer. After a transient refusal the client sends its order again.
  private func handle(_ answer: ControlAnswer, _ index: Int, _ now: MonotonicTime) {
    guard let order = clients[index].order else { return }
    clients[index].asked = nil
    switch answer {
    case .enqueued(let report):
      ledger.acknowledge(
        key: order.key, AcknowledgedTickets(day: report.day, first: report.first, last: report.last))
      // Sometimes the same key is sent again, which must add no customer.
      if clients[index].chance.draw(1...8) > 1 { clients[index].order = nil }
    case .failure(let failure):
      switch failure.code {
      case .queueFull, .draining, .diskFull, .notOpen, .alreadyOpen, .leaseLost: break
      default:
        refusals.append(failure)
        clients[index].order = nil
      }
      clients[index].notBefore = now + Self.pollInterval * 5
    default: break
    }
  }

  /// Draws the next order of a client, and records it.
  private func chooseOrder(_ index: Int) {
    clients[index].orders += 1
    var chance = clients[index].chance
    let order =
      isWorkClient(index)
      ? work(index, &chance)
      : index < Self.clientCount ? bankOrder(index, &chance) : juiceOrder(index, &chance)
    clients[index].chance = chance
    clients[index].order = order
    ledger.ask(order)
  }

  /// True for a client that orders work for commands and workers.
  private func isWorkClient(_ index: Int) -> Bool { hasWork && index >= clients.count - Self.workClients }

  /// Draws an order for a command or a worker.
  private func work(_ index: Int, _ chance: inout SeededGenerator) -> ChaosOrder {
    let service =
      switch chance.draw(1...4) {
      case 1: ChaosServices.worker
      case 2: ChaosServices.outside
      default: ChaosServices.command
      }
    // Without the random name of the run: the payload decides how its work behaves, which a seed repeats.
    let label = "\(index)-\(clients[index].orders)"
    var order = ChaosOrder(
      key: "\(name)-\(label)", count: min(chance.draw(1...2), limit - ledger.asked), service: service,
      priority: Self.priority(&chance), amount: 0, account: 0, payloadSent: Self.payload(label, &chance))
    if service == ChaosServices.command {
      (order.amount, order.account) = (
        chance.draw(CustomerGenerator.amounts), chance.draw(CustomerGenerator.accounts)
      )
    }
    return order
  }

  /// Draws a payload: empty, text, or arbitrary bytes; sometimes longer than the stored part of a result. Payloads of
  /// two orders differ unless both are empty.
  private static func payload(_ label: String, _ chance: inout SeededGenerator) -> [UInt8] {
    let kind = chance.draw(1...16)
    let length = chance.draw(1...12) == 1 ? chance.draw(10_000...40_000) : chance.draw(0...200)
    guard kind > 1 else { return [] }
    let isText = kind <= 8
    return Array("\(label) ".utf8)
      + (0..<length).map { _ in
        UInt8(truncatingIfNeeded: isText ? chance.draw(0x20...0x7e) : chance.draw(0...255))
      }
  }

  /// Draws an order of juices of one kind.
  private func juiceOrder(_ index: Int, _ chance: inout SeededGenerator) -> ChaosOrder {
    ChaosOrder(
      key: "\(name)-\(index)-\(clients[index].orders)", count: min(chance.draw(1...3), limit - ledger.asked),
      service: .juice, priority: Self.priority(&chance), amount: 0, account: 0,
      juice: juices[Int(chance.draw(0...Int64(juices.count) - 1))])
  }

  /// Draws an order of deposits or loans.
  private func bankOrder(_ index: Int, _ chance: inout SeededGenerator) -> ChaosOrder {
    ChaosOrder(
      key: "\(name)-\(index)-\(clients[index].orders)", count: min(chance.draw(1...5), limit - ledger.asked),
      service: chance.draw(1...3) == 1 ? .loan : .deposit, priority: Self.priority(&chance),
      amount: chance.draw(CustomerGenerator.amounts), account: chance.draw(CustomerGenerator.accounts))
  }

  /// Draws a priority, often the regular one.
  private static func priority(_ chance: inout SeededGenerator) -> Priority {
    switch chance.draw(1...6) {
    case 1: .vvip
    case 2: .vip
    case 3: Priority(UInt32(chance.draw(2_000...2_020)))
    default: .regular
    }
  }

  /// The home of a random branch.
  private func nextHome(_ index: Int) -> BankHome {
    guard homes.count > 1 else { return homes[0] }
    return homes[Int(clients[index].chance.draw(0...Int64(homes.count) - 1))]
  }

  /// Sends the order of a client. A planned cut ends the connection during or after this.
  private func ask(_ index: Int, _ now: MonotonicTime) {
    guard let order = clients[index].order else { return }
    // A branch that does not answer must not prevent the client from asking another branch.
    if homes.count > 1 { clients[index].connection = nil }
    guard let connection = clients[index].connection ?? ChaosConnection(to: nextHome(index), on: loop) else {
      clients[index].notBefore = now + Self.pollInterval
      return
    }
    if let cut = clients[index].cut {
      connection.sendAndCut(order.command, pick: cut.pick >> 8, isWhole: cut.isWhole)
      clients[index].cut = nil
      clients[index].connection = nil
      cuts += 1
      return
    }
    clients[index].connection = connection
    clients[index].until = now + Self.timeout
    clients[index].asked = connection.send(order.command)
  }
}
