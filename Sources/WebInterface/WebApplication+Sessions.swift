// Visitors of requests, and the start and end of sessions: links, logins, logouts, the list of sessions, and the proof
// that this server is the one of a session.
// Invariant: without a session, only the owner's own requests have rights. The streams of a session end with the
// session.
import BankModel
import Configuration
import JSON
import Posix
import JSONOutput
import Time
import WebCore
import WebPages
import WebServer

/// Identity and rights of the sender of a request.
struct Visitor {
  let role: WebRole
  let mayRun: Bool
  let isManager: Bool
  /// Id of the session; nil for the owner's requests without a session on the socket in the home.
  let session: String?
}

extension WebApplication {
  private var wallNow: Int64 { SystemClock.wall().milliseconds }

  /// The visitor of a request; nil if it has no session and is not the owner's.
  func visitor(of request: HTTPRequest) -> Visitor? {
    if let session = credentials.session(of: request, at: wallNow) {
      return Visitor(
        role: session.grant.role, mayRun: session.grant.mayRun, isManager: session.isManager,
        session: session.id)
    }
    guard admission.isOwners(request) else { return nil }
    return Visitor(role: .manager, mayRun: true, isManager: true, session: nil)
  }

  /// True if the request came through a TLS proxy of the options, judged by its host name.
  func isProxied(_ request: HTTPRequest) -> Bool {
    options.proxyHosts.contains(request.headers["host"] ?? "")
  }

  // MARK: - Start of sessions

  /// Starts a session with the token of a login link.
  func login(_ request: HTTPRequest) -> HTTPResponse {
    // A link preview may send HEAD, which must not use up the token.
    guard request.method == .get, let token = request.target.query["token"] else {
      return unknown(request, wasUsed: request.target.query["token"] != nil)
    }
    // Redirect a browser to the bank's own name first, so that its cookie belongs to this name.
    if let address = admission.ownAddress(of: request) { return .seeOther(address) }
    guard let grant = credentials.redeem(token, at: SystemClock.monotonic()) else {
      return unknown(request, wasUsed: true)
    }
    var response = HTTPResponse.seeOther("/")
    let ended = credentials.startSession(
      grant, &response, isProxied: isProxied(request), at: wallNow, random: { RandomSeed.fromSystem() })
    endStreams(of: ended)
    home.keep(credentials.sessions)
    return response
  }

  /// Creates a login link. Only the owner may do this.
  func issueLink(_ request: HTTPRequest) -> HTTPResponse {
    guard admission.isOwners(request) else {
      return refusal(request, .forbidden, "links are issued only on the socket in the home")
    }
    guard request.method == .post else { return refusal(request, .methodNotAllowed, "POST") }
    let query = request.target.query
    guard let role = WebRole(rawValue: query["role"] ?? WebRole.operator.rawValue) else {
      let known = WebRole.allCases.map(\.rawValue).joined(separator: ", ")
      return refusal(request, .badRequest, "a role is one of: \(known)")
    }
    let grant = WebGrant(role: role, mayRun: query["run"] == "1")
    let token = credentials.issue(grant, at: SystemClock.monotonic()) { RandomSeed.fromSystem() }
    let document: JSONValue = [
      "version": 1, "url": .init(address.map { "\($0)/login?token=\(token)" }),
      "origin": .init(portRefusal == nil ? admission.ownURL : nil),
      "socket": .string(home.socket),
      "port_error": .init(portRefusal), "read_only": .bool(options.isReadOnly),
      "chaos": .bool(options.hasChaos),
      "asked_port": .init(options.port), "role": .string(role.rawValue), "run": .bool(grant.mayRun),
      "manager_code": .string(credentials.secrets.managerCode),
    ]
    return .json(Array(document.text.utf8))
  }

  /// Address for browsers; nil if this process has no port and the options name no proxy.
  private var address: String? {
    portRefusal == nil ? admission.url : options.proxyHosts.first.map { "https://\($0)" }
  }

  // MARK: - End of sessions

  /// Ends the session of the request.
  func logOut(_ request: HTTPRequest) -> HTTPResponse {
    if let session = visitor(of: request)?.session { end([session]) }
    var response = HTTPResponse.seeOther("/login")
    credentials.expireCookie(&response, isProxied: isProxied(request))
    return response
  }

  /// `GET /sessions` lists all sessions. `POST /sessions?end=ID` or `?end=all` ends one or all, then lists the
  /// remaining ones.
  func listSessions(_ request: HTTPRequest) -> HTTPResponse {
    guard admission.isOwners(request) else {
      return refusal(request, .forbidden, "sessions are listed only on the socket in the home")
    }
    removeExpired()
    var ended: [String] = []
    if request.method == .post, let id = request.target.query["end"] {
      ended = credentials.sessions.all.map(\.id).filter { id == "all" || $0 == id }
      guard id == "all" || !ended.isEmpty else {
        return refusal(request, .noSuchSession, "there is no session \(id)")
      }
      end(ended)
    }
    let all = credentials.sessions.all.map { session -> JSONValue in
      [
        "id": .string(session.id), "role": .string(session.grant.role.rawValue),
        "run": .bool(session.grant.mayRun), "since": .string(Timestamp.utc(milliseconds: session.since)),
        "seen": .string(Timestamp.utc(milliseconds: session.seen)),
        "ends": .string(Timestamp.utc(milliseconds: session.end)),
      ]
    }
    let document: JSONValue = [
      "version": 1, "sessions": .array(all), "ended": .array(ended.map { .string($0) }),
    ]
    return .json(Array(document.text.utf8))
  }

