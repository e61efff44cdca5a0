// Assignment of customers: builds the message to a worker, with the customer's payload.
// Invariant: no customer is assigned without its payload.
// Errors: if a full disk prevents reading the payload, the customer is deferred. Any other error ends the process.

import BankModel
import Configuration
import Posix
import QueueCore
import Wire

extension QueueDriver {
  /// Sends a customer with its payload to its worker, or holds the message back.
  func entrust(_ customer: Customer, _ lease: Lease, at window: Window) {
    let kind = context.kinds[window.service]
    // A customer that was held back may have been recalled meanwhile.
    guard kind != .run || machine.holds(lease, at: window) else { return }
    guard !kind.takesPayload || !defersAssignment(of: customer, lease, at: window) else { return }
    send(of: customer, lease, at: window, kind)
  }

  /// Sends the message that assigns a customer, with the payload, to its worker.
  private func send(of customer: Customer, _ lease: Lease, at window: Window, _ kind: ServiceKind) {
    var payload: [UInt8]?
    if kind.takesPayload {
      do throws(StoreError) { payload = try engine.payload(of: customer.ticket) } catch {
        fail(error)
        if !context.isHalted { postpone(customer, lease, at: window, kind) }
        return
      }
    }
    send(window, assignment(of: customer, lease, payload, kind: kind))
  }

  /// Holds an assignment back if too many bytes wait for the worker, or if an earlier one is held back. Returns true if
  /// it was held back.
  private func defersAssignment(of customer: Customer, _ lease: Lease, at window: Window) -> Bool {
    let peer = DeferredAssignments.Peer(window)
    if !deferredAssignments.isEmpty {
      deferredAssignments.removeStale(of: peer) { machine.holds($0.lease, at: $0.window) }
    }
    guard deferredAssignments.holds(peer) || backlog(at: window) >= DeferredAssignments.room else {
      return false
    }
    deferredAssignments.add(DeferredAssignments.Order(customer: customer, lease: lease, window: window))
    return true
  }

  /// Sends assignments that were held back, up to the limit of bytes that may wait for a worker. Returns true if one
  /// was sent, or could not be sent because of a store error.
  func sendDeferredAssignments() -> Bool {
    guard !deferredAssignments.isEmpty, !context.isHalted, engine.isWorking else { return false }
    var hasSent = false
    for peer in deferredAssignments.peers {
      renewDeferredLeases(of: peer)
      while let order = deferredAssignments.first(of: peer) {
        let isHeld = machine.holds(order.lease, at: order.window)
        guard !isHeld || backlog(at: order.window) < DeferredAssignments.room else { break }
        deferredAssignments.removeFirst(of: peer)
        guard isHeld else { continue }
        hasSent = true
        // The lease of a worker program starts when the assignment is sent: the program cannot make progress with a
        // customer that it has not received.
        renew(order)
        send(of: order.customer, order.lease, at: order.window, context.kinds[order.window.service])
        guard !context.isHalted, engine.isWorking else { break }
      }
    }
    perform()
    return hasSent
  }

  /// Renews the leases of customers whose assignments are held back for a worker program, as long as the program
  /// reads, because the bank causes the delay. A worker that reads nothing for the duration of a lease loses these
  /// customers.
  private func renewDeferredLeases(of peer: DeferredAssignments.Peer) {
    guard let first = deferredAssignments.first(of: peer),
      deferredAssignments.hasRead(peer, backlog: backlog(at: first.window))
    else { return }
    for order in deferredAssignments.orders(of: peer) where machine.holds(order.lease, at: order.window) {
      renew(order)
    }
  }

  /// Renews the lease of a customer whose assignment is or was held back, if a worker program holds the lease.
  private func renew(_ order: DeferredAssignments.Order) {
    guard context.kinds[order.window.service].isForeign else { return }
    apply(.tellerProgressed(order.window, order.lease.generation, order.lease))
  }

  /// Recalls a customer. If its assignment is still among the deferred ones, the customer counts as returned at once.
  func recall(_ lease: Lease, from window: Window) {
    guard !deferredAssignments.isEmpty,
      deferredAssignments.remove(lease, of: DeferredAssignments.Peer(window))
    else {
      return send(window, .recall(lease))
    }
    apply(.tellerAnswered(window, lease.generation, lease, .returned))
  }

  /// Bytes queued for the worker of a window and not yet written to its socket.
  private func backlog(at window: Window) -> Int {
    if let number = window.outsideNumber { return outsideBacklog(number) }
    return tellerSupervisor.slots[window]?.channel?.backlog ?? 0
  }

  /// Defers a customer whose payload cannot be read because the disk is full. The customer is retried later,
  /// and no failure is counted. A customer that is queued at a runner, but not yet started, waits there until
  /// there is disk space.
  private func postpone(_ customer: Customer, _ lease: Lease, at window: Window, _ kind: ServiceKind) {
    guard kind != .run || machine.numbers(of: window)?.lease == lease else {
      if machine.holds(lease, at: window) { engine.holdBack(.assign(window, lease, customer)) }
      return
    }
    let failure = WorkFailure(
      "the disk is full: the payload cannot be read", .later, isNotStarted: true)
    apply(.tellerAnswered(window, lease.generation, lease, .failed(failure)))
  }

  private func assignment(
    of customer: Customer, _ lease: Lease, _ payload: [UInt8]?, kind: ServiceKind
  ) -> MessageToTeller {
    let day = effectsDay
    guard kind.takesPayload || customer.service.usesStock else {
      return .assign(Assignment(day: day, customer: customer, lease: lease))
    }
    let key = context.bankID.order(day: day, ticket: customer.ticket, issuedAt: customer.issuedAt)
    switch kind {
    case .work, .run:
      var assignment = Assignment(day: day, customer: customer, lease: lease)
      assignment.order = key
      assignment.payload = payload
      return .assign(assignment)
    case .worker, .outside:
      let rules = machine.policy[customer.service.index]
      return .assignWork(
        WorkItem(
          day: day, lease: lease, service: context.services.directory[customer.service],
          priority: customer.priority.number, payload: payload, key: key.text,
          deadlineMilliseconds: rules.timeout?.milliseconds))
    }
  }
}
