// Checks of the disk: of the new contents after each commit, and of all contents at the end.
// Invariant: a client requested every ticket on disk, each ticket has at most one receipt, and the amounts transferred
// equal those that the clients requested.
import BankModel
import QueueCore

extension InvariantChecker {
  /// Checks that numbers are consecutive: each number that the day's counters have issued belongs to a customer.
  func checkIssued(by core: borrowing QueueMachine) {
    guard core.dayCounters.day == view.day, core.dayCounters.issued > view.lastTicket else { return }
    for ticket in view.lastTicket + 1...core.dayCounters.issued where view.customers[ticket] == nil {
      violate(.duplicate, "ticket \(ticket) was issued without a customer")
    }
    view.lastTicket = core.dayCounters.issued
  }

  /// Adds a change to the open transaction.
  func staged(_ change: StoreChange) { staged.append(change) }

  /// Records that the process has rolled back the open transaction. The disk may have stored its changes nevertheless.
  func rolledBack() {
    uncertainChanges = staged
    staged.removeAll()
  }

  /// Checks the new contents of the disk after a commit with these counters.
  func committed(_ dayCounters: DayCounters, in store: QueueDisk) {
    let isNew = store.commits > seenCommits
    seenCommits = store.commits
    if isNew { world.statistics.commits += 1 }
    var day = diskCounters?.day ?? dayCounters.day
    var touched: [Int] = []
    // A customer above the last issued number becomes valid with the commit whose counters include its number.
    let isSameDay = dayCounters.day == diskCounters?.day ?? dayCounters.day
    let changes = (isSameDay ? arriving : []) + staged
    arriving.removeAll()
    var buried: [TicketOfDay: Int32] = [:]
    for change in changes {
      switch change {
      case .insert(let customer) where day == dayCounters.day && customer.ticket > dayCounters.issued,
        .insertDelayed(let customer, _) where day == dayCounters.day && customer.ticket > dayCounters.issued:
        if store.hasUnissuedCustomers { arriving.append(change) }
      case .insert(let customer), .insertDelayed(let customer, _): insert(customer, day: day, &touched)
      case .cancelAllCustomers(let ended, _): day = ended + 1
      case .bury(let customer): buried[TicketOfDay(day: day, ticket: customer.ticket)] = customer.attempts
      case .released(let ticket): stock.released(ticket)
      case .finish(_, _, let receipt) where receipt.service.isForCommands:
        commands.results[TicketID(day: day, ticket: receipt.ticket)] = receipt.result
        if receipt.result != nil { world.statistics.commandResults += 1 }
      case .finish(_, _, let receipt) where receipt.service.isForForeigners:
        results[TicketID(day: day, ticket: receipt.ticket)] = receipt.result.map {
          String(decoding: $0.output.bytes, as: UTF8.self)
        }
      default: break
      }
    }
    staged.removeAll()
    for group in touched where groups[group].filled != groups[group].orders.count {
      violate(
        .partialRequest,
        "\(groups[group].filled) of the \(groups[group].orders.count) customers of a request were stored")
    }
    for (ticket, attempt) in buried { checkFatal(attempt, of: ticket, in: store) }
    checkPayloads(of: changes, day: dayCounters.day, in: store)
    readReceipts(from: store)
    if let diskCounters, diskCounters != dayCounters { previousCounters = diskCounters }
    if let old = diskCounters, old.day != dayCounters.day {
      if dayCounters.day != max(day, old.day + 1) {
        violate(.dayCounters, "day \(dayCounters.day) follows day \(old.day)")
      }
      servedToday = 0
      cancelledToday = 0
    } else if dayCounters.served != servedToday || dayCounters.cancelled != cancelledToday {
      violate(
        .dayCounters,
        "the counters say \(dayCounters.served) served and \(dayCounters.cancelled) cancelled, but the receipts are "
          + "\(servedToday) and \(cancelledToday)")
    }
    diskCounters = dayCounters
    committedAt = world.coordinator?.process.wall ?? world.host.wall
  }

  /// Checks that every customer touched by a change has its payload, and none after its receipt.
  private func checkPayloads(of changes: [StoreChange], day: BusinessDay, in store: QueueDisk) {
    guard day == diskCounters?.day ?? day else { return }
    var tickets: Set<TicketNumber> = []
    for change in changes {
      switch change {
      case .insert(let customer), .insertDelayed(let customer, _), .update(let customer),
        .postpone(let customer, _), .bury(let customer), .revive(let customer, _),
        .finish(let customer, _, _):
        tickets.insert(customer.ticket)
      default: break
      }
    }
    for ticket in tickets.sorted() {
      let carried: [UInt8]?
      let found: StoredCustomer?
      do throws(StoreError) {
        (carried, found) = (try store.payload(of: ticket), try store.find(ticket))
      } catch {
        continue
      }
      let expected = found.flatMap {
        SimulatedPayload.of(
          store.services[$0.customer.service], $0.customer.account, $0.customer.itemName)
      }
      if carried != expected {
        violate(.payload, "ticket \(ticket) carries \(carried?.count ?? -1) bytes, not its payload")
      }
    }
  }

  /// Checks that the attempt of this number, after which a customer became a dead letter, is recorded as fatal.
  private func checkFatal(_ number: Int32, of ticket: TicketOfDay, in store: QueueDisk) {
    guard let attempts = try? store.attempts(day: ticket.day, ticket: ticket.ticket) else { return }
    if !attempts.contains(where: { $0.number == number && $0.isFatal }) {
      violate(
        .attempt, "\(ticket) became a dead letter after attempt \(number), but the store has no such record")
    }
  }

