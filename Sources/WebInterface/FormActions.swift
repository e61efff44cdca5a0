// The forms of the bank's pages: adding and cancelling customers, windows, reset, display settings.
// Invariant: a form gets one answer. A form that adds customers, sent again with the same key, is executed once. A form
// that needs a confirmation does nothing without one.
// Errors: a notice with the reason, and an HTTP status for scripts. An invalid field of a form is reported on an error
// page.
import BankModel
import Posix
import JSONOutput
import Time
import WebCore
import WebPages
import WebServer
import Wire

/// The reason for a refusal as shown on pages. The alias avoids a clash with the type `Refusal` of the protocol.
typealias PageRefusal = WebPages.Refusal

/// A form that a visitor sent: its fields, the exchange that it waits for, and the language of the answer.
struct SubmittedForm {
  let exchange: HTTPExchange
  let fields: RequestFields
  let language: Language

  /// The idempotency key of the form; throws if it is missing or invalid.
  func key() throws(FieldError) -> String {
    try fields.needed(
      try fields.value("key", expected: "1 to 60 visible characters of ASCII") { key in
        key.utf8.count <= 60 && key.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? key : nil
      }, "key")
  }

  /// The path of this server to which the form returns, or `other`. Addresses of other servers are ignored, so a form
  /// cannot redirect to another site.
  func back(or other: String) -> String {
    guard let back = (try? fields.text("back")) ?? nil, back.hasPrefix("/"), !back.hasPrefix("//"),
      !back.contains("\\"), back.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return other }
    return back
  }

  /// Answers with a notice: as JSON for a script, or by a redirect to the address, which shows it.
  ///
  /// - Parameter isMoved: true if the script of the page must open the address.
  func answer(_ notice: Notice, at address: String, isMoved: Bool = false) {
    let request = exchange.request
    let sign = address.contains("?") ? "&" : "?"
    let location = address + sign + "notice=" + PercentText.encode(notice.code)
    if request.wantsJSON {
      let document = notice.json(language, to: isMoved ? location : nil)
      return exchange.respond(.json(Array(document.utf8), status: notice.httpStatus))
    }
    exchange.respond(.seeOther(location))
  }

  /// Answers with the reason for a refusal: as JSON for a script, or by a redirect to the address.
  func refuse(_ refusal: PageRefusal, at address: String) { answer(.refused(refusal), at: address) }
}

/// Handler of the forms of all pages.
final class FormActions {
  unowned let application: WebApplication
  var control: CoordinatorConnection { application.control }
  private lazy var shop = ShopForms(application)

  init(_ application: WebApplication) { self.application = application }

  /// Deadline for the next call of `finishIteration()`; nil for none.
  var nextDeadline: MonotonicTime? { shop.nextDeadline }
  /// Continues the connection to the manager's side of the vending machine.
  func finishIteration() { shop.finishIteration() }

  /// Executes a form; false if the path has no form.
  func serve(_ exchange: HTTPExchange) -> Bool {
    let request = exchange.request
    guard let action = FormAction(rawValue: request.target.path) else { return false }
    guard let sent = FormFields(request.body) else {
      exchange.respond(
        application.refusal(request, FieldError("", .form(expected: "the form is malformed"))))
      return true
    }
    do throws(FieldError) {
      _ = try RequestFields(request.target.query, known: ["lang"])
      let fields = try RequestFields(
        sent, known: action.fields.union(["key", "back"]), repeatable: action.repeated)
      try serve(
        SubmittedForm(exchange: exchange, fields: fields, language: Preferences.language(of: request)), action
      )
    } catch { exchange.respond(application.refusal(request, error)) }
    return true
  }

  /// Executes a parsed form with the handler of its action.
  private func serve(_ form: SubmittedForm, _ action: FormAction) throws(FieldError) {
    switch action {
    case .customers: try addCustomers(form)
    case .reset: try reset(form)
    case .cancel: try applySelection(form, isCancelling: true)
    case .requeue: try applySelection(form, isCancelling: false)
    case .pause, .resume: try pause(form, action == .pause)
    case .scale: try scale(form)
    case .end: try endTeller(form)
    case .language, .theme: try storePreference(form, action)
    case .juice, .stock, .insert, .buy, .change, .managerLogin, .restock, .discard:
      try shop.serve(form, action)
    }
  }

  // MARK: - Customers

