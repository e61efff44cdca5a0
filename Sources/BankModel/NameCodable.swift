// Names of enumeration cases, for example in JSON and logs. The database and the wire format contain the raw values.
// Invariant: neither a name nor a raw value ever gets a new meaning.

/// An enumeration whose raw values count from 1 without a gap, with a name for each case.
public protocol NameCodable: RawRepresentable<UInt8>, CaseIterable, Sendable, Codable {
  /// The names of all cases, in the order of the raw values.
  static var names: [String] { get }
}

extension NameCodable {
  /// Name of the case.
  public var name: String { Self.names[Int(rawValue) - 1] }

  /// The case with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let place = Self.names.firstIndex(where: { $0 == name }) else { return nil }
    self.init(rawValue: UInt8(place + 1))
  }
}

extension NameCodable where Self: Comparable {
  /// Ordered by raw value.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