  /// Checks that a new ticket on disk belongs to one requested customer, and adds the index of its request to
  /// `touched`.
  private func insert(_ customer: Customer, day: BusinessDay, _ touched: inout [Int]) {
    let name = TicketID(day: day, ticket: customer.ticket)
    guard onDisk[name] == nil else {
      return violate(.duplicate, "ticket \(customer.ticket) was issued twice")
    }
    let order = CustomerOrder(
      service: customer.service, priority: customer.priority, amount: customer.amount,
      account: customer.account,
      itemName: customer.itemName)
    guard let number = origin(of: JuiceOrder(customer.itemName)?.account ?? customer.account) else {
      return violate(.ledger, "no client requested the customer of ticket \(customer.ticket)")
    }
    let group = groups[number]
    let place =
      group.isList
      ? group.orders.firstIndex { $0.account == customer.account } ?? group.orders.count
      : group.nextPlace(for: order)
    guard place < group.orders.count, group.tickets[place] == nil else {
      return violate(.repeatedKey, "ticket \(customer.ticket) is for a customer that already has a ticket")
    }
    if group.isWithdrawn {
      violate(.withdrawal, "ticket \(customer.ticket) is for a customer of a withdrawn request")
    }
    if group.orders[place] != order {
      violate(.ledger, "ticket \(customer.ticket) is for \(order), but \(group.orders[place]) was requested")
    }
    change(number) {
      $0.tickets[place] = name
      $0.filled += 1
    }
    if !touched.contains(number) { touched.append(number) }
    onDisk[name] = order
  }

  /// Checks the receipts that were added to the disk since the last check.
  private func readReceipts(from store: QueueDisk) {
    guard let fresh = try? store.allReceipts(after: receiptCount) else { return }
    receiptCount += Int64(fresh.count)
    world.statistics.receipts += Int64(fresh.count)
    for receipt in fresh {
      let name = TicketID(day: receipt.day, ticket: receipt.ticket)
      guard let order = onDisk[name] else {
        return violate(.ledger, "there is a receipt for ticket \(receipt.ticket), which was never issued")
      }
      guard outcomes.updateValue(receipt.outcome, forKey: name) == nil else {
        return violate(.duplicate, "ticket \(receipt.ticket) has two receipts")
      }
      let found = CustomerOrder(
        service: receipt.service, priority: receipt.priority, amount: receipt.amount,
        account: receipt.account,
        itemName: receipt.itemName)
      stock.check(receipt, name)
      checkResult(of: receipt, name)
      checkCommandOnDisk(receipt, name)
      if found != order {
        violate(.ledger, "the receipt of ticket \(receipt.ticket) is for \(found), not \(order)")
      }
      if receipt.outcome.isFinishedByWorker {
        servedToday += 1
        let lease = Lease(ticket: receipt.ticket, attempt: receipt.attempts, generation: receipt.generation)
        if let window = receipt.window { finished.insert(AnsweredLease(window: window, lease: lease)) }
      } else {
        cancelledToday += 1
      }
    }
  }

  func checkAudit(of store: QueueDisk) throws(StoreError) {
    let audit = try store.audit()
    if audit.lost > 0 { violate(.lostTicket, audit.problems.first ?? "") }
    if audit.duplicated > 0 { violate(.duplicate, audit.problems.first ?? "") }
    if audit.ledgerDifference != 0 { violate(.ledger, audit.problems.first ?? "") }
    if let problem = audit.problems.first { violate(.dayCounters, problem) }
  }

  /// Checks the closed bank: no customer waits, every announced customer has a receipt or is a dead letter, and the
  /// money adds up.
  func checkEnd(of store: QueueDisk) {
    do throws(StoreError) {
      try checkAudit(of: store)
      let audit = try store.audit()
      if audit.waiting + audit.delayed > 0 {
        violate(
          .notDrained, "\(audit.waiting) wait and \(audit.delayed) are delayed after the bank has ended")
      }
      for name in announcedTickets where outcomes[name] == nil {
        guard name.day == diskCounters?.day, try store.find(name.ticket)?.state == .dead else {
          return violate(
            .lostTicket, "ticket \(name.ticket) of day \(name.day) was announced but has no receipt")
        }
      }
      try checkMoney(in: store)
      try stock.checkEnd()
      try vending.checkEnd()
    } catch {
      violate(.storeContradiction, "\(error)")
    }
  }

  /// Compares the amounts transferred for each service with those that the clients requested.
  private func checkMoney(in store: QueueDisk) throws(StoreError) {
    let receipts = try store.allReceipts()
    for service in store.services.services {
      var (paid, brought): (Won, Won) = (0, 0)
      for receipt in receipts where receipt.service == service { paid += receipt.transfer?.amount ?? 0 }
      for group in groups {
        for (order, name) in zip(group.orders, group.tickets) where order.service == service {
          if let name, outcomes[name] == .served { brought += order.amount }
        }
      }
      if paid != brought {
        violate(.ledger, "\(store.services[service]): clients brought \(brought) won, but \(paid) were paid")
      }
    }
  }

  /// Text that names what keeps the bank from closing.
  func leftovers() -> String {
    let waiting = world.clients.filter { !$0.isSatisfied }.map { client in
      "client \(client.number) waits for \(client.outstanding.count) answers and has \(client.requestsToRepeat.count) to repeat"
    }
    return ([view.summary, "\(holders.count) at windows"] + waiting + vending.leftovers()).joined(
      separator: "; ")
  }
}
