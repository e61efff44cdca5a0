// Size of a terminal, and raw mode: input is unbuffered and not echoed, and Ctrl-C is a key like any other.
// Invariant: a size is returned only if columns and rows are positive. A raw terminal is restored when its
// object is released. Errors: nil or SystemError if there is no terminal.
import CLinux
import Glibc

/// The terminal to which a descriptor leads. `tty(4)`
public enum Terminal {
  /// A size in character cells.
  public struct Size: Sendable, Hashable {
    /// Number of columns, at least 1.
    public let columns: Int
    /// Number of lines, at least 1.
    public let rows: Int

    /// Makes a size. Both numbers must be at least 1.
    public init(columns: Int, rows: Int) {
      precondition(columns > 0 && rows > 0, "a terminal has room for a character")
      self.columns = columns
      self.rows = rows
    }
  }

  /// True if the descriptor is a terminal. `isatty(3)`
  public static func isTerminal(_ fd: CInt) -> Bool { isatty(fd) == 1 }
  /// Size of the terminal at standard output; nil if it is not a terminal or has no size.
  public static var size: Size? { size(of: STDOUT_FILENO) }

  /// Size of the terminal at a descriptor; nil if it is not a terminal or has no size. `ioctl(2)` TIOCGWINSZ
  public static func size(of fd: CInt) -> Size? {
    var columns: CInt = 0
    var rows: CInt = 0
    guard linux_terminal_size(fd, &columns, &rows) == 0, columns > 0, rows > 0 else { return nil }
    return Size(columns: Int(columns), rows: Int(rows))
  }
}

/// A terminal in raw mode, from ``take()`` to ``restore()``. `termios(3)`
public final class RawTerminal {
  private let fd: CInt
  /// Settings before the terminal was set to raw mode.
  private var before = termios()
  private var isRaw = false

  /// Sets the terminal of a descriptor to raw mode. Keys typed before the call are kept.
  ///
  /// - Parameter keepsSignals: true if Ctrl-C, Ctrl-\\ and Ctrl-Z continue to raise signals until the next
  ///   ``take()``, because the caller does not read keys yet.
  public init(_ fd: CInt = STDIN_FILENO, keepsSignals: Bool = false) throws(SystemError) {
    self.fd = fd
    try take(keepsSignals: keepsSignals)
  }

  /// Sets raw mode again, after ``restore()`` or after another process has changed the settings.
  public func take() throws(SystemError) { try take(keepsSignals: false) }

  /// Sets raw mode; see ``init(_:keepsSignals:)``.
  private func take(keepsSignals: Bool) throws(SystemError) {
    if !isRaw {
      var settings = termios()
      try systemCall("tcgetattr", on: fd) { tcgetattr($0, &settings) }
      before = settings
    }
    var settings = before
    cfmakeraw(&settings)
    if keepsSignals { settings.c_lflag |= before.c_lflag & tcflag_t(ISIG) }
    // Keep the translation of newlines, because messages may be written while the terminal is raw.
    settings.c_oflag = before.c_oflag
    isRaw = true
    // In the background the kernel stops this process in the call, until it is in the foreground again.
    // `tcsetattr(3)`
    try systemCall("tcsetattr", on: fd) { tcsetattr($0, TCSADRAIN, &settings) }
  }

  deinit { restore() }

  /// Restores the settings of the terminal. Further calls do nothing.
  public func restore() {
    guard isRaw else { return }
    isRaw = false
    var settings = before
    _ = uninterrupted { tcsetattr(fd, TCSADRAIN, &settings) }
  }

  /// True if unread input exists, or the terminal was closed. `poll(2)`
  public var hasInput: Bool {
    var item = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
    return uninterrupted { poll(&item, 1, 0) } > 0
  }

  /// Reads typed input, at least one byte, and blocks if there is none. Returns nil if the terminal was closed, and
  /// an empty array if there is no input and the descriptor is non-blocking. `read(2)`
  ///
  /// - Parameter count: maximum number of bytes. The rest stays unread in the terminal.
  public func read(atMost count: Int = 1024) throws(SystemError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let count = bytes.withUnsafeMutableBytes { buffer in
      uninterrupted { Glibc.read(fd, buffer.baseAddress, buffer.count) }
    }
    if count > 0 { return Array(bytes[..<count]) }
    // If the other end of a terminal was closed, read returns end of file or EIO. `tty(4)`
    if count == 0 || errno == EIO { return nil }
    if errno == EAGAIN { return [] }
    throw SystemError(call: "read", subject: "descriptor \(fd)", code: errno)
  }
}
