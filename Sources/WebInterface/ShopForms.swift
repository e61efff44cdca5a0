// Owns what the forms of the shop's pages do: juices, the stock, the vending machine and its manager's side.
// Invariant: the manager's socket is asked only for whoever has the manager's cookie; every change has the form's key as its
// name, so what is sent again is done once.
import BankModel
import Posix
import StockClient
import Time
import VendingClient
import WebCore
import WebPages
import WebServer
import Wire

final class ShopForms {
  private unowned let application: WebApplication
  private var control: ControlLink { application.control }
  private lazy var manager = VendingClient(
    socket: VendingClient.managersSocket(inHome: application.options.home), loop: application.loop)

  /// How long a juice may take until it is ready or given up.
  private static let juicePatience = TimeSpan.seconds(15)
  private static let patience = TimeSpan.seconds(5)

  init(_ application: WebApplication) { self.application = application }

  func serve(_ form: SentForm, _ action: FormAction) {
    switch action {
    case .juice: orderJuice(form)
    case .stock: changeStock(form)
    case .insert, .buy, .change: useMachine(form, action)
    case .managerLogin: becomeManager(form)
    case .restock, .discard: manage(form, action)
    default: form.refuse(.badForm, at: "/")
    }
  }

  /// The name under which something is asked for once.
  private func order(_ form: SentForm) -> OrderID? {
    form.key.map { OrderID($0) }.flatMap { $0.isValid ? $0 : nil }
  }

  // MARK: - Juice

  private func orderJuice(_ form: SentForm) {
    let juice = ItemID(form.fields["juice"] ?? "")
    guard juice.isValid, let key = form.key else { return form.refuse(.badForm, at: "/juice") }
    // A page that is older than the menu has buttons for what nobody makes any more.
    application.stock.ask(.assortment, until: SystemClock.monotonic() + Self.patience) { [self] answer in
      guard case .success(.assortment(let assortment)) = answer else {
        return form.refuse(.stockAway, at: "/juice")
      }
      guard assortment.juices.contains(where: { $0.id == juice }) else {
        return form.refuse(.noSuchItem, at: "/juice")
      }
      order(form, juice, key)
    }
  }

  private func order(_ form: SentForm, _ juice: ItemID, _ key: String) {
    control.ask(.enqueue(EnqueueOrder(juice: juice, key: key))) { [self] outcome in
      switch outcome.only(\.enqueued) {
      case .success(let report): awaitJuice(form, juice, report)
      case .failure(let failure):
        form.refuse(failure.code == .noSuchService ? .noStation : PageRefusal(failure), at: "/juice")
      }
    }
  }

  private func awaitJuice(_ form: SentForm, _ juice: ItemID, _ ticket: EnqueuedReport) {
    let end = ControlCommand.awaitTickets(day: ticket.day, first: ticket.first, last: ticket.last)
    control.ask(end, within: Self.juicePatience) { [self] outcome in
      if case .failure = outcome { return withdraw(form, ticket) }
      control.ask(.ticket(number: ticket.first, day: ticket.day)) { outcome in
        switch outcome.only(\.ticket) {
        case .success(let report): form.answer(Self.notice(report, juice), at: "/juice")
        case .failure: form.refuse(.inDoubt, at: "/juice")
        }
      }
    }
  }

  private static func notice(_ report: TicketReport, _ juice: ItemID) -> Notice {
    switch report.receipt?.outcome {
    case .served: return .juiceReady(juice)
    case .outOfStock:
      guard let short = report.receipt?.shortages?.first else { return .refused(.failed) }
      return .juiceShort(juice, fruit: short.item, needed: short.needed, available: short.available)
    case .cancelled: return .refused(.changed)
    case nil: return .refused(.failed)
    }
  }

  /// Nobody makes it: it is taken out, unless it is being made just now.
  private func withdraw(_ form: SentForm, _ ticket: EnqueuedReport) {
    control.ask(.cancel(ticket.first, day: ticket.day)) { outcome in
      switch outcome {
      case .success: form.refuse(.noStation, at: "/juice")
      case .failure: form.refuse(.unfinished, at: "/juice")
      }
    }
  }

  // MARK: - Stock

  private func changeStock(_ form: SentForm) {
    let page = "/juice/stock"
    let item = ItemID(form.fields["item"] ?? "")
    guard item.isValid, let order = order(form) else { return form.refuse(.badForm, at: page) }
    let command: StockCommand
    if let quantity = form.fields.number("quantity"), (0...StockLimits.quantity).contains(quantity) {
      command = .set(ItemAmount(item, quantity))
    } else if let change = form.fields.number("change"), abs(change.clamped) <= StockLimits.quantity {
      command = .change(ItemAmount(item, change), nil)
    } else {
      return form.refuse(.badForm, at: page)
    }
    application.stock.ask(command, as: order, until: SystemClock.monotonic() + Self.patience) {
      [self] answer in
      switch answer {
      case .success(.done(let changes)):
        // Where nothing had to be changed nothing is told.
        let present = changes.last?.present ?? quantity(of: item)
        form.answer(.stocked(item, quantity: present), at: page)
      case .success(.short): form.refuse(.tooFew, at: page)
      case .success(.failure(let failure)): form.refuse(PageRefusal(failure), at: page)
      case .success: form.refuse(.failed, at: page)
      case .failure(.tryLater(_, let isInDoubt)): form.refuse(isInDoubt ? .inDoubt : .stockAway, at: page)
      case .failure: form.refuse(.stockAway, at: page)
      }
    }
  }

