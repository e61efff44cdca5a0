// Owns what is known about a terminal: whether there is one and how large it is.
// It must not know colours or layouts.
// Invariant: a size is only given where both sides are positive.
// Failure: false or nil where there is no terminal.
import CLinux
import Glibc

/// The terminal behind a descriptor. `tty(4)`
public enum Terminal {
  /// A size in character cells.
  public struct Size: Sendable, Hashable {
    /// Characters in a line, at least 1.
    public let columns: Int
    /// Lines, at least 1.
    public let rows: Int

    /// A size; both sides are at least 1.
    public init(columns: Int, rows: Int) {
      precondition(columns > 0 && rows > 0, "a terminal has room for a character")
      self.columns = columns
      self.rows = rows
    }
  }

  /// Whether the descriptor is a terminal. `isatty(3)`
  public static func isTerminal(_ fd: CInt) -> Bool { isatty(fd) == 1 }

  /// The size of the terminal at standard output; nil where it is none or does not know.
  public static var size: Size? { size(of: STDOUT_FILENO) }

  /// The size of the terminal at a descriptor; nil where it is none or does not know. `ioctl(2)` TIOCGWINSZ
  public static func size(of fd: CInt) -> Size? {
    var columns: CInt = 0
    var rows: CInt = 0
    guard linux_terminal_size(fd, &columns, &rows) == 0, columns > 0, rows > 0 else { return nil }
    return Size(columns: Int(columns), rows: Int(rows))
  }
}
