// Owns finding the time stamp of a line, quickly for the lines that the bank itself has written.
// It must not know what else a line says.
// Invariant: where a line is whole, the answer is what `LogLine` would say.
// Failure: nil for a line without a readable stamp.
import Posix

/// The time stamps of log lines.
enum LogTime {
  private static let key = Array("ts=".utf8)

  /// The stamp of a line in milliseconds since 1970 UTC.
  ///
  /// A stamp at the beginning counts even where a crash has cut the rest of the line: it was written first.
  static func stamp(of line: [UInt8]) -> Int64? {
    if line.starts(with: key) {
      return Timestamp.parse(Array(line[key.count...].prefix { $0 != UInt8(ascii: " ") }))
    }
    return LogLine.parse(line)?.timestamp
  }
}
