// Every page with the values of a busy bank, in either language: for the tests, and for drawings of the
// pages.

import BankModel
import WebPages

struct SamplePage {
  let name: String
  let address: String
  let page: any WebPage

  init(_ name: String, _ address: String, _ page: any WebPage) {
    (self.name, self.address, self.page) = (name, address, page)
  }

  static func all(_ language: Language) -> [SamplePage] {
    branch + shop(language) + records + plain
  }

  /// 2026-11-25T09:00:00Z.
  static let now: Int64 = 1_795_597_200_000
  static let thumbs = ServiceName("thumbs")!

  static let bank = BankPage(
    state: .open, day: 1, businessMilliseconds: 62_781, timerRuns: true,
    counts: BankCounts(issued: 42, waiting: 12, delayed: 1, serving: 4, served: 23, cancelled: 1, dead: 1),
    rates: BankRates(servedSecond: 3_000, servedTenSeconds: 2_700, servedTenMinutes: 1_140),
    waiting: (29...40).map { number in
      WaitingRow(
        ticket: number, service: number % 3 == 0 ? .loan : number == 38 ? thumbs : .deposit,
        priority: number == 31 ? .vvip : number == 34 ? .vip : .regular)
    },
    serving: [
      ServingRow(ticket: 25, service: .deposit, window: "deposit-1", since: now),
      ServingRow(ticket: 26, service: .deposit, window: "deposit-2", since: now),
      ServingRow(ticket: 24, service: .loan, window: "loan-1", since: now, attempt: 2),
      ServingRow(
        ticket: 28, service: thumbs, window: "thumbs-1", since: now, percent: 40, progress: "shrinking"),
    ],
    events: [
      EventRow(sequence: 90, time: now, kind: .issued, day: 1, ticket: 29, lastTicket: 38, service: nil),
      EventRow(
        sequence: 91, time: now + 20, kind: .started, day: 1, ticket: 24, service: .loan, window: "loan-1",
        pid: 4963,
        attempt: 1),
      EventRow(
        sequence: 92, time: now + 700, kind: .served, day: 1, ticket: 23, service: .deposit,
        window: "deposit-2",
        pid: 4962),
      EventRow(
        sequence: 93, time: now + 812, kind: .died, day: 1, ticket: 24, service: .loan, window: "loan-1",
        pid: 4963,
        signal: "SIGKILL"),
      EventRow(
        sequence: 94, time: now + 817, kind: .started, day: 1, ticket: 24, service: .loan, window: "loan-1",
        pid: 4971,
        attempt: 2),
    ], coordinator: 4958, generation: 1)

  static let sharedBank: BankPage = {
    var page = bank
    page.branches = [
      BranchRow(
        number: 1, name: "seoul", host: "db-1", state: .open, windows: 4, served: 1_200, rate: 12_500,
        isThis: true),
      BranchRow(
        number: 2, name: "<b>busan</b>", host: "db-2", state: .expired, windows: 1, served: 3, rate: 0),
      BranchRow(number: 3, name: "jeju", state: .closed),
    ]
    return page
  }()

  static let services = [
    ServiceRow(
      service: .deposit, windows: 2,
      waiting: [.init(priority: .vvip, count: 1), .init(priority: .regular, count: 8)],
      waitingTotal: 9, serving: 2, servedTenMinutes: 820, history: (0..<60).map { Int64(($0 * 7) % 11) }),
    ServiceRow(
      service: .loan, isPaused: true, windows: 1, waiting: [.init(priority: .vip, count: 2)], waitingTotal: 2,
      serving: 1, dead: 1, servedTenMinutes: 210, history: (0..<60).map { Int64(($0 * 3) % 5) }),
    ServiceRow(service: .juice, windows: 1, history: Array(repeating: 0, count: 60)),
    ServiceRow(
      service: thumbs, isPaused: true, pauseReason: "exit code 127", windows: 2, waitingTotal: 1,
      servedTenMinutes: 110,
      history: (0..<60).map { Int64($0) }),
  ]

  static let receipt = ReceiptRow(
    sequence: 23, day: 1, ticket: 24, service: .loan, priority: .vip, outcome: .served, window: "loan-1",
    attempts: 2,
    amount: 702_000, debit: "loans", credit: "customer-712", finishedAt: now + 1_900,
    result: AbridgedText("paid out"))

  static let attempts = [
    AttemptRow(
      window: "loan-1", generation: 1, pid: 4963, startedAt: now + 20, endedAt: now + 812, end: .killed,
      signal: "SIGKILL"),
    AttemptRow(
      window: "loan-1", generation: 2, pid: 4971, startedAt: now + 817, endedAt: now + 1_900, end: .served),
  ]

