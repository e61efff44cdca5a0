// Unix datagram sockets: receivers bound to a path, and single messages sent to an address.
// Invariant: no call blocks. Errors: SystemError; a missing or full receiver is an outcome.
import CLinux
import Glibc
import Synchronization

/// Unix domain datagrams. `unix(7)`
public enum Datagrams {
  /// Result of sending a datagram.
  public enum SendOutcome: Sendable, Hashable {
    /// The kernel has queued the datagram for the receiver.
    case sent
    /// There is no receiver (ENOENT, ENOTDIR, ECONNREFUSED), or the user may not send to it (EACCES, EPERM).
    case noReceiver
    /// The receiver's queue is full (EAGAIN), or the kernel has no buffer for the datagram (ENOBUFS).
    case full
  }

  /// Binds a receiver to a path, which may be longer than a socket address permits. An existing file is
  /// unlinked, so the caller must hold a ``LockFile`` that excludes other receivers of this path.
  ///
  /// - Returns: the socket, non-blocking and closed on exec. Its file has mode 0600.
  public static func bind(path: String) throws(SystemError) -> FileDescriptor {
    let socket = try FileDescriptor("socket", on: path) { Kernel.makeDatagramSocket() }
    let number = socket.rawValue
    do throws(SystemError) { try pathCall("unlink", path) { Kernel.unlink($0) } } catch {
      if error.code != ENOENT { throw error }
    }
    // The file gets the permissions of the socket when it is created.
    if Kernel.simulated == nil { try systemCall("fchmod", on: path) { fchmod(number, 0o600) } }
    try UnixSocket.withAddress(of: path, call: "bind") { Kernel.bind(number, to: $0) }
    return socket
  }

  /// Receives the next datagram, without waiting; nil if none is queued.
  ///
  /// - Parameter limit: maximum length in bytes. A longer datagram is truncated.
  public static func receive(
    from socket: borrowing FileDescriptor, limit: Int = 4096
  ) throws(SystemError) -> [UInt8]? {
    precondition(limit > 0, "the limit of a datagram is at least one byte")
    let number = socket.rawValue
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = uninterrupted { bytes.withUnsafeMutableBytes { Kernel.receive(number, $0) } }
    if count >= 0 { return Array(bytes.prefix(count)) }
    if errno == EAGAIN { return nil }
    throw SystemError(call: "recv", subject: "descriptor \(number)", code: errno)
  }

  /// Socket for all sent datagrams. It is kept, so that the process can still send when no more descriptors are
  /// available.
  private static let sender = Mutex<CInt?>(nil)

  /// Returns ``sender``, which is made at the first call.
  private static func sendingSocket(for address: String) throws(SystemError) -> CInt {
    try sender.withLock { (sender: inout CInt?) throws(SystemError) in
      if let sender { return sender }
      let number = try systemCall("socket", on: address) { linux_unix_datagram_socket() }
      sender = number
      return number
    }
  }

  /// Sends one datagram to a path, or to an abstract address if it starts with `@`.
  public static func send(_ bytes: [UInt8], to address: String) throws(SystemError) -> SendOutcome {
    let number = Kernel.simulated == nil ? try sendingSocket(for: address) : -1
    func transmit(_ target: UnsafePointer<CChar>) -> CInt {
      if let simulated = Kernel.simulated { return simulated.send(bytes, to: String(cString: target)) }
      return bytes.withUnsafeBytes { linux_unix_send_to(number, target, $0.baseAddress, $0.count) } < 0
        ? -1 : 0
    }
    do throws(SystemError) {
      if address.utf8.first == UInt8(ascii: "@") {
        try pathCall("sendto", address, transmit)
      } else {
        try UnixSocket.withAddress(of: address, call: "sendto", transmit)
      }
    } catch {
      switch error.code {
      case ENOENT, ENOTDIR, ECONNREFUSED, EACCES, EPERM: return .noReceiver
      case EAGAIN, ENOBUFS: return .full
      default: throw error
      }
    }
    return .sent
  }

  /// True if a receiver is bound to the path; nil if the check fails for a shortage, for example of descriptors; false
  /// for any other error. The check is a connection, and no datagram is sent.
  public static func hasReceiver(at path: String) -> Bool? {
    do throws(SystemError) {
      let socket = try FileDescriptor("socket", on: path) { Kernel.makeDatagramSocket() }
      try UnixSocket.withAddress(of: path, call: "connect") { Kernel.connect(socket.rawValue, to: $0) }
      return true
    } catch {
      return error.isShortage ? nil : false
    }
  }
}
