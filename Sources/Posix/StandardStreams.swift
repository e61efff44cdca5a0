// Owns writing to standard output and standard error, whole and in order. It must not know what is said, nor
// keep anything back: there is no buffer that a crash could lose. Invariant: what was written is the
// beginning of what was asked for, also where somebody made the terminal non-blocking. Failure: SystemError
// (a full disk); a reader that left is an outcome. SIGPIPE has to be ignored first.
import CLinux
import Glibc

/// Standard output and standard error.
public enum StandardStreams {
  /// One of the two.
  public enum Stream: Sendable, Hashable {
    /// Descriptor 1: data.
    case output
    /// Descriptor 2: messages.
    case error

    /// 1 or 2.
    public var fd: CInt { self == .output ? STDOUT_FILENO : STDERR_FILENO }
  }

  /// What became of a write.
  public enum Outcome: Sendable, Hashable {
    case written
    /// Nobody reads any more (as with `| head`), or the stream was closed: say no more and end.
    case readerGone
  }

  /// Opens the null device in the place of standard input, output and error where they were closed, as by `>&-`.
  ///
  /// To be called before anything else is opened: the first socket would take the free number, and what is meant for a
  /// reader would be said to a server.
  public static func fillGaps() {
    for fd in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(fd, F_GETFD) == -1 {
      // It gets the lowest free number, which is this one: those below were looked at before.
      _ = open("/dev/null", O_RDWR)
    }
  }

  /// Whether something stands on standard input that was not read: in a pipe, a socket or a file. What a person types is
  /// nothing of the kind.
  public static var hasUnreadInput: Bool { linux_unread(STDIN_FILENO) > 0 }

  /// Writes all of the text. See ``write(_:to:)-([UInt8],_)``.
  @discardableResult
  public static func write(_ text: String, to stream: Stream) throws(SystemError) -> Outcome {
    try write(Array(text.utf8), to: stream)
  }

  /// Writes all of the bytes, waiting as long as it takes. `write(2)`
  @discardableResult
  public static func write(_ bytes: [UInt8], to stream: Stream) throws(SystemError) -> Outcome {
    try write(bytes, toDescriptor: stream.fd)
  }

  static func write(_ bytes: [UInt8], toDescriptor fd: CInt) throws(SystemError) -> Outcome {
    var done = 0
    while done < bytes.count {
      let count = uninterrupted {
        bytes.withUnsafeBytes { Kernel.write(fd, UnsafeRawBufferPointer(rebasing: $0[done...])) }
      }
      if count >= 0 {
        done += count
        continue
      }
      switch errno {
      case EAGAIN: try FileDescriptor.waitUntilWritable(fd)
      case EPIPE, EBADF: return .readerGone
      case let code: throw SystemError(call: "write", subject: "descriptor \(fd)", code: code)
      }
    }
    return .written
  }
}