  private static let branch = [
    SamplePage("bank", "/", bank), SamplePage("bank-shared", "/", sharedBank),
    SamplePage("kiosk", "/kiosk", KioskPage(services: services, latest: 42, day: 1)),
    SamplePage(
      "ticket", "/ticket/24",
      TicketPage(
        day: 1, ticket: 24, service: .loan, priority: .vip, amount: 702_000, account: 712, issuedAt: now,
        state: .done,
        attempts: attempts, receipt: receipt)),
    SamplePage(
      "ticket-work", "/ticket/28",
      TicketPage(
        day: 1, ticket: 28, service: thumbs, issuedAt: now, state: .serving, window: "thumbs-1", percent: 40,
        progress: "shrinking",
        attempts: [AttemptRow(window: "thumbs-1", generation: 3, pid: 5012, startedAt: now)],
        payload: AbridgedText("icon.png & <b>more</b>"),
        output: (0..<12).map { OutputChunk(number: $0, text: "line \($0) of the work\n", isError: $0 == 5) })),
    SamplePage(
      "ticket-waiting", "/ticket/40",
      TicketPage(
        day: 1, ticket: 40, service: .deposit, amount: 50_000, account: 12, issuedAt: now, state: .waiting,
        position: 11,
        etaMilliseconds: 4_200)),
    SamplePage(
      "lobby", "/lobby",
      LobbyPage(
        calls: (0..<5).map { (place: Int64) -> Call in
          let isLoan = place == 2
          return Call(
            day: 1, ticket: 28 - place, service: isLoan ? .loan : .deposit,
            window: isLoan ? "loan-1" : "deposit-\(place % 2 + 1)", attempt: isLoan ? 2 : 1)
        }, waiting: 12, serving: 4, served: 23)),
    SamplePage("lobby-empty", "/lobby", LobbyPage()),
    SamplePage(
      "windows", "/windows",
      WindowsPage(
        windows: [
          WindowRow(
            name: "deposit-1", service: .deposit, pid: 4961, generation: 1, state: .serving, tickets: [25],
            since: now,
            served: 12, memoryBytes: 2_900_000),
          WindowRow(
            name: "deposit-2", service: .deposit, pid: 4962, generation: 1, state: .idle, served: 10,
            memoryBytes: 2_900_000),
          WindowRow(
            name: "loan-1", service: .loan, pid: 4971, generation: 2, state: .serving, tickets: [24],
            since: now,
            served: 4, restarts: 1, memoryBytes: 2_800_000),
          WindowRow(
            name: "thumbs-1", service: thumbs, generation: 9, state: .stopped, served: 0, restarts: 8,
            trouble: "exit code 127", isFailed: true),
          WindowRow(name: "stock", pid: 4964, generation: 1, state: .idle, memoryBytes: 4_100_000),
        ], services: services,
        lastKill: KillOutcome(
          window: "loan-1", generation: 1, pid: 4963,
          stage: .served(ticket: 24, window: "loan-1", milliseconds: 5, isExact: true)), day: 1)),
    SamplePage(
      "log", "/windows/loan-1/log",
      WindowLogPage(
        name: "loan-1",
        lines: (0..<30).map {
          LogLine(
            number: $0,
            text:
              "ts=2026-11-25T09:00:00.5\($0 + 10)Z level=\($0 == 8 ? "error" : "info") worker=loan-1 pid=4971 gen=2 "
              + "event=started day=1 ticket=\($0) service=loan attempt=1 msg=\"\($0)번 고객 대출업무 시작\"")
        })),
    SamplePage(
      "services", "/services", ServicesPage(services: services, counts: bank.counts, rates: bank.rates)),
  ]

