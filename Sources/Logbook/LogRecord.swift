// Owns the words of reading logs: one line with its place in time, and how reading them can fail. Invariant:
// the times of one worker's records never go back, so a merge of workers never reorders one of them. Failure:
// LogFailure, each case with what a person needs to know; the sentences are the command's.
import Posix

/// One line of a worker's log, and when it belongs.
public struct LogRecord: Sendable, Hashable {
  /// The worker whose log it is: the name of the file without `.log`.
  public let worker: String
  /// Milliseconds since 1970 UTC: the latest time stamp in this log up to this line.
  /// ``LogRecord/unknownTime`` before the first.
  public let time: Int64
  /// The bytes of the line without its line feed. Any bytes but a line feed can be among them.
  public let line: [UInt8]
  /// The time of lines that no line with a time stamp stands before; they come first.
  public static let unknownTime = Int64.min

  public init(worker: String, time: Int64, line: [UInt8]) {
    (self.worker, self.time, self.line) = (worker, time, line)
  }
}

/// Why logs cannot be read.
public enum LogFailure: Error, Sendable, Hashable {
  /// There is no such directory: no worker has ever written here.
  case noDirectory(String)
  /// No worker of this name has a log; the names of those who have.
  case unknownWorker(String, known: [String])
  case system(SystemError)
}

/// Turns the system's errors into this floor's.
@inline(__always)
func asLogFailure<Result: ~Copyable>(_ call: () throws(SystemError) -> Result) throws(LogFailure) -> Result {
  do throws(SystemError) { return try call() } catch { throw .system(error) }
}
