// Unbuffered writing to standard output and standard error, complete and in order. There is no buffer whose
// data a crash could lose. Invariant: the written bytes are a prefix of the requested ones, even if another
// process made the terminal non-blocking. Errors: SystemError, for example for a full disk; a closed reader is
// an outcome. SIGPIPE must be ignored.
import CLinux
import Glibc

/// Standard output and standard error.
public enum StandardStreams {
  /// One of the two output streams.
  public enum Stream: Sendable, Hashable {
    /// Descriptor 1: data.
    case output
    /// Descriptor 2: messages.
    case error

    /// Descriptor number, 1 or 2.
    public var fd: CInt { self == .output ? STDOUT_FILENO : STDERR_FILENO }
  }

  /// Result of a write: done, or the reader of the stream is gone.
  public enum Outcome: Sendable, Hashable {
    /// All bytes were written.
    case written
    /// The reader has exited (as with `| head`), or the stream was closed. The caller should stop writing and
    /// exit.
    case readerGone
  }

  /// Opens the null device for each closed standard descriptor; a shell closes one with `>&-`.
  ///
  /// Call it before any other open. If it is not called, a socket may get the number of a closed output stream.
  public static func openClosedDescriptors() {
    for fd in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(fd, F_GETFD) == -1 {
      // open returns the lowest free number, which is `fd`, because lower numbers are open by now.
      _ = open("/dev/null", O_RDWR)
    }
  }

  /// True if standard input is a pipe, a socket or a file with unread data. Input typed at a terminal does not
  /// count.
  public static var hasUnreadInput: Bool { linux_unread(STDIN_FILENO) > 0 }

  /// Writes all of the text. See ``write(_:to:)-([UInt8],_)``.
  @discardableResult
  public static func write(_ text: String, to stream: Stream) throws(SystemError) -> Outcome {
    try write(Array(text.utf8), to: stream)
  }

  /// Writes all of the bytes, and blocks as long as necessary. `write(2)`
  @discardableResult
  public static func write(_ bytes: [UInt8], to stream: Stream) throws(SystemError) -> Outcome {
    try write(bytes, toDescriptor: stream.fd)
  }

  /// Writes all of the bytes to a descriptor, and blocks as long as necessary.
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
