// One open descriptor, which one value owns and closes.
// Invariant: the descriptor is open as long as the value exists. If other code has closed the descriptor, and the
// number is still free, the close of its owner traps.
// Errors: SystemError; a closed peer and a call that would block are results, not errors.
import CLinux
import Glibc

/// An owned file descriptor. It is closed when the value is destroyed.
public struct FileDescriptor: ~Copyable, Sendable {
  /// The number, for system calls and for registration with an ``EventLoop``. It is borrowed: do not close it.
  public let rawValue: CInt

  /// Takes ownership of an open descriptor, which this value closes from now on.
  public init(owning rawValue: CInt) {
    precondition(rawValue >= 0, "a descriptor is never negative")
    self.rawValue = rawValue
  }

  /// Takes ownership of the descriptor that `open` returns. If it returns -1, the error of errno is thrown.
  init(_ call: String, on subject: @autoclosure () -> String = "", _ open: () -> CInt) throws(SystemError) {
    self.init(owning: try systemCall(call, on: subject(), open))
  }

  deinit {
    // EBADF means that other code has closed the descriptor. After any other error the number is free.
    if Kernel.close(rawValue) == -1 {
      precondition(errno != EBADF, "descriptor \(rawValue) was closed by code that does not own it")
    }
  }

  /// Closes the descriptor. Throws a write error that the kernel had deferred. `close(2)`
  ///
  /// EINTR counts as closed: Linux has already freed the number, and a second close could close another
  /// descriptor.
  public consuming func close() throws(SystemError) {
    let number = take()
    guard Kernel.close(number) == -1 else { return }
    let code = errno
    precondition(code != EBADF, "descriptor \(number) was closed by code that does not own it")
    if code != EINTR { throw SystemError(call: "close", subject: "descriptor \(number)", code: code) }
  }

  /// Releases ownership. The caller has to close the returned descriptor.
  public consuming func take() -> CInt {
    let number = rawValue
    discard self
    return number
  }

  /// Name of the descriptor in a SystemError.
  var subject: String { "descriptor \(rawValue)" }
}

/// Result of a read.
public enum ReadResult: Sendable, Hashable {
  /// Number of bytes read, at least one.
  case bytes(Int)
  /// No data is available, and the descriptor is non-blocking (EAGAIN).
  case wouldBlock
  /// There is no more data: the end of a file, or the peer has closed. A reset (ECONNRESET) is also the end.
  case endOfFile
}

/// Result of a write.
public enum WriteResult: Sendable, Hashable {
  /// Number of bytes written, perhaps fewer than passed.
  case bytes(Int)
  /// Nothing was written, and the descriptor is non-blocking (EAGAIN).
  case wouldBlock
  /// The reader has closed its end (EPIPE, ECONNRESET).
  case peerClosed
}

extension FileDescriptor {
  /// Reads available data, at most `buffer.count` bytes, which must be at least one. `read(2)`
  public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult {
    precondition(!buffer.isEmpty, "a read into an empty buffer looks like the end of the file")
    let number = rawValue
    return try readResult(uninterrupted { Kernel.read(number, buffer) }, by: "read")
  }

  /// Reads available data from a socket, at most `buffer.count` bytes, which must be at least one. `recv(2)`
  ///
  /// It has the same effect as ``read(into:)``, on a shorter path through the kernel.
  public borrowing func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult
  {
    precondition(!buffer.isEmpty, "a read into an empty buffer looks like the end of the stream")
    let number = rawValue
    return try readResult(uninterrupted { Kernel.receive(number, buffer) }, by: "recv")
  }

  /// Result of a read that has returned `count`.
  private borrowing func readResult(_ count: Int, by call: String) throws(SystemError) -> ReadResult {
    if count > 0 { return .bytes(count) }
    if count == 0 { return .endOfFile }
    switch errno {
    case EAGAIN: return .wouldBlock
    case ECONNRESET: return .endOfFile
    case let code: throw SystemError(call: call, subject: subject, code: code)
    }
  }

  /// Writes as many bytes as the kernel accepts. `write(2)`
  ///
  /// A pipe without a reader raises SIGPIPE; see ``Signals/ignorePipe()``. For a socket prefer ``send(_:)``.
  public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> WriteResult {
    let number = rawValue
    return try writeResult(uninterrupted { Kernel.write(number, bytes) }, by: "write")
  }

  /// Writes as many bytes to a socket as the kernel accepts, without SIGPIPE. `send(2)` with MSG_NOSIGNAL
  public borrowing func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> WriteResult {
    let number = rawValue
    return try writeResult(uninterrupted { Kernel.send(number, bytes) }, by: "send")
  }

  /// Writes the bytes of an array; see ``write(_:)-(UnsafeRawBufferPointer)``.
  public borrowing func write(_ bytes: [UInt8]) throws(SystemError) -> WriteResult {
    let number = rawValue
    let count = uninterrupted { bytes.withUnsafeBytes { Kernel.write(number, $0) } }
    return try writeResult(count, by: "write")
  }

  /// Result of a write that has returned `count`.
  private borrowing func writeResult(_ count: Int, by call: String) throws(SystemError) -> WriteResult {
    if count >= 0 { return .bytes(count) }
    switch errno {
    case EAGAIN: return .wouldBlock
    case EPIPE, ECONNRESET: return .peerClosed
    case let code: throw SystemError(call: call, subject: subject, code: code)
    }
  }

  /// Switches between blocking and non-blocking calls. `fcntl(2)` F_SETFL
  ///
  /// The mode belongs to the open file description, so it changes also for processes that have inherited the
  /// descriptor.
  public borrowing func setNonBlocking(_ nonBlocking: Bool) throws(SystemError) {
    try systemCall("fcntl", on: rawValue) { Kernel.setNonBlocking($0, nonBlocking) }
  }

  /// Returns a second descriptor for the same open file description, closed on exec. `fcntl(2)` F_DUPFD_CLOEXEC
  ///
  /// - Parameter lowest: lower bound of the new number.
  public borrowing func duplicate(atLeast lowest: CInt = 0) throws(SystemError) -> FileDescriptor {
    let number = rawValue
    return try FileDescriptor("fcntl", on: "descriptor \(number)") {
      Kernel.duplicate(number, atLeast: lowest)
    }
  }
}
