// Owns what the forms of the branch's pages do: who comes, who goes, windows, reset. Each becomes a request of the control socket.
// Invariant: every form is answered once, with a notice; what is sent again under the same key is done once. A form that asks
// first does nothing without a confirmation of the very number that was shown.
// Failure: a notice of refusal, with the status that scripts know.
import BankModel
import Posix
import Reports
import Time
import WebCore
import WebPages
import WebServer
import Wire

/// Why a form was not done, as pages say it; the protocol has a refusal of its own.
typealias PageRefusal = WebPages.Refusal

/// One form that was sent.
struct SentForm {
  let exchange: HTTPExchange
  let fields: FormFields
  let language: Language

  /// The key, where the form has a good one.
  var key: String? {
    guard let key = fields.text("key"), key.utf8.count <= 60,
      key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    return key
  }

  /// A path of this server to go back to, and nothing else: nobody is led elsewhere by a form.
  func back(or other: String) -> String {
    guard let back = fields.text("back"), back.hasPrefix("/"), !back.hasPrefix("//"), !back.contains("\\"),
      back.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return other }
    return back
  }

  /// Answers: the script is told, a browser without one is led to a page that says it.
  ///
  /// - Parameter isMoved: whether the script shall go there, too.
  func answer(_ notice: Notice, at address: String, isMoved: Bool = false) {
    let request = exchange.request
    if request.wantsJSON {
      let document = notice.json(language, to: isMoved ? address : nil)
      return exchange.respond(.json(Array(document.utf8), status: notice.httpStatus))
    }
    let sign = address.contains("?") ? "&" : "?"
    exchange.respond(.seeOther(address + sign + "said=" + PercentText.encode(notice.code)))
  }

  func refuse(_ refusal: PageRefusal, at address: String) { answer(.refused(refusal), at: address) }
}

final class FormActions {
  unowned let application: WebApplication
  var control: ControlLink { application.control }
  private lazy var shop = ShopForms(application)

  init(_ application: WebApplication) { self.application = application }

  var nextDeadline: MonotonicTime? { shop.nextDeadline }
  func endTurn() { shop.endTurn() }

  /// Does what a form asks for; false where there is no such form.
  func serve(_ exchange: HTTPExchange) -> Bool {
    let request = exchange.request
    guard let action = FormAction(rawValue: request.target.path) else { return false }
    guard let fields = FormFields(request.body) else {
      exchange.respond(application.refusal(request, 400, "bad_form", "the form cannot be understood"))
      return true
    }
    let form = SentForm(exchange: exchange, fields: fields, language: Preferences.language(of: request))
    switch action {
    case .customers: addCustomers(form)
    case .reset: reset(form)
    case .cancel: choose(form, isCancelling: true)
    case .requeue: choose(form, isCancelling: false)
    case .pause, .resume: pause(form, action == .pause)
    case .scale: scale(form)
    case .end: endTeller(form)
    case .language, .theme: keep(form, action)
    case .juice, .stock, .insert, .buy, .change, .managerLogin, .restock, .discard: shop.serve(form, action)
    }
    return true
  }

  // MARK: - Customers

  private func addCustomers(_ form: SentForm) {
    let isKiosk = form.fields["from"] == "kiosk"
    let page = isKiosk ? "/kiosk" : "/"
    let grade = form.fields.text("grade") ?? "regular"
    let service = form.fields.text("service").map { ServiceName($0) }
    guard let count = form.fields.number("count"), (1...1_000_000).contains(count),
      let priority = Priority(name: grade), service != .some(nil), let key = form.key
    else { return form.refuse(.badForm, at: page) }
    let payload = form.fields.text("payload").map { Array($0.utf8) }
    let order = EnqueueOrder(
      count: count, service: service ?? nil, priority: priority, amount: nil, account: nil,
      seed: Self.seed(of: key), key: key, payload: payload)
    control.ask(.enqueue(order), within: .seconds(20)) { outcome in
      switch outcome.only(\.enqueued) {
      case .success(let report):
        let notice: Notice =
          report.known > 0
          ? .known(count: report.count == 0 ? report.known : report.count, first: report.first)
          : .added(count: report.count, first: report.first)
        let isOne = isKiosk && report.first == report.last
        form.answer(notice, at: isOne ? "/ticket/\(report.first)" : page, isMoved: isOne)
      case .failure(let failure): form.refuse(PageRefusal(failure), at: page)
      }
    }
  }

