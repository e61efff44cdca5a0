// Host and origin checks of requests.
// Invariant: an admitted request names a host of this server. A POST comes from a page of this server, or
// is the owner's own request over the socket in the home (OWASP: DNS rebinding, cross-site requests).

/// Checks method, host and origin of requests, so that pages of other sites cannot use this server.
public struct Admission: Sendable, Equatable {
  /// Reason for refusing a request; the raw value is the HTTP status.
  public enum Refusal: Int, Sendable, Equatable {
    /// Method not supported by this server.
    case method = 405
    /// Missing host name, or one that this server does not accept.
    case host = 421
    /// A POST that comes neither from a page of this server nor from the owner.
    case origin = 403
  }

  /// The port on 127.0.0.1; 0 for none.
  public var port: UInt16
  /// Host name that only this bank has on this machine; "" for none.
  public var name: String
  /// Host names, without a port, of a TLS proxy in front of this server.
  public var proxyHosts: [String]
  /// True if the server refuses changes. The checks of this type ignore the value.
  public var isReadOnly: Bool

  public init(port: UInt16, name: String = "", proxyHosts: [String] = [], isReadOnly: Bool = false) {
    (self.port, self.name, self.proxyHosts, self.isReadOnly) = (port, name, proxyHosts, isReadOnly)
  }

  /// Checks method, host and origin; returns the reason for refusing the request, or nil if it is admitted.
  public func refusal(of request: HTTPRequest) -> Refusal? {
    if case .other = request.method { return .method }
    guard let host = request.headers["host"], isOwners(request) || isOwnHost(host) else { return .host }
    guard request.method == .post else { return nil }
    return isSameOrigin(request, host) ? nil : .origin
  }

  /// True if the request is the bank user's own: it came over the socket in the home, from a process of that user or of
  /// root, for `localhost`, and shows no sign of a proxy.
  public func isOwners(_ request: HTTPRequest) -> Bool {
    request.isLocal && request.isFromOwner && request.headers["host"] == "localhost" && !request.isForwarded
  }

  /// Address to which a browser is redirected: that of the request under the bank's own name. Nil if the request is not
  /// redirected.
  ///
  /// Browsers send cookies of 127.0.0.1 to every port, so a browser is redirected to a name that only this
  /// bank has. A program that follows a link is not redirected, because it may be unable to resolve the
  /// name.
  public func ownAddress(of request: HTTPRequest) -> String? {
    guard !name.isEmpty, request.method == .get, !request.isLocal, let host = request.headers["host"],
      isLoopback(host), request.headers["sec-fetch-mode"] == "navigate", !isSafari(request)
    else { return nil }
    return "\(ownURL)\(request.target.text)"
  }

  /// Address of the server under the bank's own name.
  public var ownURL: String { "http://\(name):\(port)" }

  /// URL of the server on 127.0.0.1, for a link that a user opens.
  public var url: String { "http://127.0.0.1:\(port)" }

  /// True if a `Host` value names this server: its loopback address, its own name, or a proxy.
  private func isOwnHost(_ host: String) -> Bool {
    isLoopback(host) || !name.isEmpty && host == "\(name):\(port)" || proxyHosts.contains(host)
  }

  /// True if a `Host` value is 127.0.0.1 or `localhost` with the port of this server.
  private func isLoopback(_ host: String) -> Bool {
    port != 0 && (host == "127.0.0.1:\(port)" || host == "localhost:\(port)")
  }

  /// True for Safari. It leaves names below `localhost` to the system resolver, which may not resolve them.
  private func isSafari(_ request: HTTPRequest) -> Bool {
    let agent = request.headers["user-agent"] ?? ""
    return agent.contains("Safari/") && !agent.contains("Chrome/") && !agent.contains("Chromium/")
  }

  /// True if the `Origin` of a POST is this server, or is absent in the owner's own request.
  private func isSameOrigin(_ request: HTTPRequest, _ host: String) -> Bool {
    guard request.headers.count(of: "origin") <= 1 else { return false }
    guard let origin = request.headers["origin"] else { return isOwners(request) }
    return origin == (proxyHosts.contains(host) ? "https://" : "http://") + host
  }
}
