// Types for reading logs: a line with its time, and the errors.
// Invariant: the times of one worker's records never decrease, so a merge never reorders the lines of a
// worker.
// Errors: `LogFailure`; the command has the sentences.
import Posix

/// One line of a worker's log with its time.
public struct LogRecord: Sendable, Hashable {
  /// Name of the worker: the file name without `.log`.
  public let worker: String
  /// Milliseconds since 1970 UTC: the latest time stamp in this log up to this line.
  /// ``LogRecord/unknownTime`` before the first.
  public let time: Int64
  /// The bytes of the line without its line feed. All other bytes are possible.
  public let line: [UInt8]
  /// Time of lines before the first time stamp; they are sorted first.
  public static let unknownTime = Int64.min

  public init(worker: String, time: Int64, line: [UInt8]) {
    (self.worker, self.time, self.line) = (worker, time, line)
  }
}

/// Error of reading logs.
public enum LogFailure: Error, Sendable, Hashable {
  /// Missing directory: no worker has written a log here.
  case noDirectory(String)
  /// Unknown worker, and the names of known ones.
  case unknownWorker(String, known: [String])
  case system(SystemError)
}

@inline(__always)
func asLogFailure<Result: ~Copyable>(_ call: () throws(SystemError) -> Result) throws(LogFailure) -> Result {
  do throws(SystemError) { return try call() } catch { throw .system(error) }
}
