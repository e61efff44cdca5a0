// Severity of events.
// Invariant: the names are in log files and in scripts that read them, so they never change.
import BankModel

/// Severity of an event for an operator.
public enum LogLevel: UInt8, Named, Comparable {
  /// Details for debugging.
  case debug = 1
  /// Regular operation.
  case info = 2
  /// A problem that was handled.
  case warn = 3
  /// A problem that an operator should look at.
  case error = 4

  /// The names in logs, in numeric order.
  public static let names = ["debug", "info", "warn", "error"]
}
