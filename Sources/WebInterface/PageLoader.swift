// Contents of pages, from the subscribed sources, from responses of the bank, or from files of the home.
// Invariant: a load calls its handler once, with a page or the reason for its absence.
import BankModel
import Posix
import JSONOutput
import StockClient
import Time
import VendingClient
import WebPages
import Wire

/// Result of loading a page.
enum PageOutcome {
  /// The loaded page.
  case page(any WebPage)
  /// The object does not exist.
  case missing(detail: String)
  /// The bank or the service does not answer, or has refused the request.
  case unavailable
}

/// Loads the contents of a page as a value for `WebPages`.
final class PageLoader {
  typealias PageCompletion = (PageOutcome) -> Void

  private let dataSources: DataSources
  private let control: CoordinatorConnection
  private let home: WebHome
  /// Connection for queries about earlier purchases.
  private var vending: VendingClient
  /// Measurement of the last worker killed from a page; nil for none.
  var kill: KillTracker?
  /// The last audit and its time; nil before the first.
  private var audit: (page: AuditPage, at: MonotonicTime)?
  /// Handlers that wait for the running audit.
  private var auditWaiters: [PageCompletion] = []

  /// Maximum number of rows of a list.
  static let rows: Int64 = 200
  /// Time for which an audit is reused.
  private static let auditAge = TimeSpan.seconds(5)

  init(_ dataSources: DataSources, _ control: CoordinatorConnection, _ home: WebHome, vending: VendingClient)
  {
    (self.dataSources, self.control, self.home, self.vending) = (dataSources, control, home, vending)
  }

  /// Loads a page, and passes it to the handler now or later.
  func load(_ path: PagePath, in language: Language, _ done: @escaping PageCompletion) {
    switch path {
    case .bank: done(.page(dataSources.board.map { BankPage($0) } ?? BankPage(state: .closed, day: 0)))
    case .kiosk(let latest):
      done(.page(KioskPage(services: services, latest: latest, day: dataSources.board?.day ?? 1)))
    case .lobby: done(.page(dataSources.board.map { LobbyPage($0) } ?? LobbyPage(state: .closed)))
    case .windows:
      done(
        .page(
          WindowsPage(
            windows: dataSources.board?.windows.map { WindowRow($0) } ?? [], services: services,
            lastKill: kill.map { KillOutcome($0) }, day: dataSources.board?.day ?? 1)))
    case .services:
      done(
        .page(
          ServicesPage(
            services: services, counts: dataSources.board.map { BankCounts($0.counts) } ?? BankCounts(),
            rates: dataSources.board.map { BankRates($0.rates) } ?? BankRates())))
    case .juice:
      let isOpen = dataSources.isOpen.contains(.stock)
      done(.page(JuicePage(dataSources.assortment, dataSources.stock, isOpen: isOpen, language)))
    case .juiceStock:
      let rows = FruitRow.rows(dataSources.assortment, dataSources.stock, language)
      done(.page(StockPage(fruits: rows, isOpen: dataSources.isOpen.contains(.stock))))
    case .vending(let before): load(vendingBefore: before, language, done)
    case .vendingAdmin:
      guard let picture = dataSources.manager else {
        return done(.page(VendingAdminPage(balance: 0, today: 0, isOpen: false)))
      }
      done(.page(VendingAdminPage(picture, isOpen: dataSources.isOpen.contains(.manager), language)))
    case .log(let name):
      guard let lines = FileTail.log(name, in: home.logs) else { return done(.missing(detail: name)) }
      done(.page(WindowLogPage(name: name, lines: lines)))
    case .ticket(let number, let day): load(ticket: number, day, done)
    case .tickets(let filter): load(filter, state: filter.state, done) { .page(TicketsPage($0)) }
    case .dead(let filter): load(filter, state: .dead, done) { .page(DeadPage($0)) }
    case .receipts(let filter): load(receipts: filter, done)
    case .audit: load(audit: done)
    case .ledger(let account): load(ledger: account, done)
    }
  }

  /// Rows of all services of the board.
  private var services: [ServiceRow] {
    dataSources.board?.services.map { ServiceRow($0, history: dataSources.rates[$0.service]) } ?? []
  }

