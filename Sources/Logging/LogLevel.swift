// Severity of events.
// Invariant: the names do not change, because scripts search log files for them.
import BankModel

/// Severity of an event for an operator.
public enum LogLevel: UInt8, NameCodable, Comparable {
  /// Details for debugging.
  case debug = 1
  /// Regular operation.
  case info = 2
  /// A problem that was handled.
  case warn = 3
  /// A problem that requires the attention of an operator.
  case error = 4

  /// The names in logs, in numeric order.
  public static let names = ["debug", "info", "warn", "error"]
}
