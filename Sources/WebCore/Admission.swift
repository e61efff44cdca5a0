// Owns which hosts this server answers for, and where a request must come from. It knows no page and no clock.
// Invariant: a request that is let through names a host of this server, and one that changes something comes from a page of
// this server, or is the owner's own over the socket in the home (OWASP: DNS rebinding, cross-site requests).

/// The rules for every request.
public struct Admission: Sendable, Equatable {
  /// Why a request goes no further.
  public enum Refusal: Int, Sendable, Equatable {
    /// It is of no kind that this server knows.
    case method = 405
    /// It names a host that is not this server.
    case host = 421
    /// It comes from a page of somebody else, or nobody may change anything here.
    case origin = 403
  }

  /// The port on 127.0.0.1; 0 for none.
  public var port: UInt16
  /// The bank's own name on this machine, which no other server has; "" for none.
  public var name: String
  /// Names under which a proxy with TLS in front of this server is reached, without a port.
  public var proxied: [String]
  /// Whether nobody may change anything.
  public var isReadOnly: Bool

  public init(port: UInt16, name: String = "", proxied: [String] = [], isReadOnly: Bool = false) {
    (self.port, self.name, self.proxied, self.isReadOnly) = (port, name, proxied, isReadOnly)
  }

  /// Why a request goes no further; nil where it does.
  public func refusal(of request: HTTPRequest) -> Refusal? {
    if case .other = request.method { return .method }
    guard let host = request.headers["host"], isOwners(request) || isOwn(host) else { return .host }
    guard request.method == .post else { return nil }
    return isFromHere(request, host) ? nil : .origin
  }

  /// True if the request is the bank user's own: it came over the socket in the home, from a process of that user, for
  /// `localhost`, and nothing says that a proxy passes it on for another machine.
  public func isOwners(_ request: HTTPRequest) -> Bool {
    request.isLocal && request.isOwners && request.headers["host"] == "localhost" && !request.isPassedOn
  }

  /// The same address under the bank's own name; nil if the request does not come from a browser that can be sent there.
  ///
  /// Cookies of 127.0.0.1 go to every port of it, so a browser is sent to a name that only this bank has. A program that
  /// follows a link stays at the address of the link: it may not resolve the name.
  public func ownAddress(of request: HTTPRequest) -> String? {
    guard !name.isEmpty, request.method == .get, !request.isLocal, let host = request.headers["host"],
      isLoopback(host), request.headers["sec-fetch-mode"] == "navigate", !isSafari(request)
    else { return nil }
    return "\(ownURL)\(request.target.text)"
  }

  /// The page under the bank's own name.
  public var ownURL: String { "http://\(name):\(port)" }

  /// The address under which a person reaches this server.
  public var url: String { "http://127.0.0.1:\(port)" }

  private func isOwn(_ host: String) -> Bool {
    isLoopback(host) || !name.isEmpty && host == "\(name):\(port)" || proxied.contains(host)
  }

  private func isLoopback(_ host: String) -> Bool {
    port != 0 && (host == "127.0.0.1:\(port)" || host == "localhost:\(port)")
  }

  /// Safari leaves names below `localhost` to the system, and macOS resolves none of them.
  private func isSafari(_ request: HTTPRequest) -> Bool {
    let agent = request.headers["user-agent"] ?? ""
    return agent.contains("Safari/") && !agent.contains("Chrome/") && !agent.contains("Chromium/")
  }

  private func isFromHere(_ request: HTTPRequest, _ host: String) -> Bool {
    guard request.headers.count(of: "origin") <= 1 else { return false }
    guard let origin = request.headers["origin"] else { return isOwners(request) }
    return origin == (proxied.contains(host) ? "https://" : "http://") + host
  }
}