  /// The same key draws the same customers, so that a request that is sent again is the same request.
  static func seed(of key: String) -> UInt64 {
    key.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  // MARK: - Reset

  /// Asks first.
  func askForReset(_ exchange: HTTPExchange) {
    let request = exchange.request
    control.ask(.status) { [application] outcome in
      let frame = application.director.frame(request)
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

  private func reset(_ form: SentForm) {
    let page = form.back(or: "/")
    guard form.fields["confirmed"] != nil, let day = form.fields.number("day"), day > 0 else {
      return form.refuse(.badForm, at: page)
    }
    control.ask(.reset(day: day), within: .seconds(60)) { outcome in
      switch outcome.only(\.status) {
      case .success(let report): form.answer(.reset(day: report.day), at: page)
      case .failure(let failure):
        form.refuse(failure.code == .wrongState ? .changed : PageRefusal(failure), at: page)
      }
    }
  }

  // MARK: - Windows

  private func pause(_ form: SentForm, _ isPause: Bool) {
    let page = form.back(or: "/windows")
    guard let service = form.fields.text("service").flatMap({ ServiceName($0) }) else {
      return form.refuse(.badForm, at: page)
    }
    control.ask(isPause ? .pause(service) : .resume(service)) { outcome in
      switch outcome {
      case .success: form.answer(isPause ? .paused(service) : .resumed(service), at: page)
      case .failure(let failure): form.refuse(PageRefusal(failure), at: page)
      }
    }
  }

  private func scale(_ form: SentForm) {
    let page = form.back(or: "/windows")
    guard let service = form.fields.text("service").flatMap({ ServiceName($0) }),
      let windows = form.fields.number("windows"), (0...Limits.windowsPerService).contains(windows)
    else { return form.refuse(.badForm, at: page) }
    control.ask(.scale([ServiceWindows(service: service, count: windows)]), within: .seconds(30)) { outcome in
      switch outcome {
      case .success: form.answer(.scaled(service, windows: windows), at: page)
      case .failure(let failure): form.refuse(PageRefusal(failure), at: page)
      }
    }
  }

  private func endTeller(_ form: SentForm) {
    let page = form.back(or: "/windows")
    guard application.options.hasChaos else { return form.refuse(.noChaos, at: page) }
    guard let window = form.fields.text("window"), let generation = form.fields.number("generation"),
      let pid = form.fields.number("pid").flatMap({ Int32(exactly: $0) }), pid > 1
    else { return form.refuse(.badForm, at: page) }
    application.feeds.want([.board], at: SystemClock.monotonic())
    let loader = application.director.loader
    let watch = KillWatch(window: window, generation: generation, pid: pid, in: application.feeds.board)
    let former = loader.kill
    // Whoever presses twice kills once, and what came of that stands.
    if former?.isOf(watch) != true { loader.kill = watch }
    control.ask(.endTeller(window: window, generation: generation, pid: pid)) { [self] outcome in
      switch outcome {
      case .success: form.answer(.ended(window: window), at: page)
      case .failure(let failure):
        // Nobody was killed, so what is told is still of the one before.
        if let kill = loader.kill, kill.isOf(watch), kill.stage == .ordered {
          loader.kill = former?.stage == .ordered ? nil : former
          application.director.note(.board)
        }
        form.refuse(failure.code == .wrongState ? .otherGeneration : PageRefusal(failure), at: page)
      }
    }
  }

  // MARK: - Choices

  private func keep(_ form: SentForm, _ action: FormAction) {
    let choice = form.fields[action == .language ? "lang" : "theme"] ?? ""
    let choices = action == .language ? ["ko", "en"] : ["dark", "light", ""]
    guard choices.contains(choice) else { return form.refuse(.badForm, at: form.back(or: "/")) }
    var response = HTTPResponse.seeOther(form.back(or: "/"))
    let name = action == .language ? Preferences.languageCookie : Preferences.themeCookie
    response.add("Set-Cookie", Preferences.cookie(name, choice))
    form.exchange.respond(response)
  }
}

extension PageRefusal {
  /// Why the coordinator has not done something.
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
      case .otherProcess: .otherGeneration
      case .wrongState: .wrongState
      case .wrongDay: .changed
      case .keyConflict: .keyConflict
      case .badRequest: .badForm
      case .leaseLost: .leaseLost
      case .notInSharedBank: .notInSharedBank
      default: .failed
      }
  }
}

extension Notice {
  /// The status of the same for a script.
  var httpStatus: Int {
    switch self {
    case .juiceShort: 409
    case .refused(let refusal):
      switch refusal {
      case .badForm, .nothingSelected: 400
      case .readOnly, .noChaos, .notManager, .wrongCode: 403
      case .noSuchTicket, .noSuchService, .noSuchWindow, .noSuchItem: 404
      case .notOpen, .draining, .queueFull, .diskFull, .crowded, .stockAway, .machineAway, .inDoubt,
        .leaseLost:
        503
      default: 409
      }
    default: 200
    }
  }
}
