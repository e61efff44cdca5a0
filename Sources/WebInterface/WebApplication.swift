// Admission and routing of requests.
// Invariant: without a session, a client other than the owner receives no data of the bank. A POST from another origin
// changes nothing, and a read-only server changes nothing in the bank.
import BankModel
import Posix
import JSONOutput
import StockClient
import Time
import VendingClient
import WebCore
import WebPages
import WebServer
import Wire

/// Handler of the requests to the web server: pages, forms, streams, scripts and sessions.
final class WebApplication: HTTPHandler {
  let loop: EventLoop
  let options: WebOptions
  let home: WebHome
  let control: CoordinatorConnection
  var admission: Admission
  var credentials: Credentials
  let dataSources: DataSources
  let pageSubscriptions: PageSubscriptions
  /// Reason why this process may not listen on any port of 127.0.0.1; nil if it does listen.
  let portRefusal: String?
  /// Called with the ids of ended sessions, to end their streams.
  var onEnd: (([String]) -> Void)?
  private let assets = WebAssets()
  /// Connections to the stock and to the customers' side of the machine, for single requests.
  let stock: StockClient
  let vending: VendingClient
  /// Handler of `/api/v1/`, the interface for other programs.
  private(set) lazy var api = APIRoutes(self)
  /// Handler of forms.
  private(set) lazy var forms = FormActions(self)

  init(
    loop: EventLoop, options: WebOptions, home: WebHome, secrets: Credentials.Secrets, port: UInt16,
    portRefusal: String? = nil
  ) {
    let name = port == 0 ? "" : secrets.host
    (self.loop, self.options, self.home) = (loop, options, home)
    self.portRefusal = portRefusal
    control = CoordinatorConnection(socket: home.controlSocket, loop: loop)
    admission = Admission(
      port: port, name: name, proxyHosts: options.proxyHosts, isReadOnly: options.isReadOnly)
    credentials = Credentials(secrets, port: port, sessions: home.sessions())
    stock = StockClient(socket: StockClient.socket(inHome: home.path), loop: loop)
    vending = VendingClient(socket: VendingClient.customersSocket(inHome: home.path), loop: loop)
    dataSources = DataSources(home: home, loop: loop)
    pageSubscriptions = PageSubscriptions(
      dataSources, PageLoader(dataSources, control, home, vending: vending), options)
    pageSubscriptions.serverIdentity = { [unowned self] in (visitor(of: $0), knowledge(of: $0)) }
    dataSources.onChange = { [unowned self] kind in
      if kind == .board, let frame = dataSources.board { pageSubscriptions.loader.kill?.handle(frame) }
      pageSubscriptions.handleChange(kind)
    }
  }

  /// True if there may be data to send.
  var hadRequest = false
  private(set) var requests = 0
  /// Amount of work done: requests, changes of sources, loaded pages.
  var workCount: Int { requests + pageSubscriptions.workCount }

  // MARK: - Requests

  /// Checks a request before its body arrives. Returns the response that refuses it, or nil if it is admitted.
  func admit(_ request: HTTPRequest) -> HTTPResponse? {
    switch admission.refusal(of: request) {
    case .method:
      var response = refusal(request, .methodNotAllowed, "only GET, HEAD and POST are supported")
      response.set("Allow", "GET, HEAD, POST")
      return response
    case .host: return refusal(request, .wrongHost, "unknown host name")
    case .origin:
      return refusal(request, .badOrigin, "a change must come from a page of this server")
    case nil: break
    }
    if needsNoSession(request) { return nil }
    guard let visitor = visitor(of: request) else { return unknown(request) }
    guard visitor.role.permits(request) else { return forbidden(request, visitor.role) }
    if request.method == .post, admission.isReadOnly, !affectsOnlySession(request) {
      return readOnly(request)
    }
    return nil
  }

  /// Routes an admitted request to its handler.
  func serve(_ exchange: HTTPExchange) {
    hadRequest = true
    requests += 1
    let request = exchange.request
    let segments = request.target.segments
    if let refusal = refusalToRun(request) { return exchange.respond(refusal) }
    switch segments.first {
    case "login" where segments.count == 1: exchange.respond(login(request))
    case "identity" where segments.count == 1: exchange.respond(proof(request))
    case "logout" where segments.count == 1 && request.method == .post: exchange.respond(logOut(request))
    case "links" where segments.count == 1: exchange.respond(issueLink(request))
    case "sessions" where segments.count == 1: exchange.respond(listSessions(request))
    case "assets" where segments.count == 2 && request.onlyReads:
      exchange.respond(
        assets.response(to: request, named: String(segments[1])) ?? errorPage(request, 404))
    case "api": api.serve(exchange)
    case "events" where segments.count == 1: streamPages(exchange)
    case _ where request.method == .post: postForm(exchange)
    case "reset" where segments.count == 1: forms.askForReset(exchange)
    default: show(exchange)
    }
  }

  /// True if the request needs no session: login page, proof of the server, assets.
  private func needsNoSession(_ request: HTTPRequest) -> Bool {
    request.onlyReads
      && (["/login", "/identity"].contains(request.target.path) || request.target.segments.first == "assets")
  }