  /// Adds the customers that a form of the bank's page or of the kiosk orders, and answers with their tickets.
  private func addCustomers(_ form: SubmittedForm) throws(FieldError) {
    let fields = form.fields
    let isKiosk = try fields.choice("from", of: ["bank", "kiosk"]) { ["bank": false, "kiosk": true][$0] }
    let page = isKiosk == true ? "/kiosk" : "/"
    let key = try form.key()
    let order = EnqueueParameters(
      count: try fields.needed(try fields.number("count", in: 1...1_000_000), "count"),
      service: try fields.service(), priority: try fields.grade() ?? .regular, amount: nil, account: nil,
      seed: Self.seed(of: key), key: key, payload: try fields.text("payload").map { Array($0.utf8) },
      isCommandLine: application.permitsCommandLines(form.exchange.request) ? nil : false)
    // The coordinator also refuses this order, but with a message that does not suit a form.
    if order.service == .juice { return form.refuse(.juiceUnnamed, at: page) }
    control.ask(.enqueue(order), within: .seconds(20)) { outcome in
      switch outcome.only(\.enqueued) {
      case .success(let report):
        let notice: Notice =
          report.known > 0
          ? .known(count: report.count == 0 ? report.known : report.count, first: report.first)
          : .added(count: report.count, first: report.first)
        let isOne = isKiosk == true && report.first == report.last
        form.answer(
          notice, at: isOne ? "/ticket/\(report.first)?day=\(report.day)" : page, isMoved: isOne)
      case .failure(let failure): form.refuse(PageRefusal(failure), at: page)
      }
    }
  }

