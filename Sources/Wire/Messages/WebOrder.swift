// Owns what a client asks of the coordinator about the server of the page. It knows no server.
// Nothing here is checked beyond its form: the coordinator checks the port and the names.

/// How the server of the page shall be.
public struct WebOrder: Codable, Sendable, Equatable {
  /// The port that is tried first; nil for the usual one, or the one that it has.
  public var port: Int64?
  /// Whether nobody may change anything from a page.
  public var isReadOnly: Bool
  /// Whether the process of a window may be ended from a page.
  public var hasChaos: Bool
  /// The name under which a server with TLS in front of this one is reached; nil for none.
  public var host: String?

  public init(port: Int64? = nil, isReadOnly: Bool = false, hasChaos: Bool = false, host: String? = nil) {
    (self.port, self.isReadOnly, self.hasChaos, self.host) = (port, isReadOnly, hasChaos, host)
  }

  /// Whether the name is one of a host, in small letters and with a port where that is not the usual one.
  public var hasGoodHost: Bool {
    host.map { host in
      (1...253).contains(host.utf8.count)
        && host.utf8.allSatisfy { byte in
          (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: ":")).contains(byte)
            || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
        }
    } ?? true
  }

  /// Whether a server that was ordered like the other one does what is asked for here, so that it may stay.
  public func isMet(by other: WebOrder) -> Bool {
    (port == nil || port == other.port) && (!isReadOnly || other.isReadOnly) && (!hasChaos || other.hasChaos)
      && (host == nil || host == other.host)
  }

  enum CodingKeys: Int, CodingKey { case port = 1, isReadOnly, hasChaos, host }
}
