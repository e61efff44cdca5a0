// Owns how much an event matters.
// Invariant: the names stand in log files and in scripts that read them, so they never change.
import BankModel

/// How much an event matters to an operator.
public enum LogLevel: UInt8, Named, Comparable {
  /// Details for finding a fault.
  case debug = 1
  /// What happens all day.
  case info = 2
  /// Something went wrong and was dealt with.
  case warn = 3
  /// Something went wrong that an operator should look at.
  case error = 4

  /// The names in logs, in the order of the numbers.
  public static let names = ["debug", "info", "warn", "error"]
}