  /// Seed of new customers, from their idempotency key, so that a repeated request creates the same customers.
  static func seed(of key: String) -> UInt64 {
    key.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  // MARK: - Reset

  /// Shows the confirmation page of a reset.
  func askForReset(_ exchange: HTTPExchange) {
    let request = exchange.request
    do throws(FieldError) { _ = try RequestFields(request.target.query, known: ["lang"]) } catch {
      return exchange.respond(application.refusal(request, error))
    }
    control.ask(.status) { [application] outcome in
      let frame = application.pageSubscriptions.frame(request)
      switch outcome.only(\.status) {
      case .success(let report):
        let question = Confirmation.reset(
          day: report.day, waiting: report.queue.waiting + report.queue.delayed,
          serving: report.queue.serving)
        exchange.respond(.page(ConfirmPage(confirmation: question, back: "/").html(frame)))
      case .failure: exchange.respond(.page(ErrorPage(status: 503).html(frame), status: 503))
      }
    }
  }

  /// Resets the business day, which the form has to name and to confirm.
  private func reset(_ form: SubmittedForm) throws(FieldError) {
    let page = form.back(or: "/")
    let day = try form.fields.needed(try form.fields.day(), "day")
    _ = try form.fields.needed(try form.fields.number("confirmed", in: 1...1), "confirmed")
    control.ask(.reset(day: day), within: .seconds(60)) { outcome in
      switch outcome.only(\.status) {
      case .success(let report): form.answer(.reset(day: report.day), at: page)
      case .failure(let failure):
        form.refuse(failure.code == .wrongState ? .changed : PageRefusal(failure), at: page)
      }
    }
  }

  // MARK: - Windows

  /// Pauses a service, or resumes it if `isPause` is false.
  private func pause(_ form: SubmittedForm, _ isPause: Bool) throws(FieldError) {
    let page = form.back(or: "/windows")
    let service = try form.fields.needed(try form.fields.service(), "service")
    control.ask(isPause ? .pause(service) : .resume(service)) { outcome in
      switch outcome {
      case .success: form.answer(isPause ? .paused(service) : .resumed(service), at: page)
      case .failure(let failure): form.refuse(PageRefusal(failure), at: page)
      }
    }
  }

  /// Sets the number of windows of a service.
  private func scale(_ form: SubmittedForm) throws(FieldError) {
    let page = form.back(or: "/windows")
    let service = try form.fields.needed(try form.fields.service(), "service")
    let windows = try form.fields.needed(
      try form.fields.number("windows", in: 0...Limits.windowsPerService), "windows")
    WindowScaling(control).scale(service, to: windows) { outcome in
      switch outcome {
      case .done: form.answer(.scaled(service, windows: windows), at: page)
      case .closing: form.answer(.scaling(service, windows: windows), at: page)
      case .refused(let failure): form.refuse(PageRefusal(failure), at: page)
      }
    }
  }

  /// Kills the worker of a window if the server has `--chaos`, and measures the time until its customer is served
  /// again.
  private func endTeller(_ form: SubmittedForm) throws(FieldError) {
    let page = form.back(or: "/windows")
    let fields = form.fields
    let window = try fields.needed(
      try fields.value("window", expected: "the name of a window") { WindowName($0) }, "window"
    ).text
    let generation = try fields.needed(try fields.number("generation", in: 0...Int64.max), "generation")
    let pid = Int32(
      try fields.needed(try fields.number("pid", in: 2...Int64(Int32.max)), "pid"))
    guard application.options.hasChaos else { return form.refuse(.noChaos, at: page) }
    application.dataSources.subscribeBriefly([.board], at: SystemClock.monotonic())
    let loader = application.pageSubscriptions.loader
    let watch = KillTracker(
      window: window, generation: generation, pid: pid, in: application.dataSources.board)
    let former = loader.kill
    // A second press does not kill again, so the measurement of the first press is kept.
    if former?.isOf(watch) != true { loader.kill = watch }
    control.ask(.killWorker(window: window, generation: generation, pid: pid)) { [self] outcome in
      switch outcome {
      case .success: form.answer(.ended(window: window), at: page)
      case .failure(let failure):
        // The request failed and no end of the process was seen, so restore the measurement of the preceding kill.
        if let kill = loader.kill, kill.isOf(watch), kill.stage == .ordered {
          loader.kill = former?.stage == .ordered ? nil : former
          application.pageSubscriptions.handleChange(.board)
        }
        form.refuse(failure.code == .wrongState ? .otherGeneration : PageRefusal(failure), at: page)
      }
    }
  }

  // MARK: - Preferences

  /// Stores the language or the theme in a cookie.
  private func storePreference(_ form: SubmittedForm, _ action: FormAction) throws(FieldError) {
    let name = action == .language ? "lang" : "theme"
    let choices = action == .language ? ["ko", "en"] : ["dark", "light"]
    let choice = try form.fields.choice(name, of: choices) { choices.contains($0) ? $0 : nil }
    let value = action == .language ? try form.fields.needed(choice, name) : choice ?? ""
    var response = HTTPResponse.seeOther(form.back(or: "/"))
    let cookie = action == .language ? Preferences.languageCookie : Preferences.themeCookie
    response.add("Set-Cookie", Preferences.cookie(cookie, value))
    form.exchange.respond(response)
  }
}

extension PageRefusal {
  /// Reason why the coordinator refused a request.
  init(_ failure: Failure) {
    self =
      switch failure.code {
      case .notOpen: .notOpen
      case .draining: .draining
      case .queueFull: .queueFull
      case .diskFull: .diskFull
      case .noSuchTicket, .noSuchDay: .noSuchTicket
      case .noSuchService: .noSuchService
      case .noSuchWindow: .noSuchWindow
      case .processChanged: .otherGeneration
      case .wrongState: .wrongState
      case .wrongDay: .dayChanged
      case .keyConflict: .keyConflict
      case .badRequest where failure.messageDetail?.kind.map(Self.unread.contains) == true: .payloadUnread
      case .badRequest: .badForm
      case .leaseLost: .leaseLost
      case .unsupportedWithSharedStore: .unsupportedWithSharedStore
      case .system where failure.isUnanswered: .inDoubt
      default: .failed
      }
  }

  /// Reasons why a coordinator refuses a payload that no service would read.
  private static let unread: Set<MessageDetail.Kind> = [.payloadNotAllowed, .payloadWithoutService]
}

extension Notice {
  /// HTTP status of the notice for a script.
  var httpStatus: Int {
    switch self {
    case .juiceShort: 409
    case .refused(let refusal):
      switch refusal {
      case .badForm, .nothingSelected, .juiceUnnamed, .payloadUnread: 400
      case .readOnly, .noChaos, .notManager, .wrongCode, .notAllowed, .runNotAllowed: 403
      case .codePause: 429
      case .unfinished: 202
      case .noSuchTicket, .noSuchService, .noSuchWindow, .noSuchItem, .noSuchJuice, .noSuchProduct: 404
      case .notOpen, .draining, .queueFull, .diskFull, .crowded, .stockUnavailable, .vendingUnavailable,
        .inDoubt,
        .leaseLost:
        503
      default: 409
      }
    default: 200
    }
  }
}
