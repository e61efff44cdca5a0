// Owns what becomes of each request: whether it is let in, and which part answers it. It owns no page and no connection.
// Invariant: nothing is shown to whoever has no cookie but the way to get one, and what is the same for everybody; nothing is
// changed by a request that does not come from here, or when nobody may change anything.
import BankModel
import Posix
import Reports
import StockClient
import Time
import VendingClient
import WebCore
import WebPages
import WebServer
import Wire

/// Answers requests, with what the bank says.
final class WebApplication: HTTPHandler {
  let loop: EventLoop
  let options: WebOptions
  let home: WebHome
  let control: ControlLink
  var admission: Admission
  var credentials: Credentials
  let feeds: Feeds
  let director: PageDirector
  /// Why this process may listen on 127.0.0.1 at no port; nil where it does.
  private let portRefusal: String?
  private let assets = WebAssets()
  /// The ways to the stock service and to the customers' side of the machine, for what is asked once.
  let stock: StockClient
  let vending: VendingClient
  private(set) lazy var api = APIRoutes(self)
  private(set) lazy var forms = FormActions(self)

  init(
    loop: EventLoop, options: WebOptions, home: WebHome, secrets: Credentials.Secrets, port: UInt16,
    portRefusal: String? = nil
  ) {
    (self.loop, self.options, self.home) = (loop, options, home)
    self.portRefusal = portRefusal
    control = ControlLink(socket: home.controlSocket, loop: loop)
    admission = Admission(port: port, proxied: options.proxied, isReadOnly: options.isReadOnly)
    credentials = Credentials(secrets, port: port)
    stock = StockClient(socket: StockClient.socket(inHome: home.path), loop: loop)
    vending = VendingClient(socket: VendingClient.customersSocket(inHome: home.path), loop: loop)
    feeds = Feeds(home: home, loop: loop)
    director = PageDirector(
      feeds, PageLoader(feeds, control, home, vending: vending), options)
    feeds.onChange = { [unowned self] kind in
      if kind == .board, let frame = feeds.board { director.loader.kill?.hear(frame) }
      director.note(kind)
    }
  }

  /// Whether something was asked since this was looked at last, so that there may be something to send.
  var wasAsked = false
  /// How much was done: requests, changes of what is followed, pages that were made.
  private(set) var requests = 0
  var deeds: Int { requests + director.deeds }

  // MARK: - Requests

  func admit(_ request: HTTPRequest) -> HTTPResponse? {
    switch admission.refusal(of: request) {
    case .method:
      var response = refusal(request, 405, "method_not_allowed", "only GET, HEAD and POST are understood")
      response.set("Allow", "GET, HEAD, POST")
      return response
    case .host: return .words(421, "this server has another name")
    case .origin:
      return refusal(request, 403, "foreign_origin", "a change must come from a page of this server")
    case nil: break
    }
    if isOpenToAll(request) { return nil }
    guard credentials.isLetIn(request) else { return unknown(request) }
    if request.method == .post, admission.isReadOnly, !isOwnBusiness(request) { return readOnly(request) }
    return nil
  }

  func serve(_ exchange: HTTPExchange) {
    wasAsked = true
    requests += 1
    let request = exchange.request
    let segments = request.target.segments
    switch segments.first {
    case "login" where segments.count == 1: exchange.respond(login(request))
    case "links" where segments.count == 1: exchange.respond(issueLink(request))
    case "assets" where segments.count == 2 && request.onlyReads:
      exchange.respond(
        assets.response(to: request, named: String(segments[1])) ?? errorPage(request, 404))
    case "api": api.serve(exchange)
    case "events" where segments.count == 1: follow(exchange)
    case _ where request.method == .post: postForm(exchange)
    case "reset" where segments.count == 1: forms.askForReset(exchange)
    default: show(exchange)
    }
  }

  /// What anybody may see who can connect.
  private func isOpenToAll(_ request: HTTPRequest) -> Bool {
    request.onlyReads && (request.target.path == "/login" || request.target.segments.first == "assets")
  }

  /// What changes nothing of the bank.
  private func isOwnBusiness(_ request: HTTPRequest) -> Bool {
    ["/links", "/language", "/theme"].contains(request.target.path)
  }

  // MARK: - Pages

  private func show(_ exchange: HTTPExchange) {
    let path: PagePath
    do throws(FieldFault) {
      guard let found = try PagePath.page(of: exchange.request.target) else {
        return exchange.respond(errorPage(exchange.request, 404))
      }
      path = found
    } catch { return exchange.respond(refusal(exchange.request, error)) }
    let isManager = credentials.isManager(exchange.request)
    if path == .vendingAdmin, !isManager {
      return exchange.respond(.page(ManagerLoginPage().html(director.frame(exchange.request))))
    }
    director.show(path, exchange, isManager: isManager)
  }