  private static func shop(_ language: Language) -> [SamplePage] {
    let fruits = Assortment.standard.fruits.enumerated().map { offset, fruit in
      FruitRow(
        id: fruit.id, name: fruit.name(in: language), emoji: fruit.emoji,
        quantity: [10, 8, 10, 1, 997][offset])
    }
    let stock = Dictionary(uniqueKeysWithValues: fruits.map { ($0.id, $0) })
    let juices = Assortment.standard.juices.map { juice in
      let parts = juice.recipe.map { part in
        RecipePart(
          fruit: part.item, name: stock[part.item]!.name, needed: part.quantity,
          available: stock[part.item]!.quantity)
      }
      return JuiceRow(
        id: juice.id, name: juice.name(in: language), recipe: parts,
        isAvailable: parts.allSatisfy { $0.needed <= $0.available })
    }
    let drinks = ProductTable.standard.products.enumerated().map { offset, product in
      DrinkRow(
        id: product.id, name: language == .korean ? product.name : product.english, brand: product.brand,
        volume: product.volume, price: product.price, stock: Quantity(offset * 3 % 8),
        expired: offset == 8 ? 2 : 0,
        isBuyable: offset * 3 % 8 > 0 && product.price <= 3_000, isHot: product.drinkClass.kind == .coffee,
        kind: product.drinkClass.kind)
    }
    let purchases = (1...14).map { number in
      let drink = drinks[number * 3 % 10]
      return PurchaseRow(
        number: Int64(number), product: drink.id, name: drink.name, price: drink.price,
        time: now + Int64(number) * 60_000)
    }
    let shelves = drinks.enumerated().map { offset, drink in
      DrinkShelf(
        drink: drink,
        lots: drink.stock > 0
          ? [
            DrinkLot(
              made: 20_780, expires: 20_787, quantity: drink.stock,
              description:
                "\(drink.brand), \(drink.volume)ml, \(drink.price)원, \(drink.name), 20261123, 20261130",
              isExpired: offset == 9)
          ] : [], sold: Int64(offset * offset % 7))
    }
    return [
      SamplePage("juice", "/juice", JuicePage(fruits: fruits, juices: juices)),
      SamplePage("stock", "/juice/stock", StockPage(fruits: fruits)),
      SamplePage(
        "vending", "/vending",
        VendingPage(balance: 3_000, drinks: drinks, purchases: purchases, total: 214, older: 1)),
      SamplePage(
        "admin", "/vending/admin", VendingAdminPage(shelves: shelves, balance: 3_000, today: 20_782)),
      SamplePage("manager", "/vending/admin", ManagerLoginPage(wasWrong: true)),
    ]
  }

  static let ticketRows: [TicketRow] = (1...6).map { (number: Int64) -> TicketRow in
    let isLoan = number % 2 == 0
    let isServed = number == 4
    return TicketRow(
      day: 1, ticket: number, service: isLoan ? ServiceName.loan : thumbs,
      priority: number == 3 ? .vip : .regular,
      state: isServed ? .serving : .dead, window: isServed ? "loan-1" : nil, amount: isLoan ? 250_000 : 0,
      issuedAt: now, attempts: 3, reason: "SIGSEGV")
  }

  private static let records = [
    SamplePage(
      "tickets", "/tickets?state=waiting",
      TicketsPage(
        TicketList(
          filter: RecordFilter(state: .waiting, after: 200), rows: ticketRows, total: 1_000_000, day: 1,
          next: 400,
          services: services.map(\.service)))),
    SamplePage(
      "dead", "/dead",
      DeadPage(TicketList(rows: ticketRows, total: 6, day: 1, services: services.map(\.service)))),
    SamplePage(
      "receipts", "/receipts",
      ReceiptsPage(
        rows: [
          receipt,
          ReceiptRow(
            sequence: 24, day: 1, ticket: 27, service: .juice, outcome: .outOfStock, window: "juice-1",
            finishedAt: now),
        ], next: 24, services: services.map(\.service))),
    SamplePage(
      "audit", "/audit",
      AuditPage(
        time: now,
        guarantees: Guarantee.allCases.map { GuaranteeRow(name: $0, difference: $0 == .money ? nil : 0) },
        issued: 42,
        served: 23, cancelled: 1, waiting: 15, delayed: 2, dead: 1)),
    SamplePage(
      "audit-broken", "/audit",
      AuditPage(
        time: now,
        guarantees: Guarantee.allCases.map { GuaranteeRow(name: $0, difference: $0 == .lost ? 1 : 0) },
        problems: ["Ticket 7 of day 1 stands nowhere."],
        notes: ["The stock has 3 orders without a customer."])),
    SamplePage(
      "ledger", "/ledger",
      LedgerPage(
        lines: [
          LedgerLine(account: "cash", debit: 1_250_000, credit: 0, transfers: 20),
          LedgerLine(account: "loans", debit: 9_702_000, credit: 0, transfers: 3),
          LedgerLine(account: "customer-712", debit: 0, credit: 10_952_000, transfers: 23),
        ], latest: [receipt])),
  ]

  private static let plain = [
    SamplePage(
      "confirm", "/reset", ConfirmPage(confirmation: .reset(day: 1, waiting: 12, serving: 4), back: "/")),
    SamplePage(
      "confirm-dead", "/dead",
      ConfirmPage(
        confirmation: .requeue([3, 5, 7], ConfirmationToken(count: 3, last: 42, day: 1)), back: "/dead")),
    SamplePage(
      "confirm-all", "/tickets",
      ConfirmPage(
        confirmation: .cancelAll(
          RecordFilter(service: .loan, state: .waiting, after: 7),
          ConfirmationToken(count: 3, last: 42, day: 1)),
        back: "/tickets")),
    SamplePage("login", "/login", LoginPage(wasUsed: true)),
    SamplePage("elsewhere", "/tickets?state=dead", CrossSitePage(address: "/tickets?state=dead&after=1")),
    SamplePage("error", "/nowhere", ErrorPage(status: 404, detail: "/nowhere")),
  ]
}