  private var serviceNames: [ServiceName] { dataSources.board?.services.map(\.service) ?? [] }

  // MARK: - Answers

  private func load(ticket number: Int64, _ day: Int64?, _ done: @escaping PageCompletion) {
    control.ask(.ticket(number: number, day: day)) { [home] outcome in
      switch outcome.only(\.ticket) {
      case .success(let report):
        let output = FileTail.output(ofTicket: report.ticket, day: report.day, in: home.output)
        done(.page(TicketPage(report, output: output.chunks, isTruncated: output.isCut)))
      case .failure(let failure): done(Self.outcome(failure))
      }
    }
  }

  /// Loads a list of customers, and passes the page that `page` makes of it to the handler.
  private func load(
    _ filter: PageFilter, state: CustomerState?, _ done: @escaping PageCompletion,
    _ page: @escaping (TicketList) -> PageOutcome
  ) {
    let query = TicketQuery(
      state: state, service: filter.service, after: filter.after, limit: Self.rows + 1)
    control.ask(.tickets(query)) { [self] outcome in
      switch outcome {
      case .success(let answers):
        let reports = answers.flatMap(\.tickets)
        let shown = reports.prefix(Int(Self.rows))
        let hasMore = reports.count > shown.count
        // The board counts whole lines. For a list that starts after a number, the total is known only if one page
        // contains all rows.
        let total =
          filter.after == 0 ? total(filter.service, state) : hasMore ? nil : Int64(shown.count)
        done(
          page(
            TicketList(
              filter: filter.record, rows: shown.map { TicketRow($0) }, total: total,
              day: reports.first?.day ?? dataSources.board?.day ?? 1,
              next: hasMore ? shown.last?.ticket : nil,
              services: serviceNames)))
      case .failure(let failure): done(Self.outcome(failure))
      }
    }
  }

  /// Number of customers in a state, from the board; nil if the board does not contain it.
  func total(_ service: ServiceName?, _ state: CustomerState?) -> Int64? {
    guard let board = dataSources.board else { return nil }
    let counts: (waiting: Int64, delayed: Int64, serving: Int64, dead: Int64)
    if let service {
      guard let row = board.services.first(where: { $0.service == service }) else { return nil }
      counts = (row.waitingTotal, row.delayed, row.serving, row.dead)
    } else {
      counts = (board.counts.waiting, board.counts.delayed, board.counts.serving, board.counts.dead)
    }
    return switch state {
    case .waiting: counts.waiting
    case .delayed: counts.delayed
    case .serving: counts.serving
    case .dead: counts.dead
    case .done: nil
    case nil: counts.waiting + counts.delayed + counts.serving + counts.dead
    }
  }

  private func load(receipts filter: PageFilter, _ done: @escaping PageCompletion) {
    // The coordinator cannot filter by outcome, so more rows are read and filtered here.
    let limit = filter.outcome == nil ? Self.rows + 1 : 10 * Self.rows
    let query = ReceiptQuery(
      days: filter.day.map { .day($0) } ?? .present, follow: false, after: filter.after,
      service: filter.service, limit: limit)
    control.ask(.receipts(query)) { [self] outcome in
      switch outcome {
      case .success(let answers):
        let all = answers.flatMap(\.receipts)
        let wanted = all.filter { filter.outcome == nil || $0.outcome == filter.outcome }
        let shown = wanted.prefix(Int(Self.rows))
        let hasMore = wanted.count > shown.count || Int64(all.count) >= limit
        let last = wanted.count > shown.count ? shown.last : all.last
        done(
          .page(
            ReceiptsPage(
              filter: filter.record, rows: shown.map { ReceiptRow($0) },
              next: hasMore ? last?.sequence : nil, services: serviceNames)))
      case .failure(let failure): done(Self.outcome(failure))
      }
    }
  }

  /// Loads the page of the audit; several requests share one audit.
  private func load(audit done: @escaping PageCompletion) {
    let now = SystemClock.monotonic()
    if let audit, now.since(audit.at) < Self.auditAge { return done(.page(audit.page)) }
    auditWaiters.append(done)
    guard auditWaiters.count == 1 else { return }
    control.ask(.audit, within: .seconds(60)) { [self] outcome in
      let waiters = auditWaiters
      auditWaiters = []
      switch outcome.only(\.audit) {
      case .success(let report):
        let page = AuditPage(report, at: SystemClock.wall().milliseconds)
        audit = (page, SystemClock.monotonic())
        for waiter in waiters { waiter(.page(page)) }
      case .failure(let failure): for waiter in waiters { waiter(Self.outcome(failure)) }
      }
    }
  }