  /// Gives the session of a request the vending machine manager's rights, after its user has entered the code.
  func makeManager(_ request: HTTPRequest) {
    guard let session = visitor(of: request)?.session else { return }
    credentials.makeManager(session)
    home.keep(credentials.sessions)
  }

  /// True if the visitor has the rights of the vending machine's manager.
  func isManager(_ request: HTTPRequest) -> Bool { visitor(of: request)?.isManager == true }

  private func end(_ sessions: [String]) {
    for session in sessions { _ = credentials.end(session) }
    endStreams(of: sessions)
    home.keep(credentials.sessions)
  }

  /// Ends expired sessions and their streams.
  func removeExpired() {
    let ended = credentials.removeExpired(at: wallNow)
    guard !ended.isEmpty else { return }
    endStreams(of: ended)
    home.keep(credentials.sessions)
  }

  private func endStreams(of sessions: [String]) { if !sessions.isEmpty { onEnd?(sessions) } }

  // MARK: - Rights of a session

  /// The refusal of a request that adds a command line without permission; nil for any other request. A session needs
  /// the permission of its link, because command lines run as the bank's user.
  func refusalToRun(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.method == .post, Self.addsCommandCustomers(request), visitor(of: request)?.mayRun != true
    else {
      return nil
    }
    if request.target.segments.first == "api" {
      return refusal(
        request, .runNotAllowed, "running commands requires a link of 'bankctl web --allow-run'")
    }
    return refused(request, .runNotAllowed)
  }

  /// True if customers that the request adds may bring a command line. The coordinator refuses them otherwise, also for
  /// a service of the configuration.
  func permitsCommandLines(_ request: HTTPRequest) -> Bool { visitor(of: request)?.mayRun == true }

  /// True if the request adds customers of the service that runs command lines.
  private static func addsCommandCustomers(_ request: HTTPRequest) -> Bool {
    switch "/" + request.target.segments.joined(separator: "/") {
    case "/customers": FormFields(request.body)?.all("service").contains(ServiceName.run.text) == true
    case "/api/v1/customers": namesCommandService(request.body)
    default: false
    }
  }

  /// True if any `service` member of the object names the service that runs command lines. Every member is checked if
  /// the name is repeated.
  private static func namesCommandService(_ body: [UInt8]) -> Bool {
    guard let node = try? JSONReader.read(body), case .object(let members) = node.content else {
      return false
    }
    return members.contains { $0.key == "service" && $0.value.content == .string(ServiceName.run.text) }
  }

  /// The refusal of a request that the role does not permit.
  func forbidden(_ request: HTTPRequest, _ role: WebRole) -> HTTPResponse {
    if request.target.segments.first == "api" {
      return refusal(request, .forbidden, "the role \(role.rawValue) is not permitted to do this")
    }
    return refused(request, .notAllowed)
  }

  /// A refusal as JSON for a script, or as an error page.
  private func refused(_ request: HTTPRequest, _ refusal: PageRefusal) -> HTTPResponse {
    guard request.wantsJSON else { return errorPage(request, 403) }
    let notice = Notice.refused(refusal)
    return .json(Array(notice.json(Preferences.language(of: request)).utf8), status: 403)
  }

  // MARK: - Proof of this server

  /// Proves to a page that it still reaches the server of its session. The request needs no cookie.
  func proof(_ request: HTTPRequest) -> HTTPResponse {
    let query = request.target.query
    guard let session = query["session"], let question = query["question"], session.utf8.count == 8,
      (16...128).contains(question.utf8.count), let host = request.headers["host"]
    else { return refusal(request, .badRequest, "a session and a question are needed") }
    return .text(200, credentials.proof(of: session, host: host, question: question))
  }

  /// Data with which a page recognises this server later: the id of its session and a key; "" without a
  /// session.
  func knowledge(of request: HTTPRequest) -> String {
    guard let session = visitor(of: request)?.session else { return "" }
    return session + " " + credentials.proofKey(of: session)
  }

  // MARK: - Refused heads

  /// The response to a request that the HTTP server refuses with this status before any handler, such as one with a
  /// malformed head.
  func answer(refused status: Int, _ request: HTTPRequest) -> HTTPResponse {
    if isForScripts(request) {
      return refusal(request, WebErrorCode(refusedHead: status), Self.reasons[status] ?? "refused")
    }
    return .page(ErrorPage(status: status).html(pageSubscriptions.frame(request)), status: status)
  }

  /// Messages for scripts by the status of a refused head.
  private static let reasons = [
    400: "the request is malformed", 408: "the request took too long", 413: "the body is too large",
    431: "the headers are larger than 16 KiB", 503: "there are too many connections",
    505: "only HTTP/1.1 is supported",
  ]
}
