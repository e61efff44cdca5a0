// Owns how a customer is handed out: what whoever serves it is told, and what the customer carries with it.
// Invariant: nobody is handed out without what it carries. Failure: while the disk is full that cannot be read, and the customer
// comes later; after anything worse the process ends.

import BankModel
import Configuration
import Posix
import QueueCore
import Wire

extension QueueDriver {
  /// Tells whoever is to serve a customer, with what the customer carries.
  func entrust(_ customer: Customer, _ lease: Lease, at window: Window) {
    let kind = context.kinds[window.service]
    // Who was held back may have been taken back meanwhile.
    guard kind != .run || machine.holds(lease, at: window) else { return }
    guard !kind.takesPayload || !holdsOrder(of: customer, lease, at: window) else { return }
    tell(of: customer, lease, at: window, kind)
  }

  /// Sends the order of a customer to its worker.
  private func tell(of customer: Customer, _ lease: Lease, at window: Window, _ kind: ServiceKind) {
    var payload: [UInt8]?
    if kind.takesPayload {
      do throws(StoreError) { payload = try engine.payload(of: customer.ticket) } catch {
        fail(error)
        guard context.isCutOff || Kernel.makes("handsOutWithoutThePayload") else {
          return putOff(customer, lease, at: window, kind)
        }
      }
    }
    tell(window, assignment(of: customer, lease, payload, kind: kind))
  }

  /// Holds an order back if as much waits for its reader as may.
  ///
  /// - Returns: true if it was held back.
  private func holdsOrder(of customer: Customer, _ lease: Lease, at window: Window) -> Bool {
    let peer = HeldOrders.Peer(window)
    if !heldOrders.isEmpty { heldOrders.removeStale(of: peer) { machine.holds($0.lease, at: $0.window) } }
    guard heldOrders.holds(peer) || backlog(at: window) >= HeldOrders.room else { return false }
    heldOrders.add(HeldOrders.Order(customer: customer, lease: lease, window: window))
    return true
  }

  /// Sends orders that were held back, as far as their readers have made room.
  ///
  /// - Returns: true if one was sent.
  func sendHeldOrders() -> Bool {
    guard !heldOrders.isEmpty, !context.isCutOff, engine.isWorking else { return false }
    var hasSent = false
    for peer in heldOrders.peers {
      renewHeldLeases(of: peer)
      while let order = heldOrders.first(of: peer) {
        let isHeld = machine.holds(order.lease, at: order.window)
        guard !isHeld || backlog(at: order.window) < HeldOrders.room else { break }
        heldOrders.removeFirst(of: peer)
        guard isHeld else { continue }
        hasSent = true
        // The lease begins with the order: a worker makes no progress with a customer that it has not been told of.
        renew(order)
        tell(of: order.customer, order.lease, at: order.window, context.kinds[order.window.service])
        guard !context.isCutOff, engine.isWorking else { break }
      }
    }
    perform()
    return hasSent
  }

  /// While a worker reads, the leases of the customers behind do not run out: it is the bank that has not told it of them. One that
  /// reads nothing for a lease loses them.
  private func renewHeldLeases(of peer: HeldOrders.Peer) {
    guard let first = heldOrders.first(of: peer),
      heldOrders.hasRead(peer, backlog: backlog(at: first.window))
    else { return }
    for order in heldOrders.orders(of: peer) where machine.holds(order.lease, at: order.window) {
      renew(order)
    }
  }

  private func renew(_ order: HeldOrders.Order) {
    guard context.kinds[order.window.service].isForeign else { return }
    apply(.tellerProgressed(order.window, order.lease.generation, order.lease))
  }

  /// Asks for a customer back. One whose order was never sent is back already.
  func recall(_ lease: Lease, from window: Window) {
    guard !heldOrders.isEmpty, heldOrders.remove(lease, of: HeldOrders.Peer(window)) else {
      return tell(window, .recall(lease))
    }
    apply(.tellerAnswered(window, lease.generation, lease, .returned))
  }

  /// Bytes that were sent to the worker of a window and that it has not read.
  private func backlog(at window: Window) -> Int {
    if let number = window.outsideNumber { return outsideBacklog(number) }
    return tellerSupervisor.posts[window]?.channel?.backlog ?? 0
  }

  /// While the disk is full it cannot be read what a customer carries, and nobody works without that: the customer comes
  /// later, and it is nobody's failure. Whose turn has not come at a runner waits there until there is room.
  private func putOff(_ customer: Customer, _ lease: Lease, at window: Window, _ kind: ServiceKind) {
    guard kind != .run || machine.numbers(of: window)?.lease == lease else {
      if machine.holds(lease, at: window) { engine.holdBack(.assign(window, lease, customer)) }
      return
    }
    let failure = WorkFailure(
      "the disk is full: what the customer carries cannot be read", .later, isUnbegun: true)
    apply(.tellerAnswered(window, lease.generation, lease, .failed(failure)))
  }

  /// What whoever serves a customer is told of it.
  private func assignment(
    of customer: Customer, _ lease: Lease, _ payload: [UInt8]?, kind: ServiceKind
  ) -> WindowMessage {
    let day = effectsDay
    guard kind.takesPayload || customer.service.drawsOnStock else {
      return .assign(Assignment(day: day, customer: customer, lease: lease))
    }
    let key = context.booksName.order(day: day, ticket: customer.ticket, issuedAt: customer.issuedAt)
    switch kind {
    case .work, .run:
      var assignment = Assignment(day: day, customer: customer, lease: lease)
      assignment.order = key
      assignment.payload = payload
      return .assign(assignment)
    case .worker, .outside:
      let rules = machine.policy[customer.service.index]
      return .entrust(
        WorkOrder(
          day: day, lease: lease, service: context.services.directory[customer.service],
          priority: customer.priority.number, payload: payload, key: key.text,
          deadlineMilliseconds: rules.timeout?.milliseconds))
    }
  }
}
