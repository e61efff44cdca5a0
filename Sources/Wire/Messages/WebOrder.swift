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

  public init(port: Int64? = nil, isReadOnly: Bool = false, hasChaos: Bool = false) {
    (self.port, self.isReadOnly, self.hasChaos) = (port, isReadOnly, hasChaos)
  }

  /// Whether a server that was ordered like the other one does what is asked for here, so that it may stay.
  public func isMet(by other: WebOrder) -> Bool {
    (port == nil || port == other.port) && (!isReadOnly || other.isReadOnly) && (!hasChaos || other.hasChaos)
  }

  enum CodingKeys: Int, CodingKey { case port = 1, isReadOnly, hasChaos }
}
