// Types for reading logs: a line with its time, and the errors.
// Invariant: the times of one log's records never decrease, so a merge never reorders the lines of a log.
// Errors: `LogFailure`.
import Posix

/// One line of a log with its time.
public struct LogRecord: Sendable, Hashable {
  /// Name of the log, such as `deposit-1` or `coordinator`: the file name without `.log`.
  public let worker: String
  /// Milliseconds since 1970 UTC: the latest time stamp read from this log so far. ``LogRecord/unknownTime`` if none
  /// was read.
  public let time: Int64
  /// The bytes of the line without its line feed. Any other byte may occur.
  public let line: [UInt8]
  /// Time of the lines before the first time stamp, which are sorted first.
  public static let unknownTime = Int64.min

  public init(worker: String, time: Int64, line: [UInt8]) {
    (self.worker, self.time, self.line) = (worker, time, line)
  }
}

/// Error of reading logs.
public enum LogFailure: Error, Sendable, Hashable {
  /// The directory with this path does not exist.
  case noDirectory(String)
  /// No log has this name. `known` contains the names of the existing logs.
  case unknownWorker(String, known: [String])
  case system(SystemError)
}

/// Runs a call, and converts its error.
@inline(__always)
func asLogFailure<Result: ~Copyable>(_ call: () throws(SystemError) -> Result) throws(LogFailure) -> Result {
  do throws(SystemError) { return try call() } catch { throw .system(error) }
}