  /// True for the paths whose requests change nothing in the bank, so that a read-only server accepts them.
  private func affectsOnlySession(_ request: HTTPRequest) -> Bool {
    WebRole.sessionOnlyPaths.contains(request.target.path)
      || ["/links", "/sessions"].contains(request.target.path)
  }

  // MARK: - Pages

  private func show(_ exchange: HTTPExchange) {
    let path: PagePath
    do throws(FieldError) {
      guard let found = try PagePath.page(of: exchange.request.target) else {
        return exchange.respond(errorPage(exchange.request, 404))
      }
      path = found
    } catch { return exchange.respond(refusal(exchange.request, error)) }
    let visitor = visitor(of: exchange.request)
    let isManager = visitor?.isManager == true
    // A kiosk has the ticket terminal as its first page.
    if path == .bank, visitor?.role == .kiosk { return exchange.respond(.seeOther("/kiosk")) }
    if path == .vendingAdmin, !isManager {
      return exchange.respond(.page(ManagerLoginPage().html(pageSubscriptions.frame(exchange.request))))
    }
    pageSubscriptions.show(path, exchange, visitor)
  }

  /// Streams the pages named in the query.
  private func streamPages(_ exchange: HTTPExchange) {
    let request = exchange.request
    let visitor = visitor(of: request)
    let isManager = visitor?.isManager == true
    do throws(FieldError) {
      _ = try RequestFields(
        request.target.query, known: ["page", "last", "lang"], repeatable: ["page", "last"])
      let addresses = request.target.query.all("page")
      var paths: [PagePath] = []
      for address in addresses {
        guard let target = RequestTarget(address.utf8), let path = try PagePath.page(of: target) else {
          break
        }
        paths.append(path)
      }
      guard request.method == .get, !paths.isEmpty, paths.count == addresses.count,
        paths.count <= PageSubscriptions.maximumPagesPerStream, isManager || !paths.contains(.vendingAdmin)
      else { return exchange.respond(refusal(request, .notFound, "there is no such page")) }
      streamPages(paths, exchange, visitor)
    } catch { exchange.respond(refusal(request, .badRequest, error.message)) }
  }

  /// Executes a form, or answers 404 or 405.
  private func postForm(_ exchange: HTTPExchange) {
    guard !forms.serve(exchange) else { return }
    let isPage = (try? PagePath.page(of: exchange.request.target)) != nil
    exchange.respond(errorPage(exchange.request, isPage ? 405 : 404))
  }

  /// An error page with the path of the request.
  func errorPage(_ request: HTTPRequest, _ status: Int) -> HTTPResponse {
    .page(
      ErrorPage(status: status, detail: request.target.path).html(pageSubscriptions.frame(request)),
      status: status)
  }

  /// Number of customers in a state, from the board; nil if the board does not contain it.
  func count(_ service: ServiceName?, _ state: CustomerState?) -> Int64? {
    pageSubscriptions.loader.total(service, state)
  }

  // MARK: - Refusals

  /// The refusal of a change on a read-only server.
  private func readOnly(_ request: HTTPRequest) -> HTTPResponse {
    let notice = Notice.refused(.readOnly)
    if request.target.segments.first == "api" {
      return refusal(request, .readOnly, "the web interface was started with --read-only")
    }
    if request.wantsJSON {
      return .json(Array(notice.json(Preferences.language(of: request)).utf8), status: 403)
    }
    return errorPage(request, 403)
  }

  /// The response to a request without a session: a redirect, a page that repeats the request, an error for scripts, or
  /// the login page. `wasUsed` is true after an invalid link.
  func unknown(_ request: HTTPRequest, wasUsed: Bool = false) -> HTTPResponse {
    if let address = admission.ownAddress(of: request) { return .seeOther(address) }
    if let answer = crossSiteAnswer(request) { return answer }
    if isForScripts(request) {
      return refusal(request, .unauthenticated, "follow a link of 'bankctl web' first, or use run/web.sock")
    }
    return .page(LoginPage(wasUsed: wasUsed).html(pageSubscriptions.frame(request)), status: 401)
  }

  /// True if a refusal has to be JSON.
  func isForScripts(_ request: HTTPRequest) -> Bool {
    request.target.segments.first == "api" || request.wantsJSON
  }

  /// A refusal as JSON for a script, or as plain text.
  func refusal(_ request: HTTPRequest, _ code: WebErrorCode, _ message: String) -> HTTPResponse {
    isForScripts(request) ? APIRoutes.refusal(code, message) : .text(code.status, message)
  }

  // MARK: - Loop

  /// Deadline for the next call of `finishIteration(_:)`; nil for none.
  var nextDeadline: MonotonicTime? {
    .earliest(
      control.nextDeadline, stock.nextDeadline, vending.nextDeadline, dataSources.nextDeadline,
      .earlier(pageSubscriptions.nextDeadline, forms.nextDeadline))
  }

  /// Continues the connections to the bank's processes, and answers the requests that are due.
  func finishIteration(_ now: MonotonicTime) {
    if pageSubscriptions.isKeepAliveDue(now) { removeExpired() }
    dataSources.finishIteration(now)
    pageSubscriptions.finishIteration(now)
    // Loading pages adds requests to the coordinator, so its connection is flushed after them.
    control.finishIteration()
    forms.finishIteration()
    if stock.nextDeadline != nil { stock.finishIteration() }
    if vending.nextDeadline != nil { vending.finishIteration() }
  }
}
