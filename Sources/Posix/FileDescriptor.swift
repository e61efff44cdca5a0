// One open descriptor: exactly one value owns it, and it is closed exactly once.
// Invariant: the descriptor is open for as long as the value lives; closing a number that this value does not
// own traps.
// Errors: SystemError; a closed peer and a call that would block are results, not errors.
import CLinux
import Glibc

/// An owned file descriptor, closed when the value ends.
public struct FileDescriptor: ~Copyable, Sendable {
  /// The number, for calls and for registration with an ``EventLoop``. Borrowed: do not close it.
  public let rawValue: CInt

  /// Takes ownership of an open descriptor; from now on this value closes it.
  public init(owning rawValue: CInt) {
    precondition(rawValue >= 0, "a descriptor is never negative")
    self.rawValue = rawValue
  }

  /// Takes ownership of the result of a call; -1 and errno mean that it has failed.
  init(_ call: String, on subject: @autoclosure () -> String = "", _ open: () -> CInt) throws(SystemError) {
    self.init(owning: try systemCall(call, on: subject(), open))
  }

  deinit {
    // After any other error of close the number is free; EBADF means that other code closed it wrongly.
    if Kernel.close(rawValue) == -1 {
      precondition(errno != EBADF, "descriptor \(rawValue) was closed by code that does not own it")
    }
  }

  /// Closes the descriptor. Throws a write error that the kernel had delayed. `close(2)`
  ///
  /// EINTR counts as closed: Linux has freed the number by then, and a second close could hit another
  /// descriptor.
  public consuming func close() throws(SystemError) {
    let number = take()
    guard Kernel.close(number) == -1 else { return }
    let code = errno
    precondition(code != EBADF, "descriptor \(number) was closed by code that does not own it")
    if code != EINTR { throw SystemError(call: "close", subject: "descriptor \(number)", code: code) }
  }

  /// Releases the ownership; the caller has to close the number.
  public consuming func take() -> CInt {
    let number = rawValue
    discard self
    return number
  }

  var subject: String { "descriptor \(rawValue)" }
}

/// Result of a read.
public enum ReadResult: Sendable, Hashable {
  /// Number of bytes, at least one.
  case bytes(Int)
  /// No data now, and the descriptor is non-blocking (EAGAIN).
  case wouldBlock
  /// No more data: the end of a file, or the peer is gone. A reset (ECONNRESET) is also the end, because the
  /// kernel first returns everything that had arrived before it.
  case endOfFile
}

/// Result of a write.
public enum WriteResult: Sendable, Hashable {
  /// Number of bytes written, perhaps fewer than passed.
  case bytes(Int)
  /// Nothing was written, and the descriptor is non-blocking (EAGAIN).
  case wouldBlock
  /// The reader is gone (EPIPE, ECONNRESET).
  case peerClosed
}

extension FileDescriptor {
  /// Reads available data, at most `buffer.count` bytes, which must be at least one. `read(2)`
  public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult {
    precondition(!buffer.isEmpty, "a read into an empty buffer looks like the end of the file")
    let number = rawValue
    return try arrived(uninterrupted { Kernel.read(number, buffer) }, by: "read")
  }

  /// Reads available data from a socket, at most `buffer.count` bytes, which must be at least one. `recv(2)`
  ///
  /// The same as ``read(into:)``, on a shorter path through the kernel.
  public borrowing func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult
  {
    precondition(!buffer.isEmpty, "a read into an empty buffer looks like the end of the stream")
    let number = rawValue
    return try arrived(uninterrupted { Kernel.receive(number, buffer) }, by: "recv")
  }

  private borrowing func arrived(_ count: Int, by call: String) throws(SystemError) -> ReadResult {
    if count > 0 { return .bytes(count) }
    if count == 0 { return .endOfFile }
    switch errno {
    case EAGAIN: return .wouldBlock
    case ECONNRESET: return .endOfFile
    case let code: throw SystemError(call: call, subject: subject, code: code)
    }
  }

  /// Writes as much as the kernel accepts. `write(2)`
  ///
  /// A pipe without a reader raises SIGPIPE: see ``Signals/ignorePipe()``. For a socket prefer ``send(_:)``.
  public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> WriteResult {
    let number = rawValue
    return try written(uninterrupted { Kernel.write(number, bytes) }, by: "write")
  }

  /// Writes to a socket as much as the kernel accepts, and never raises SIGPIPE. `send(2)` with MSG_NOSIGNAL
  public borrowing func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> WriteResult {
    let number = rawValue
    return try written(uninterrupted { Kernel.send(number, bytes) }, by: "send")
  }

  /// Writes an array's bytes; see ``write(_:)-(UnsafeRawBufferPointer)``.
  public borrowing func write(_ bytes: [UInt8]) throws(SystemError) -> WriteResult {
    let number = rawValue
    let count = uninterrupted { bytes.withUnsafeBytes { Kernel.write(number, $0) } }
    return try written(count, by: "write")
  }

  private borrowing func written(_ count: Int, by call: String) throws(SystemError) -> WriteResult {
    if count >= 0 { return .bytes(count) }
    switch errno {
    case EAGAIN: return .wouldBlock
    case EPIPE, ECONNRESET: return .peerClosed
    case let code: throw SystemError(call: call, subject: subject, code: code)
    }
  }

  /// Switches between blocking and non-blocking calls. `fcntl(2)` F_SETFL
  ///
  /// The mode belongs to the open file description, so every process that inherited it sees the change.
  public borrowing func setNonBlocking(_ nonBlocking: Bool) throws(SystemError) {
    try systemCall("fcntl", on: rawValue) { Kernel.setNonBlocking($0, nonBlocking) }
  }

  /// A second descriptor for the same open file description, closed on exec. `fcntl(2)` F_DUPFD_CLOEXEC
  ///
  /// - Parameter lowest: the new number is at least this.
  public borrowing func duplicate(atLeast lowest: CInt = 0) throws(SystemError) -> FileDescriptor {
    let number = rawValue
    return try FileDescriptor("fcntl", on: "descriptor \(number)") {
      Kernel.duplicate(number, atLeast: lowest)
    }
  }
}
