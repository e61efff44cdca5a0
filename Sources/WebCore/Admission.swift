// Owns who may ask this server for something, and where a request must come from. It knows no page and no clock.
// Invariant: a request that is let through names a host of this server, and one that changes something comes from a page of
// this server, or over the socket in the home, which no browser can be led to (OWASP: DNS rebinding, cross-site requests).

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
  /// Names under which a proxy with TLS in front of this server is reached, without a port.
  public var proxied: [String]
  /// Whether nobody may change anything.
  public var isReadOnly: Bool

  public init(port: UInt16, proxied: [String] = [], isReadOnly: Bool = false) {
    (self.port, self.proxied, self.isReadOnly) = (port, proxied, isReadOnly)
  }

  /// Why a request goes no further; nil where it does.
  public func refusal(of request: HTTPRequest) -> Refusal? {
    if case .other = request.method { return .method }
    guard let host = request.headers["host"], isOwn(host, isLocal: request.isLocal) else { return .host }
    guard request.method == .post else { return nil }
    return isFromHere(request, host) ? nil : .origin
  }

  /// The address under which a person reaches this server.
  public var url: String { "http://127.0.0.1:\(port)" }

  private func isOwn(_ host: String, isLocal: Bool) -> Bool {
    if isLocal, host == "localhost" { return true }
    return host == "127.0.0.1:\(port)" || host == "localhost:\(port)" || proxied.contains(host)
  }

  private func isFromHere(_ request: HTTPRequest, _ host: String) -> Bool {
    guard request.headers.count(of: "origin") <= 1 else { return false }
    guard let origin = request.headers["origin"] else { return request.isLocal }
    return origin == (proxied.contains(host) ? "https://" : "http://") + host
  }
}