  /// The events of a page, which is named in the query.
  private func follow(_ exchange: HTTPExchange) {
    let request = exchange.request
    let isManager = credentials.isManager(request)
    do throws(FieldFault) {
      _ = try RequestFields(request.target.query, known: ["page", "lang"])
      guard request.method == .get, let address = request.target.query["page"],
        let target = RequestTarget(address.utf8), let path = try PagePath.page(of: target),
        isManager || path != .vendingAdmin
      else { return exchange.respond(refusal(request, 404, "not_found", "there is no such page")) }
      follow(path, target, exchange, isManager: isManager)
    } catch { exchange.respond(refusal(request, 400, "bad_request", error.message)) }
  }

  private func postForm(_ exchange: HTTPExchange) {
    guard !forms.serve(exchange) else { return }
    let isPage = (try? PagePath.page(of: exchange.request.target)) != nil
    exchange.respond(errorPage(exchange.request, isPage ? 405 : 404))
  }

  private func errorPage(_ request: HTTPRequest, _ status: Int) -> HTTPResponse {
    .page(
      ErrorPage(status: status, detail: request.target.path).html(director.frame(request)), status: status)
  }

  /// How many stand in a state, as the board tells it.
  func count(_ service: ServiceName?, _ state: CustomerState?) -> Int64? {
    director.loader.total(service, state)
  }

  // MARK: - Letting in

  private func login(_ request: HTTPRequest) -> HTTPResponse {
    // A program that looks at links before a person follows them asks for the head alone.
    guard request.method == .get, let token = request.target.query["token"],
      credentials.redeem(token, at: SystemClock.monotonic())
    else { return unknown(request, wasUsed: request.target.query["token"] != nil) }
    var response = HTTPResponse.seeOther("/")
    credentials.letIn(&response, isProxied: isProxied(request))
    return response
  }

  /// A new link, for whoever may connect to the socket in the home.
  private func issueLink(_ request: HTTPRequest) -> HTTPResponse {
    guard request.isLocal else {
      return refusal(request, 403, "forbidden", "links are given out over the socket in the home")
    }
    guard request.method == .post else { return refusal(request, 405, "method_not_allowed", "POST") }
    let token = credentials.issue(at: SystemClock.monotonic()) { RandomSeed.fromSystem() }
    let document: JSONValue = [
      "version": 1, "url": .init(address.map { "\($0)/login?token=\(token)" }),
      "socket": .string(home.socket),
      "port_refused": .init(portRefusal), "read_only": .bool(options.isReadOnly),
      "chaos": .bool(options.hasChaos),
      "asked_port": .init(options.port),
      "manager_code": .string(credentials.secrets.managerCode),
    ]
    return .json(Array(document.text.utf8))
  }

  /// Where browsers find the page; nil where that is nowhere, because this process may have no port and nobody stands in front.
  private var address: String? {
    portRefusal == nil ? admission.url : options.proxied.first.map { "https://\($0)" }
  }

  func isProxied(_ request: HTTPRequest) -> Bool {
    options.proxied.contains(request.headers["host"] ?? "")
  }

  // MARK: - Refusals

  private func readOnly(_ request: HTTPRequest) -> HTTPResponse {
    let notice = Notice.refused(.readOnly)
    if request.target.segments.first == "api" {
      return refusal(request, 403, "read_only", "nobody may change anything here")
    }
    if request.wantsJSON {
      return .json(Array(notice.json(Preferences.language(of: request)).utf8), status: 403)
    }
    return errorPage(request, 403)
  }

  private func unknown(_ request: HTTPRequest, wasUsed: Bool = false) -> HTTPResponse {
    if let answer = answerFromElsewhere(request) { return answer }
    if isForScripts(request) {
      return refusal(request, 401, "unknown", "follow a link of 'bankctl web' first, or use run/web.sock")
    }
    return .page(LoginPage(wasUsed: wasUsed).html(director.frame(request)), status: 401)
  }

  func isForScripts(_ request: HTTPRequest) -> Bool {
    request.target.segments.first == "api" || request.wantsJSON
  }

  func refusal(_ request: HTTPRequest, _ status: Int, _ code: String, _ message: String) -> HTTPResponse {
    guard isForScripts(request) else { return .words(status, message) }
    return .json(Array(JSONValue.error(code: code, message: message).text.utf8), status: status)
  }

  // MARK: - Turns

  var nextDeadline: MonotonicTime? {
    .earliest(
      control.nextDeadline, stock.nextDeadline, vending.nextDeadline, feeds.nextDeadline,
      .earlier(director.nextDeadline, forms.nextDeadline))
  }

  func endTurn(_ now: MonotonicTime) {
    feeds.endTurn(now)
    director.endTurn(now)
    // Behind the pages, which ask for what they are made of.
    control.endTurn()
    forms.endTurn()
    if stock.nextDeadline != nil { stock.endTurn() }
    if vending.nextDeadline != nil { vending.endTurn() }
  }
}
