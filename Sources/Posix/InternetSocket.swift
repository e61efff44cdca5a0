// TCP sockets that listen on the loopback address 127.0.0.1, so that no other machine can connect to them.
// Errors: SystemError; nil if the port is in use, or if this process may not use it.
import CLinux
import Glibc

/// TCP sockets of the loopback address. `tcp(7)`, `ip(7)`
public enum InternetSocket {
  /// Binds to a port of 127.0.0.1 and listens, non-blocking. `bind(2)`, `listen(2)`
  ///
  /// A port is free even if connections of an exited process remain on it in the state TIME_WAIT.
  /// - Parameter port: 0 for any free port; see ``port(of:)``.
  /// - Returns: nil if the port is in use (EADDRINUSE), or if this process may not use it (EACCES).
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

  /// True if an error of ``listen(port:backlog:)`` means that this process may not have a loopback socket, for example
  /// because of a filter (`RestrictAddressFamilies=` of systemd).
  public static func isForbidden(_ error: SystemError) -> Bool {
    [EAFNOSUPPORT, EPERM, EACCES, EADDRNOTAVAIL].contains(error.code)
  }

  /// Port to which a socket is bound. `getsockname(2)`
  public static func port(of socket: borrowing FileDescriptor) throws(SystemError) -> UInt16 {
    UInt16(truncatingIfNeeded: try systemCall("getsockname", on: socket.rawValue) { linux_port($0) })
  }
}
