// Owns one open descriptor: exactly one value answers for it, and it is closed exactly once.
// Invariant: the descriptor is open for as long as the value lives; closing somebody else's number traps.
// Failure: SystemError; a peer that is gone and a call that would block are results, not errors.
import CLinux
import Glibc

/// An owned file descriptor, closed when the value ends.
public struct FileDescriptor: ~Copyable, Sendable {
  /// The number, for calls and for registration with an ``EventLoop``. It is borrowed: do not close it.
  public let rawValue: CInt

  /// Takes over an open descriptor; from now on this value closes it.
  public init(owning rawValue: CInt) {
    precondition(rawValue >= 0, "a descriptor is never negative")
    self.rawValue = rawValue
  }

  /// Takes over what a call opens; -1 and errno say that it has failed.
  init(_ call: String, on subject: @autoclosure () -> String = "", _ open: () -> CInt) throws(SystemError) {
    self.init(owning: try systemCall(call, on: subject(), open))
  }

  deinit {
    // Whatever else close says, the number is free again; EBADF says that somebody closed what was not his.
    if Kernel.close(rawValue) == -1 {
      precondition(errno != EBADF, "descriptor \(rawValue) was closed by somebody who does not own it")
    }
  }

  /// Closes now and says whether the kernel had kept back a write error. `close(2)`
  ///
  /// EINTR counts as closed: Linux has freed the number by then, and a second close could hit a stranger's.
  public consuming func close() throws(SystemError) {
    let number = take()
    guard Kernel.close(number) == -1 else { return }
    let code = errno
    precondition(code != EBADF, "descriptor \(number) was closed by somebody who does not own it")
    if code != EINTR { throw SystemError(call: "close", subject: "descriptor \(number)", code: code) }
  }

  /// Gives the number away; the caller answers for closing it.
  public consuming func take() -> CInt {
    let number = rawValue
    discard self
    return number
  }

  var subject: String { "descriptor \(rawValue)" }
}

/// What a read brought.
public enum ReadResult: Sendable, Hashable {
  /// So many bytes, at least one.
  case bytes(Int)
  /// Nothing now, and the descriptor is non-blocking (EAGAIN).
  case wouldBlock
  /// Nothing any more: the end of a file, or the peer is gone. A reset (ECONNRESET) is also the end, since
  /// the kernel hands out everything that had arrived before it.
  case endOfFile
}

/// What a write achieved.
public enum WriteResult: Sendable, Hashable {
  /// So many bytes were taken, perhaps fewer than were offered.
  case bytes(Int)
  /// Nothing now, and the descriptor is non-blocking (EAGAIN).
  case wouldBlock
  /// Nobody will read it any more (EPIPE, ECONNRESET).
  case peerClosed
}

extension FileDescriptor {
  /// Reads what is there, at most `buffer.count` bytes, which must be at least one. `read(2)`
  public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult {
    precondition(!buffer.isEmpty, "a read into nothing cannot be told from the end of the file")
    let number = rawValue
    return try arrived(uninterrupted { Kernel.read(number, buffer) }, by: "read")
  }

  /// Reads what is there from a socket, at most `buffer.count` bytes, which must be at least one. `recv(2)`
  ///
  /// The same as ``read(into:)`` on a shorter way through the kernel.
  public borrowing func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult
  {
    precondition(!buffer.isEmpty, "a read into nothing cannot be told from the end of the stream")
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

  /// Writes as much as the kernel takes. `write(2)`
  ///
  /// A pipe without a reader raises SIGPIPE: see ``Signals/ignorePipe()``. For a socket prefer ``send(_:)``.
  public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> WriteResult {
    let number = rawValue
    return try written(uninterrupted { Kernel.write(number, bytes) }, by: "write")
  }

  /// Writes to a socket as much as the kernel takes, and never raises SIGPIPE. `send(2)` with MSG_NOSIGNAL
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
  /// The mode belongs to the open file, so everyone who inherited it sees the change.
  public borrowing func setNonBlocking(_ nonBlocking: Bool) throws(SystemError) {
    try systemCall("fcntl", on: rawValue) { Kernel.setNonBlocking($0, nonBlocking) }
  }

  /// A second descriptor for the same open file, closed on exec. `fcntl(2)` F_DUPFD_CLOEXEC
  ///
  /// - Parameter lowest: the new number is at least this.
  public borrowing func duplicate(atLeast lowest: CInt = 0) throws(SystemError) -> FileDescriptor {
    let number = rawValue
    return try FileDescriptor("fcntl", on: "descriptor \(number)") {
      Kernel.duplicate(number, atLeast: lowest)
    }
  }
}
