// Owns how the kinds of the domain are called in commands, JSON and logs, beside the numbers that stand for them in the
// database and on the wire. Neither is ever given a new meaning.

/// A kind with a number, from 1 without a gap, and a name.
public protocol Named: RawRepresentable<UInt8>, CaseIterable, Sendable, Codable {
  /// The names of all kinds, in the order of the numbers.
  static var names: [String] { get }
}

extension Named {
  /// The name.
  public var name: String { Self.names[Int(rawValue) - 1] }

  /// The kind with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let place = Self.names.firstIndex(where: { $0 == name }) else { return nil }
    self.init(rawValue: UInt8(place + 1))
  }
}

extension Named where Self: Comparable {
  /// In the order of the numbers.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
