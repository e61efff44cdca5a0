// Owns how much an event matters. It must not know what is done with it.
// Invariant: the names stand in log files and in scripts that read them, so they never change.
// Failure: nil for a name of no level.

/// How much an event matters to an operator.
public enum LogLevel: UInt8, Sendable, Comparable, CaseIterable {
  /// Details for finding a fault.
  case debug = 1
  /// What happens all day.
  case info = 2
  /// Something went wrong and was dealt with.
  case warn = 3
  /// Something went wrong that an operator should look at.
  case error = 4

  /// The name in logs.
  public var name: String {
    switch self {
    case .debug: "debug"
    case .info: "info"
    case .warn: "warn"
    case .error: "error"
    }
  }

  /// The level with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let match = LogLevel.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }

  /// A level is smaller when it matters less.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
