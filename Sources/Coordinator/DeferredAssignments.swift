// Orders that are held back because their worker has not read earlier messages.
// Invariant: at most `room` bytes and one order wait for one reader, besides short messages. So a worker is not
// disconnected because of the amount that the bank itself has sent. The orders of one reader are sent in the order of
// assignment.

import BankModel
import QueueCore

struct DeferredAssignments {
  /// Number of unread bytes of a reader at which its orders are held back.
  static let room = 4 << 20

  /// Connection that carries orders.
  enum Peer: Hashable {
    case window(Window)
    /// Outside worker, with a window for each of its services on one connection.
    case outside(Int32)

    init(_ window: Window) {
      self = window.outsideNumber.map { .outside($0) } ?? .window(window)
    }
  }

  /// Assigned customer; its payload is read when the order is sent.
  struct Order {
    var customer: Customer
    var lease: Lease
    var window: Window
  }

  /// Orders held back, by connection, each list in the order of assignment.
  private var waiting: [Peer: [Order]] = [:]
  /// Unread bytes of each reader at its last check.
  private var backlogs: [Peer: Int] = [:]

  var isEmpty: Bool { waiting.isEmpty }
  /// Peers in a deterministic order, unlike that of the dictionary.
  var peers: [Peer] {
    waiting.sorted {
      ($0.value[0].window, $0.value[0].lease.ticket) < ($1.value[0].window, $1.value[0].lease.ticket)
    }
    .map(\.key)
  }

  func orders(of peer: Peer) -> [Order] { waiting[peer] ?? [] }

  /// Records how many bytes for a worker are still unsent (`backlog`). Returns true if fewer than at the last check,
  /// because the worker has read.
  mutating func hasRead(_ peer: Peer, backlog: Int) -> Bool {
    backlog < backlogs.updateValue(backlog, forKey: peer) ?? 0
  }

  /// True if orders are held back for the connection.
  func holds(_ peer: Peer) -> Bool { waiting[peer] != nil }
  /// Next order for a connection; nil if none is held back.
  func first(of peer: Peer) -> Order? { waiting[peer]?.first }
  /// Holds back an order, behind those already held back for its connection.
  mutating func add(_ order: Order) { waiting[Peer(order.window), default: []].append(order) }
  /// Removes the next order for a connection, because it is sent now or its lease has ended.
  mutating func removeFirst(of peer: Peer) { change(peer) { $0.removeFirst() } }

  /// Removes orders whose leases have ended.
  mutating func removeStale(of peer: Peer, unless isHeld: (Order) -> Bool) {
    change(peer) { $0.removeAll { !isHeld($0) } }
  }

  /// Removes the order of a lease. Returns true if that order was held back.
  mutating func remove(_ lease: Lease, of peer: Peer) -> Bool {
    guard waiting[peer]?.contains(where: { $0.lease == lease }) == true else { return false }
    change(peer) { $0.removeAll { $0.lease == lease } }
    return true
  }

  /// Lets `body` change the orders held back for a connection, and removes the connection if none is left.
  private mutating func change(_ peer: Peer, _ body: (inout [Order]) -> Void) {
    guard var orders = waiting.removeValue(forKey: peer) else { return }
    body(&orders)
    if orders.isEmpty { backlogs[peer] = nil } else { waiting[peer] = orders }
  }
}