  /// Loads the page of the ledger, or of one account.
  private func load(ledger account: Int64?, _ done: @escaping PageCompletion) {
    control.ask(.ledger) { [control] outcome in
      switch outcome.only(\.ledger) {
      case .success(let rows):
        let lines = rows.map { LedgerLine($0) }
        guard let account else { return done(.page(LedgerPage(lines: lines))) }
        control.ask(.account(account)) { outcome in
          switch outcome.only(\.account) {
          case .success(let report):
            done(
              .page(
                LedgerPage(
                  lines: [LedgerLine(report.row)], account: report.row.account,
                  latest: report.latest.map { ReceiptRow($0) })))
          case .failure(let failure): done(Self.outcome(failure))
          }
        }
      case .failure(let failure): done(Self.outcome(failure))
      }
    }
  }

  /// Result of a load that has failed.
  static func outcome(_ failure: Failure) -> PageOutcome {
    // 400 (an impossible number) and 404 both become "not found".
    [400, 404].contains(failure.code.httpStatus) ? .missing(detail: failure.subject) : .unavailable
  }

  // MARK: - Vending machine

  /// Number of money changes that are searched for earlier purchases.
  private static let changes = PurchasePage.maxLimit

  /// Loads the page of the vending machine, with the latest purchases, or those before the change of money with this
  /// sequence number.
  private func load(vendingBefore before: Int64?, _ language: Language, _ done: @escaping PageCompletion) {
    guard let picture = dataSources.vending else {
      return done(.page(VendingPage(balance: 0, isOpen: false)))
    }
    var page = VendingPage(
      balance: picture.balance, drinks: picture.products.map { DrinkRow($0, picture, language) },
      total: picture.sales.reduce(0) { $0 + $1.count }, isOpen: dataSources.isOpen.contains(.vending))
    /// Sets the purchases among these changes of money as the rows of the page.
    func show(_ changes: [MoneyChange]) {
      page.purchases = changes.compactMap { PurchaseRow($0, picture, language) }
    }
    guard let before else {
      show(picture.recent)
      page.older = Int64(picture.recent.count) < page.total ? picture.recent.first?.sequence : nil
      return done(.page(page))
    }
    let after = max(0, before - 1 - Self.changes)
    let question = VendingCommand.history(PurchasePage(after: after, limit: Self.changes))
    vending.ask(question, until: SystemClock.monotonic() + .seconds(5)) { answer in
      guard case .success(.history(let changes)) = answer else { return done(.unavailable) }
      let earlier = changes.filter { $0.sequence < before }.suffix(Int(Self.rows))
      show(Array(earlier))
      page.older = earlier.first.flatMap {
        $0.sequence > 1 && (after > 0 || earlier.count == Self.rows) ? $0.sequence : nil
      }
      if earlier.isEmpty, after > 0 { page.older = after + 1 }
      page.newer = 0
      done(.page(page))
    }
  }
}

extension LedgerLine {
  init(_ row: LedgerRow) {
    self.init(account: row.account, debit: row.debit, credit: row.credit, transfers: row.transfers)
  }
}

extension AuditPage {
  init(_ report: AuditReport, at time: Int64) {
    self.init(
      time: time,
      guarantees: [
        GuaranteeRow(name: .lost, difference: WonSum(report.lost)),
        GuaranteeRow(name: .duplicated, difference: WonSum(report.duplicated)),
        GuaranteeRow(name: .ledger, difference: WonSum(report.ledgerDifference)),
        GuaranteeRow(name: .stock, difference: report.stockDifference.map { WonSum($0) }),
        GuaranteeRow(name: .money, difference: report.moneyDifference.map { WonSum($0) }),
      ], problems: report.problems, notes: report.notes ?? [], issued: report.issued, served: report.served,
      cancelled: report.cancelled, waiting: report.waiting, delayed: report.delayed, dead: report.dead)
  }
}
