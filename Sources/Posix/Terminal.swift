// Size of a terminal, and raw mode: input unbuffered and without echo, and Ctrl-C a key like any other.
// Invariant: a size is returned only if both sides are positive; a raw terminal is restored when its object
// ends, for any reason. Errors: nil or SystemError if there is no terminal.
import CLinux
import Glibc

/// Terminal of a descriptor. `tty(4)`
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
  private var before = termios()
  private var isRaw = false

  /// Sets the terminal of a descriptor to raw mode; keys typed before are kept.
  ///
  /// - Parameter hearsSignals: true if Ctrl-C, Ctrl-\\ and Ctrl-Z remain signals until the next ``take()``,
  ///   because no keys are read yet.
  public init(_ fd: CInt = STDIN_FILENO, hearsSignals: Bool = false) throws(SystemError) {
    self.fd = fd
    try take(hearsSignals: hearsSignals)
  }

  /// Sets raw mode again: after ``restore()``, or if another process has changed the settings meanwhile.
  public func take() throws(SystemError) { try take(hearsSignals: false) }

  private func take(hearsSignals: Bool) throws(SystemError) {
    if !isRaw {
      var settings = termios()
      try systemCall("tcgetattr", on: fd) { tcgetattr($0, &settings) }
      before = settings
    }
    var settings = before
    cfmakeraw(&settings)
    if hearsSignals { settings.c_lflag |= before.c_lflag & tcflag_t(ISIG) }
    // Keep the translation of newlines, because messages may be written meanwhile.
    settings.c_oflag = before.c_oflag
    isRaw = true
    // In the background the call stops this process, and continues when it has the terminal again.
    // tcsetattr(3)
    try systemCall("tcsetattr", on: fd) { tcsetattr($0, TCSADRAIN, &settings) }
  }

  deinit { restore() }

  /// Restores the terminal; further calls do nothing.
  public func restore() {
    guard isRaw else { return }
    isRaw = false
    var settings = before
    _ = uninterrupted { tcsetattr(fd, TCSADRAIN, &settings) }
  }

  /// True if unread input exists, or the terminal is gone. `poll(2)`
  public var hasInput: Bool {
    var item = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
    return uninterrupted { poll(&item, 1, 0) } > 0
  }

  /// Reads typed input, at least one byte; blocks if there is none. Nil if the terminal is gone. `read(2)`
  ///
  /// - Parameter count: maximum number of bytes; the rest stays for the next reader of the terminal.
  public func read(atMost count: Int = 1024) throws(SystemError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let count = bytes.withUnsafeMutableBytes { buffer in
      uninterrupted { Glibc.read(fd, buffer.baseAddress, buffer.count) }
    }
    if count > 0 { return Array(bytes[..<count]) }
    // A terminal whose other side was closed returns end of file, or EIO. tty(4)
    if count == 0 || errno == EIO { return nil }
    if errno == EAGAIN { return [] }
    throw SystemError(call: "read", subject: "descriptor \(fd)", code: errno)
  }
}
