// Roles of sessions, and the requests that each role permits.
// Invariant: operators and managers have every right of viewers and kiosks. A viewer may send a GET or HEAD.

/// Role of a session, which decides what its visitor may read and change.
public enum WebRole: String, Sendable, CaseIterable {
  /// Reads the pages and changes nothing in the bank.
  case viewer
  /// A public screen: the call display, and a terminal at which customers take tickets, order juice and buy
  /// drinks.
  case kiosk
  /// Adds and cancels customers, controls windows, resets the day.
  case `operator`
  /// An operator who manages the vending machine without entering the manager's code.
  case manager

  /// True if a session of this role may operate the bank: windows, all customers, the day, the stock.
  public var mayOperate: Bool { self == .operator || self == .manager }

  /// True if this role may send the forms on the page of this path.
  public func mayChange(_ path: String) -> Bool {
    switch self {
    case .viewer: false
    case .kiosk: Self.terminals.contains(path)
    case .operator, .manager: true
    }
  }

  /// True if this role may send the request.
  public func permits(_ request: HTTPRequest) -> Bool {
    let path = "/" + request.target.segments.joined(separator: "/")
    if Self.sessionOnlyPaths.contains(path) { return true }
    switch self {
    case .operator, .manager: return true
    case .viewer: return request.onlyReads
    case .kiosk: return request.onlyReads ? Self.isPublic(request, path) : Self.publicCommands.contains(path)
    }
  }

  /// Paths of requests that change the display settings or the login of the session.
  public static let sessionOnlyPaths: Set<String> = ["/language", "/theme", "/logout"]
  /// Pages with forms that a kiosk may send.
  private static let terminals: Set<String> = ["/kiosk", "/juice", "/vending"]
  /// Paths of pages and queries that a kiosk may read, besides assets and tickets.
  private static let publicPages: Set<String> = [
    "/", "/kiosk", "/lobby", "/juice", "/vending", "/api/v1/juice", "/api/v1/vending",
  ]
  /// Paths to which a kiosk may send a POST, besides ``sessionOnlyPaths``.
  private static let publicCommands: Set<String> = [
    "/customers", "/juice", "/vending/insert", "/vending/buy", "/vending/return", "/api/v1/customers",
    "/api/v1/juice", "/api/v1/vending/insert", "/api/v1/vending/buy", "/api/v1/vending/return",
  ]

  /// True if a kiosk may read the path; for a stream of events, every page that the stream names.
  private static func isPublic(_ request: HTTPRequest, _ path: String) -> Bool {
    guard path == "/events" else { return isPublic(path) }
    let pages = request.target.query.all("page")
    return !pages.isEmpty
      && pages.allSatisfy { page in
        RequestTarget(page.utf8).map { isPublic("/" + $0.segments.joined(separator: "/")) } ?? false
      }
  }

  /// True if a kiosk may read this path, which is not that of the event stream.
  private static func isPublic(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return publicPages.contains(path) || parts.first == "assets" || parts.count == 2 && parts[0] == "ticket"
      || path.hasPrefix("/api/v1/tickets/")
  }
}

/// Rights that a login link gives to its session: a role, and whether it may run command lines.
public struct WebGrant: Sendable, Equatable {
  /// Role of the session.
  public var role: WebRole
  /// True if the session may run command lines as the bank's user.
  public var mayRun: Bool

  public init(role: WebRole = .operator, mayRun: Bool = false) {
    self.role = role
    self.mayRun = mayRun && role.mayOperate
  }
}
