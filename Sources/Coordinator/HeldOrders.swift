// Orders that were not sent because their worker has not read what was sent before: customers with large payloads, mostly.
// Invariant: `room` bytes and one message at most wait for one reader. So no worker is sent away for what the bank itself has
// sent, and the orders of one reader are sent in the order in which its customers were handed out.

import BankModel
import QueueCore

struct HeldOrders {
  /// Bytes that may wait for one reader when the next order is sent.
  static let room = 4 << 20

  /// One connection.
  enum Peer: Hashable {
    case window(Window)
    /// A worker that has come by itself, which has a window for each of its services.
    case outside(Int32)

    init(_ window: Window) {
      self = window.outsideNumber.map { .outside($0) } ?? .window(window)
    }
  }

  /// A customer who was handed out, with nothing of its payload.
  struct Order {
    var customer: Customer
    var lease: Lease
    var window: Window
  }

  private var waiting: [Peer: [Order]] = [:]
  /// Bytes that waited for each reader when it was last looked at.
  private var backlogs: [Peer: Int] = [:]

  var isEmpty: Bool { waiting.isEmpty }
  /// In an order of their own, which is no dictionary's.
  var peers: [Peer] {
    waiting.sorted {
      ($0.value[0].window, $0.value[0].lease.ticket) < ($1.value[0].window, $1.value[0].lease.ticket)
    }
    .map(\.key)
  }

  func orders(of peer: Peer) -> [Order] { waiting[peer] ?? [] }

  /// - Returns: true if the reader has taken something since the last look.
  mutating func hasRead(_ peer: Peer, backlog: Int) -> Bool {
    backlog < backlogs.updateValue(backlog, forKey: peer) ?? 0
  }

  func holds(_ peer: Peer) -> Bool { waiting[peer] != nil }
  func first(of peer: Peer) -> Order? { waiting[peer]?.first }
  mutating func add(_ order: Order) { waiting[Peer(order.window), default: []].append(order) }
  mutating func removeFirst(of peer: Peer) { change(peer) { $0.removeFirst() } }

  /// Removes orders of customers who have left the hand.
  mutating func removeStale(of peer: Peer, unless isHeld: (Order) -> Bool) {
    change(peer) { $0.removeAll { !isHeld($0) } }
  }

  /// - Returns: true if the order was there.
  mutating func remove(_ lease: Lease, of peer: Peer) -> Bool {
    guard waiting[peer]?.contains(where: { $0.lease == lease }) == true else { return false }
    change(peer) { $0.removeAll { $0.lease == lease } }
    return true
  }

  private mutating func change(_ peer: Peer, _ body: (inout [Order]) -> Void) {
    guard var orders = waiting.removeValue(forKey: peer) else { return }
    body(&orders)
    if orders.isEmpty { backlogs[peer] = nil } else { waiting[peer] = orders }
  }
}
