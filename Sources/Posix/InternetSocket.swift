// Owns the birth of TCP sockets that listen on the loopback address 127.0.0.1, and on no other.
// Invariant: nobody on another machine can connect to what is made here.
// Failure: SystemError; a port that another process has is an outcome, not an error, and so is a process that may have none.
import CLinux
import Glibc

/// TCP sockets of the loopback address. `tcp(7)`, `ip(7)`
public enum InternetSocket {
  /// Binds to a port of 127.0.0.1 and listens, non-blocking. `bind(2)`, `listen(2)`
  ///
  /// A port at which only connections of a process linger that has ended is free.
  /// - Parameter port: 0 for any that is free; see ``port(of:)``.
  /// - Returns: nil where another process listens there, or this one may not (EADDRINUSE, EACCES).
  public static func listen(port: UInt16, backlog: CInt = 128) throws(SystemError) -> FileDescriptor? {
    do throws(SystemError) {
      let socket = try FileDescriptor("bind", on: "127.0.0.1:\(port)") { linux_loopback_socket(port) }
      let number = socket.rawValue
      try systemCall("listen", on: "127.0.0.1:\(port)") { Glibc.listen(number, backlog) }
      return socket
    } catch {
      guard error.code == EADDRINUSE || error.code == EACCES else { throw error }
      return nil
    }
  }

  /// Whether an error of ``listen(port:backlog:)`` says that this process may have no socket of the loopback address at all: by
  /// a filter of system calls (`RestrictAddressFamilies=` of systemd), or in a network without a loopback interface.
  public static func isForbidden(_ error: SystemError) -> Bool {
    [EAFNOSUPPORT, EPERM, EACCES, EADDRNOTAVAIL].contains(error.code)
  }

  /// The port to which a socket is bound. `getsockname(2)`
  public static func port(of socket: borrowing FileDescriptor) throws(SystemError) -> UInt16 {
    UInt16(truncatingIfNeeded: try systemCall("getsockname", on: socket.rawValue) { linux_port($0) })
  }
}
