// Lists of the dashboard other than windows: services with their queues, first waiting customers, dead
// letters, log.
// Invariant: rows are in the order in which the bank sent them.
import BankModel
import Posix
import Wire

/// Makes the lists of services, customers, dead letters and events.
struct LineRows {
  let topFrame: TopFrame
  let messages: MessageCatalog

  // MARK: - Services

  /// One row for each service.
  var services: TopList {
    TopList(columns: serviceColumns, rows: topFrame.frame.services.map(row))
  }

  private var serviceColumns: [TopList.Column] {
    [
      .init(title: messages.column(.service), shortening: .middle),
      .init(title: messages.column(.state)),
      .init(title: messages.column(.windows), alignment: .right, dispensability: 2, isDescending: true),
      .init(title: messages.column(.waiting), alignment: .right, width: 7, isDescending: true),
      .init(title: messages.column(.serving), alignment: .right, dispensability: 3, isDescending: true),
      .init(title: messages.column(.delayed), alignment: .right, dispensability: 4, isDescending: true),
      .init(title: messages.column(.dead), alignment: .right, dispensability: 5, isDescending: true),
      .init(title: messages.perSecond, alignment: .right, dispensability: 6, isDescending: true),
      .init(title: messages.byGrade, dispensability: 7, isDescending: true, shortening: .end, comfort: 24),
    ]
  }

  private func row(_ service: BoardService) -> TopRow {
    var row = TopRow(key: "service " + service.service.text, service: service.service)
    let name = messages.phrases.service(service.service)
    row.add(
      .init(messages.safe(name, atMost: TopList.longestName), service.service == .loan ? .loan : nil),
      .text(service.service.text))
    row.add(
      .init(service.paused ? messages.paused : messages.state(BankState.open), service.paused ? .alarm : nil),
      .number(service.paused ? 0 : 1))
    row.add(.init(service.windows), .number(Int64(service.windows)))
    row.add(
      .init(MessageCatalog.grouped(service.waitingTotal), service.waitingTotal > 0 ? .waiting : nil),
      .number(service.waitingTotal))
    row.add(
      .init(MessageCatalog.grouped(service.serving), service.serving > 0 ? .serving : nil),
      .number(service.serving))
    row.add(.init(MessageCatalog.grouped(service.delayed)), .number(service.delayed))
    row.add(
      .init(MessageCatalog.grouped(service.dead), service.dead > 0 ? .alarm : nil), .number(service.dead))
    row.add(.init(messages.rate(thousandths: service.servedTenMinutes)), .number(service.servedTenMinutes))
    let grades = service.waiting.map { grade in
      (grade.priority.map(messages.grade) ?? messages.others) + " " + MessageCatalog.grouped(grade.count)
    }
    let reason = service.pauseReason.map { messages.safe($0) }
    row.add(
      .init((grades + [reason].compactMap { $0 }).joined(separator: " · ")), .number(service.waitingTotal))
    return row
  }

  // MARK: - Customers

  /// The first waiting customers, by ticket number.
  var waiting: TopList {
    let rows = topFrame.frame.waiting.map { customer in
      self.customer(
        "ticket \(customer.ticket)", customer.ticket, customer.service, messages.grade(customer.priority),
        Int64(customer.priority.number))
    }
    return TopList(columns: customerColumns(messages.header(.waiting)), rows: rows)
  }

  /// The dead letters, with the reason of each.
  func dead(_ letters: [TicketReport]) -> TopList {
    var columns = customerColumns(messages.column(.ticket))
    columns.append(
      .init(title: messages.column(.amount), alignment: .right, dispensability: 2, isDescending: true))
    columns.append(.init(title: messages.reasonHeading, shortening: .end, comfort: 24))
    columns.append(.init(title: messages.issued, dispensability: 3))
    let rows = letters.map { letter in
      var row = customer(
        "ticket \(letter.ticket)", letter.ticket, letter.service, messages.grade(letter.priority),
        Int64(letter.priority.number))
      row.add(
        .init(messages.business(letter.service, letter.amount, letter.itemName)), .number(letter.amount))
      let reason = messages.reason(letter) ?? "-"
      row.add(.init(reason, .alarm), .text(reason))
      row.add(
        .init(Timestamp.utc(milliseconds: letter.issuedAt), .quiet), .number(letter.issuedAt))
      return row
    }
    return TopList(columns: columns, rows: rows)
  }

  /// Columns of a list of customers; the first has this title.
  private func customerColumns(_ title: String) -> [TopList.Column] {
    [
      .init(title: title), .init(title: messages.column(.service), shortening: .middle),
      .init(title: messages.column(.grade), dispensability: 1),
    ]
  }

  /// The row of a customer with its first cells: ticket, service, and grade, by whose `rank` the rows are sorted.
  private func customer(
    _ key: String, _ ticket: Int64, _ service: ServiceName, _ grade: String, _ rank: Int64
  ) -> TopRow {
    var row = TopRow(key: key, service: service, ticket: ticket)
    row.add(.init(String(ticket)), .number(ticket))
    let name = messages.safe(messages.phrases.service(service), atMost: TopList.longestName)
    row.add(.init(name, service == .loan ? .loan : nil), .text(service.text))
    row.add(.init(grade), .number(rank))
    return row
  }

  // MARK: - Log

  /// The recent events, the oldest first.
  var log: TopList {
    let rows = topFrame.log.map { entry in
      let event = entry.event
      var row = TopRow(key: entry.key, service: event.service, ticket: event.ticket)
      let time = Timestamp.utc(milliseconds: event.time).dropFirst(11).dropLast()
      row.add(.init(String(time), .quiet), .number(event.time))
      row.add(.init(messages.boardEvent(event), Self.role(event.kind)), .text(""))
      row.add(
        .init(
          event.service.map { messages.safe(messages.phrases.service($0), atMost: TopList.longestName) } ?? ""
        ),
        .text(""))
      row.add(.init(event.pid.map { "\(messages.column(.pid)) \($0)" } ?? "", .quiet), .text(""))
      return row
    }
    let columns: [TopList.Column] = [
      .init(title: messages.time), .init(title: messages.event, shortening: .end, comfort: 40),
      .init(title: messages.column(.service), dispensability: 1, shortening: .middle),
      .init(title: messages.column(.pid), dispensability: 2),
    ]
    return TopList(columns: columns, rows: rows)
  }

  private static func role(_ kind: BoardEvent.Kind) -> Palette.Role? {
    switch kind {
    case .issued: .waiting
    case .started: .serving
    case .died, .dead, .failed, .deferred, .reset: .alarm
    case .served, .cancelled, .recalled: nil
    }
  }
}
