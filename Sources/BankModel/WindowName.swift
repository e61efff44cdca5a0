// Names of windows and workers in commands, addresses and file names of logs.
// Invariant: a file name made from a window's name cannot refer to another directory.

/// Name of a window, of an outside worker, or of another process of the bank.
public struct WindowName: Hashable, Sendable {
  /// The name as text.
  public let text: String

  /// Length limit in bytes: a service name, the infix of an outside worker, and a number.
  public static let longest = ServiceName.longest + "-outside-".utf8.count + 10

  /// Parses a name; nil if it is too long, does not start with `a-z` or `0-9`, or contains other characters than these,
  /// `_`, `.` and `-`.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, bytes.count <= Self.longest, Self.isLetterOrDigit(first),
      bytes.allSatisfy({ Self.isLetterOrDigit($0) || Self.marks.contains($0) })
    else { return nil }
    self.text = text
  }

  private static let marks = Array("_.-".utf8)

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}
