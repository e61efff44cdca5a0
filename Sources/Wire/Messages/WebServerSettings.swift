// Request to the coordinator about the web server. Decoding checks the form.
// The coordinator checks the port, and the characters of the host name.

/// Settings of the web server.
public struct WebServerSettings: Codable, Sendable, Equatable {
  /// Requested port; if it is taken, the server tries the following ones. Nil for the port of a running server
  /// that satisfies the rest of the request, or else the default.
  public var port: Int64?
  /// True if the web server shows the bank and refuses changes.
  public var isReadOnly: Bool
  /// True if a page may kill the process of a window.
  public var hasChaos: Bool
  /// Host name under which a TLS proxy in front of this server is reached; nil for none.
  public var host: String?

  public init(port: Int64? = nil, isReadOnly: Bool = false, hasChaos: Bool = false, host: String? = nil) {
    (self.port, self.isReadOnly, self.hasChaos, self.host) = (port, isReadOnly, hasChaos, host)
  }

  /// True if there is no name, or if it has 1 to 253 bytes and only characters of a host name in lower case and
  /// its port: `a` to `z`, `0` to `9`, `.`, `-` and `:`.
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

  /// True if a server started with `other` satisfies this request, so that it may stay.
  public func isSatisfied(by other: WebServerSettings) -> Bool {
    (port == nil || port == other.port) && (!isReadOnly || other.isReadOnly) && (!hasChaos || other.hasChaos)
      && (host == nil || host == other.host)
  }

  /// Field number of each property of the web server's settings, in messages.
  enum CodingKeys: Int, CodingKey { case port = 1, isReadOnly, hasChaos, host }
}
