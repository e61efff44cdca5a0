// Owns a terminal whose keys are wanted one by one: unbuffered, unechoed, Ctrl-C as a key like any other.
// It must not know what a key means.
// Invariant: the terminal is as it was before when this ends, in whichever way it ends.
// Failure: SystemError where there is no terminal. Restoring fails silently: a terminal that is gone needs nothing.
import Glibc

/// A terminal in raw mode, from ``take()`` to ``restore()``. `termios(3)`
public final class RawTerminal {
  private let fd: CInt
  private var before = termios()
  private var isRaw = false

  /// Takes the terminal behind a descriptor over; keys that were typed before are kept.
  ///
  /// - Parameter hearsSignals: whether Ctrl-C, Ctrl-\ and Ctrl-Z are signals still, because nobody reads keys yet; until
  ///   the next ``take()``.
  public init(_ fd: CInt = STDIN_FILENO, hearsSignals: Bool = false) throws(SystemError) {
    self.fd = fd
    try take(hearsSignals: hearsSignals)
  }

  /// Takes the terminal over again: after ``restore()``, or where somebody else has changed it while this process stood
  /// still.
  public func take() throws(SystemError) { try take(hearsSignals: false) }

  private func take(hearsSignals: Bool) throws(SystemError) {
    if !isRaw {
      var settings = termios()
      try systemCall("tcgetattr", on: "descriptor \(fd)") { tcgetattr(fd, &settings) }
      before = settings
    }
    var settings = before
    cfmakeraw(&settings)
    if hearsSignals { settings.c_lflag |= before.c_lflag & tcflag_t(ISIG) }
    // A newline that is written still begins a line, because messages may be written meanwhile.
    settings.c_oflag = before.c_oflag
    isRaw = true
    // In the background the call stops this process, and goes on when it has the terminal again. tcsetattr(3)
    try systemCall("tcsetattr", on: "descriptor \(fd)") { tcsetattr(fd, TCSADRAIN, &settings) }
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