  private func quantity(of item: ItemID) -> Quantity {
    application.feeds.stock?.items.first { $0.item == item }?.quantity ?? 0
  }

  // MARK: - The vending machine

  private func useMachine(_ form: SentForm, _ action: FormAction) {
    let page = "/vending"
    guard let order = order(form) else { return form.refuse(.badForm, at: page) }
    let command: VendingCommand
    switch action {
    case .insert:
      guard let amount = form.fields.number("amount"), amount > 0 else {
        return form.refuse(.badForm, at: page)
      }
      command = .insert(amount)
    case .buy:
      let product = ItemID(form.fields["product"] ?? "")
      guard product.isValid else { return form.refuse(.badForm, at: page) }
      command = .buy(product)
    default: command = .giveChange
    }
    let deadline = SystemClock.monotonic() + Self.patience
    application.vending.ask(command, as: order, until: deadline) { answer in
      switch answer {
      case .success(.done(let change)):
        switch change.kind {
        case .inserted: form.answer(.inserted(change.amount), at: page)
        case .bought: form.answer(.bought(change.product ?? ItemID("")), at: page)
        case .returned: form.answer(.returned(change.amount), at: page)
        }
      default: form.refuse(Self.refusal(answer), at: page)
      }
    }
  }

  private static func refusal(_ answer: Result<VendingResult, VendingClientError>) -> PageRefusal {
    switch answer {
    case .success(.failure(let failure)): PageRefusal(failure)
    case .success: .failed
    case .failure(.tryLater(_, let isInDoubt)): isInDoubt ? .inDoubt : .machineAway
    case .failure: .machineAway
    }
  }

  // MARK: - The manager

  private func becomeManager(_ form: SentForm) {
    let page = "/vending/admin"
    let now = SystemClock.monotonic()
    guard application.credentials.isManagersCode(form.fields["code"] ?? "", at: now) else {
      let frame = application.director.frame(form.exchange.request)
      if form.exchange.request.wantsJSON { return form.refuse(.wrongCode, at: page) }
      return form.exchange.respond(.page(ManagerLoginPage(wasWrong: true).html(frame), status: 403))
    }
    var response = HTTPResponse.seeOther(page)
    application.credentials.makeManager(&response, isProxied: application.isProxied(form.exchange.request))
    form.exchange.respond(response)
  }

  private func manage(_ form: SentForm, _ action: FormAction) {
    let page = "/vending/admin"
    guard application.credentials.isManager(form.exchange.request) else {
      return form.refuse(.notManager, at: page)
    }
    guard let order = order(form) else { return form.refuse(.badForm, at: page) }
    let command: VendingCommand
    let product = ItemID(form.fields["product"] ?? "")
    let count = form.fields.number("count") ?? 0
    if action == .restock {
      let made = form.fields.text("made").map { CalendarDate(text: $0)?.number }
      let expires = form.fields.text("expires").map { CalendarDate(text: $0)?.number }
      guard product.isValid, (1...StockLimits.quantity).contains(count), made != .some(nil),
        expires != .some(nil)
      else { return form.refuse(.badForm, at: page) }
      command = .add(
        AddedDrinks(product: product, quantity: count, made: made ?? nil, expires: expires ?? nil))
    } else {
      command = .discardExpired
    }
    manager.ask(command, as: order, until: SystemClock.monotonic() + Self.patience) { answer in
      switch answer {
      case .success(.stocked(let changes)) where action == .restock:
        form.answer(.restocked(product, count: changes.reduce(0) { $0 + $1.difference }), at: page)
      case .success(.stocked(let changes)):
        form.answer(.discarded(count: changes.reduce(0) { $0 - $1.difference }), at: page)
      default: form.refuse(Self.refusal(answer), at: page)
      }
    }
  }

  // MARK: - Turns

  var nextDeadline: MonotonicTime? { manager.nextDeadline }
  func endTurn() { if manager.nextDeadline != nil { manager.endTurn() } }
}

extension Int64 {
  /// The number, or the nearest one whose amount is a number, too.
  fileprivate var clamped: Int64 { Swift.max(self, -Int64.max) }
}

extension EnqueueOrder {
  /// One juice. A page and a script with the same key mean the same one.
  init(juice: ItemID, key: String) {
    self.init(
      count: 1, service: .juice, priority: .regular, amount: nil, account: nil,
      seed: FormActions.seed(of: key), key: "juice-" + key, article: juice.name)
  }
}

extension PageRefusal {
  /// Why the stock has not done something.
  init(_ failure: StockFailure) {
    self =
      switch failure.code {
      case .unknownItem: .noSuchItem
      case .badRequest, .datedItem: .badForm
      case .otherOrder: .keyConflict
      case .diskFull: .diskFull
      case .crowded: .crowded
      case .overflow, .tooManyLots: .shelfFull
      case .givenBack, .tooSlow: .failed
      }
  }

  /// Why the machine has not done something.
  init(_ failure: VendingFailure) {
    self =
      switch failure.code {
      case .unknownProduct: .noSuchItem
      case .badRequest: .badForm
      case .otherOrder: .keyConflict
      case .tooLittleMoney: .tooLittleMoney
      case .soldOut: .soldOut
      case .onlyExpired: .onlyExpired
      case .tillFull: .tillFull
      case .shelfFull: .shelfFull
      case .wrongSide: .notManager
      case .stockUnavailable: .stockAway
      case .diskFull: .diskFull
      case .crowded: .crowded
      case .tooSlow: .failed
      }
  }
}
