// Owns what is known about a terminal, and one whose keys are wanted one by one: unbuffered, unechoed, Ctrl-C as a
// key like any other. Invariant: a size is only given where both sides are positive; a raw terminal is as it was
// before when it ends, in whichever way it ends. Failure: nil or SystemError where there is no terminal.
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

/// A terminal in raw mode, from ``take()`` to ``restore()``. `termios(3)`
public final class RawTerminal {
  private let fd: CInt
  private var before = termios()
  private var isRaw = false

  /// Takes the terminal behind a descriptor over; keys that were typed before are kept.
  ///
  /// - Parameter hearsSignals: whether Ctrl-C, Ctrl-\ and Ctrl-Z are signals until the next ``take()``, because nobody
  ///   reads keys yet.
  public init(_ fd: CInt = STDIN_FILENO, hearsSignals: Bool = false) throws(SystemError) {
    self.fd = fd
    try take(hearsSignals: hearsSignals)
  }

  /// Takes the terminal over again: after ``restore()``, or where somebody else has changed it meanwhile.
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
    // A newline that is written still begins a line, because messages may be written meanwhile.
    settings.c_oflag = before.c_oflag
    isRaw = true
    // In the background the call stops this process, and goes on when it has the terminal again. tcsetattr(3)
    try systemCall("tcsetattr", on: fd) { tcsetattr($0, TCSADRAIN, &settings) }
  }

  deinit { restore() }

  /// Puts the terminal back; once is enough.
  public func restore() {
    guard isRaw else { return }
    isRaw = false
    var settings = before
    _ = uninterrupted { tcsetattr(fd, TCSADRAIN, &settings) }
  }

  /// Whether something was typed that is not read yet, or the terminal is gone. `poll(2)`
  public var hasInput: Bool {
    var item = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
    return uninterrupted { poll(&item, 1, 0) } > 0
  }

  /// What was typed; at least one byte, waiting where there is none. Nil where the terminal is gone. `read(2)`
  ///
  /// - Parameter count: Bytes beyond so many stay in the terminal, for whoever reads it next.
  public func read(atMost count: Int = 1024) throws(SystemError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let count = bytes.withUnsafeMutableBytes { buffer in
      uninterrupted { Glibc.read(fd, buffer.baseAddress, buffer.count) }
    }
    if count > 0 { return Array(bytes[..<count]) }
    // A terminal whose other side was closed answers with the end, or with EIO. tty(4)
    if count == 0 || errno == EIO { return nil }
    if errno == EAGAIN { return [] }
    throw SystemError(call: "read", subject: "descriptor \(fd)", code: errno)
  }
}
