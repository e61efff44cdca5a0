// Unix stream sockets: listening, connecting, accepting, pairs, and the peer's credentials. Invariant: the file
// of a listening socket has mode 0600 (or the requested mode) before any client can connect to it. Errors:
// SystemError; normal results of a connection attempt are outcomes, not errors.
import CLinux
import Glibc

/// Unix domain stream sockets. `unix(7)`
public enum UnixSocket {
  /// Result of a connection attempt.
  public enum ConnectOutcome: ~Copyable {
    /// Connected; the socket is non-blocking only if the caller requested it.
    case connected(FileDescriptor)
    /// There is no such file, or a directory of its path is missing (ENOENT, ENOTDIR).
    case noSuchFile
    /// The file exists, but no process listens: it belongs to a dead server (ECONNREFUSED).
    case refused
    /// The user may not connect to the socket (EACCES, EPERM).
    case permissionDenied
    /// The listener's queue is full, and the attempt is non-blocking (EAGAIN).
    case busy
  }

  /// Credentials of the peer's process, which the kernel recorded at `connect`, `listen` or `socketpair`.
  public struct Peer: Sendable, Hashable {
    /// The effective user.
    public let uid: uid_t
    /// The effective group.
    public let gid: gid_t
    /// Process id of the peer, which may have exited since. For an inherited pair it is the process that
    /// created the pair.
    public let pid: pid_t

    public init(uid: uid_t, gid: gid_t, pid: pid_t) { (self.uid, self.gid, self.pid) = (uid, gid, pid) }
  }

  /// Binds a socket to a path and listens, non-blocking. `socket(2)`, `bind(2)`, `listen(2)`
  ///
  /// - Parameters:
  ///   - path: path of the socket's file, which may be longer than a socket address permits.
  ///   - mode: permissions of the file, regardless of the umask.
  /// - Throws: EADDRINUSE if the file exists already; see ``removeStaleSocket(path:)``.
  public static func listen(
    path: String, backlog: CInt = 128, mode: mode_t = 0o600
  ) throws(SystemError) -> FileDescriptor {
    let socket = try FileDescriptor("socket", on: path) { Kernel.makeSocket(nonBlocking: true) }
    let number = socket.rawValue
    if let kernel = Kernel.simulated {
      try systemCall("listen", on: path) { kernel.listen(number, at: path, backlog: backlog, mode: mode) }
      return socket
    }
    // On Linux, bind gives the file at most the permissions of the socket.
    try systemCall("fchmod", on: path) { fchmod(number, mode) }
    try withAddress(of: path, call: "bind") { linux_unix_bind(number, $0) }
    do throws(SystemError) {
      // The umask may have removed bits. No client can connect before the socket listens.
      try pathCall("chmod", path) { chmod($0, mode) }
      try systemCall("listen", on: path) { Glibc.listen(number, backlog) }
    } catch {
      remove(path)
      throw error
    }
    return socket
  }

  /// Connects to a listening socket. `connect(2)`
  public static func connect(path: String, nonBlocking: Bool = false) throws(SystemError) -> ConnectOutcome {
    let socket = try FileDescriptor("socket", on: path) { Kernel.makeSocket(nonBlocking: nonBlocking) }
    let number = socket.rawValue
    do throws(SystemError) {
      try withAddress(of: path, call: "connect") { Kernel.connect(number, to: $0) }
    } catch {
      switch error.code {
      case ENOENT, ENOTDIR: return .noSuchFile
      case ECONNREFUSED: return .refused
      case EACCES, EPERM: return .permissionDenied
      case EAGAIN: return .busy
      default: throw error
      }
    }
    return .connected(socket)
  }

  /// Two sockets connected to each other, both closed on exec. `socketpair(2)`
  public static func pair(nonBlocking: Bool = false) throws(SystemError) -> DescriptorPair {
    var numbers: (CInt, CInt) = (-1, -1)
    try systemCall("socketpair", on: "") { Kernel.makePair(&numbers, nonBlocking: nonBlocking) }
    return DescriptorPair(FileDescriptor(owning: numbers.0), FileDescriptor(owning: numbers.1))
  }

  /// Accepts the next connection, non-blocking and closed on exec; nil if none is waiting, or if the waiting one was
  /// aborted (ECONNABORTED). `accept4(2)`
  ///
  /// - Throws: EMFILE or ENFILE if no descriptors are left. The connection then stays in the queue and the
  ///   listener stays ready, so stop watching the listener until a descriptor was closed.
  public static func accept(_ listener: borrowing FileDescriptor) throws(SystemError) -> FileDescriptor? {
    let number = listener.rawValue
    let accepted = uninterrupted { Kernel.accept(number) }
    if accepted >= 0 { return FileDescriptor(owning: accepted) }
    switch errno {
    case EAGAIN, ECONNABORTED: return nil
    case let code: throw SystemError(call: "accept4", subject: "descriptor \(number)", code: code)
    }
  }

  /// Credentials of the peer's process. `getsockopt(2)` SO_PEERCRED
  public static func peer(of socket: borrowing FileDescriptor) throws(SystemError) -> Peer {
    var peer = linux_peer()
    try systemCall("getsockopt", on: socket.rawValue) { Kernel.peer(of: $0, &peer) }
    return Peer(uid: peer.uid, gid: peer.gid, pid: peer.pid)
  }

  /// Shuts down writing: the peer reads the end of file after all sent data. `shutdown(2)`
  public static func shutdownWriting(_ socket: borrowing FileDescriptor) throws(SystemError) {
    try systemCall("shutdown", on: socket.rawValue) { Kernel.shutdownWriting($0) }
  }

  /// Shuts down reading: the peer's next write fails (EPIPE). Data that the peer wrote before can still be
  /// read, followed by the end of file. This is how `unix(7)` sockets of Linux behave. `shutdown(2)`
  public static func shutdownReading(_ socket: borrowing FileDescriptor) throws(SystemError) {
    try systemCall("shutdown", on: socket.rawValue) { Kernel.shutdownReading($0) }
  }
}

/// Two descriptors that belong together: both ends of a socket pair, or a pipe.
@frozen
public struct DescriptorPair: ~Copyable {
  /// One end of a socket pair; the reading end of a pipe.
  public var first: FileDescriptor
  /// The second end of a socket pair; the writing end of a pipe.
  public var second: FileDescriptor

  public init(_ first: consuming FileDescriptor, _ second: consuming FileDescriptor) {
    self.first = first
    self.second = second
  }

  /// Makes a pipe, blocking and closed on exec. `pipe2(2)`
  public static func pipe() throws(SystemError) -> DescriptorPair {
    var numbers: (CInt, CInt) = (-1, -1)
    try systemCall("pipe2", on: "") { Kernel.makePipe(&numbers) }
    return DescriptorPair(FileDescriptor(owning: numbers.0), FileDescriptor(owning: numbers.1))
  }

  /// Default capacity of a pipe in bytes. `pipe(7)`
  public static let pipeCapacity = 64 << 10
}

extension FileDescriptor {
  /// Sets the capacity of a pipe to at least `bytes`. Throws EPERM beyond the system's maximum. `fcntl(2)`
  /// F_SETPIPE_SZ
  public borrowing func widenPipe(to bytes: Int) throws(SystemError) {
    let wanted = CInt(clamping: bytes)
    try systemCall("fcntl", on: rawValue) { linux_set_pipe_size($0, wanted) }
  }
}
