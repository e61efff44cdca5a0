// Dispatch of system calls: to the simulated kernel if this thread has one, and to Linux if it has none. Errors:
// those of the calls themselves: -1 and errno.
import ByteText
import CLinux
import Glibc
import Time

extension Kernel {
  /// Opens a file, closed on exec. `open(2)`
  @inline(__always)
  static func open(_ path: UnsafePointer<CChar>, flags: CInt, _ mode: mode_t) -> CInt {
    simulated?.open(ByteText.text(of: path), flags: flags, mode: mode)
      ?? Glibc.open(path, flags | O_CLOEXEC, mode)
  }

  /// Closes a descriptor. `close(2)`
  @inline(__always)
  static func close(_ descriptor: CInt) -> CInt { simulated?.close(descriptor) ?? Glibc.close(descriptor) }

  /// Reads available bytes. `read(2)`
  @inline(__always)
  static func read(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    simulated?.read(descriptor, into: buffer) ?? Glibc.read(descriptor, buffer.baseAddress, buffer.count)
  }

  /// Reads available bytes from a socket. `recv(2)`
  @inline(__always)
  static func receive(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    simulated?.read(descriptor, into: buffer) ?? Glibc.recv(descriptor, buffer.baseAddress, buffer.count, 0)
  }

  /// Writes as many bytes as the kernel accepts. `write(2)`
  @inline(__always)
  static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    simulated?.write(descriptor, bytes) ?? Glibc.write(descriptor, bytes.baseAddress, bytes.count)
  }

  /// Writes as many bytes to a socket as the kernel accepts, without SIGPIPE. `send(2)`
  @inline(__always)
  static func send(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    simulated?.write(descriptor, bytes) ?? linux_send(descriptor, bytes.baseAddress, bytes.count)
  }

  /// Reads bytes at an offset of a file. `pread(2)`
  static func read(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    simulated?.read(descriptor, into: buffer, at: offset)
      ?? pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
  }

  /// Writes bytes at an offset of a file. `pwrite(2)`
  static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int {
    simulated?.write(descriptor, bytes, at: offset)
      ?? pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
  }

  /// Waits until a file is on disk. `fsync(2)`
  static func sync(_ descriptor: CInt) -> CInt { simulated?.sync(descriptor) ?? fsync(descriptor) }

  /// Sets the size of a file. `ftruncate(2)`
  static func truncate(_ descriptor: CInt, to size: Int64) -> CInt {
    simulated?.truncate(descriptor, to: size) ?? ftruncate(descriptor, off_t(size))
  }

  /// Switches a descriptor between blocking and non-blocking calls. `fcntl(2)` F_SETFL
  static func setNonBlocking(_ descriptor: CInt, _ nonBlocking: Bool) -> CInt {
    simulated?.setNonBlocking(descriptor, nonBlocking) ?? linux_set_nonblocking(descriptor, nonBlocking)
  }

  /// Makes a second descriptor, closed on exec. `fcntl(2)` F_DUPFD_CLOEXEC
  static func duplicate(_ descriptor: CInt, atLeast lowest: CInt) -> CInt {
    simulated?.duplicate(descriptor, atLeast: lowest) ?? linux_duplicate(descriptor, lowest)
  }

  // MARK: Readiness

  /// Makes an epoll descriptor. `epoll_create1(2)`
  static func makeEpoll() -> CInt { simulated?.makeEpoll() ?? linux_epoll_create() }

  /// Registers a descriptor with epoll. `epoll_ctl(2)` EPOLL_CTL_ADD
  static func add(_ descriptor: CInt, to epoll: CInt, _ interest: Interest, token: UInt64) -> CInt {
    simulated?.add(descriptor, to: epoll, interest: interest, token: token)
      ?? linux_epoll_add(epoll, descriptor, interest.rawValue, token)
  }

  /// Changes the events that epoll reports for a descriptor. `epoll_ctl(2)` EPOLL_CTL_MOD
  static func modify(_ descriptor: CInt, in epoll: CInt, _ interest: Interest, token: UInt64) -> CInt {
    simulated?.modify(descriptor, in: epoll, interest: interest, token: token)
      ?? linux_epoll_modify(epoll, descriptor, interest.rawValue, token)
  }

  /// Removes a descriptor from epoll. `epoll_ctl(2)` EPOLL_CTL_DEL
  static func remove(_ descriptor: CInt, from epoll: CInt) -> CInt {
    simulated?.remove(descriptor, from: epoll) ?? linux_epoll_delete(epoll, descriptor)
  }

  /// Waits for events until the deadline; nil waits without a timeout.
  @inline(__always)
  static func wait(
    in epoll: CInt, _ batch: UnsafeMutablePointer<linux_event>, until deadline: MonotonicTime?
  ) -> CInt {
    if let simulated { return copyEvents(simulated, epoll, batch, until: deadline) }
    guard let deadline else { return linux_epoll_wait(epoll, batch, -1) }
    return linux_epoll_wait(epoll, batch, max(0, deadline.nanoseconds - SystemClock.monotonic().nanoseconds))
  }

  /// Returns the pending events without waiting.
  @inline(__always)
  static func pollEvents(in epoll: CInt, _ batch: UnsafeMutablePointer<linux_event>) -> CInt {
    if let simulated {
      return copyEvents(simulated, epoll, batch, until: simulated.monotonic)
    }
    return linux_epoll_wait(epoll, batch, 0)
  }

  /// Copies the events of a simulated kernel to a batch of Linux. Returns their number, or -1.
  @inline(never)
  private static func copyEvents(
    _ simulated: any SystemCalls, _ epoll: CInt, _ batch: UnsafeMutablePointer<linux_event>,
    until deadline: MonotonicTime?
  ) -> CInt {
    guard let events = simulated.ready(in: epoll, atMost: Int(LINUX_EVENT_BATCH), until: deadline) else {
      errno = EAGAIN
      return -1
    }
    precondition(events.count <= Int(LINUX_EVENT_BATCH), "the kernel returns at most as many events as fit")
    for (place, event) in events.enumerated() {
      batch[place] = linux_event(token: event.0, ready: event.1.rawValue)
    }
    return CInt(events.count)
  }

  /// Yields the core to other runnable processes.
  @inline(__always)
  static func yieldProcessor() {
    if let simulated { simulated.yieldProcessor() } else { sched_yield() }
  }

  // MARK: Sockets

  /// Makes a Unix stream socket. `socket(2)`
  static func makeSocket(nonBlocking: Bool) -> CInt {
    simulated?.makeSocket(nonBlocking: nonBlocking) ?? linux_unix_socket(nonBlocking)
  }

  /// Connects a Unix socket to a path. `connect(2)`
  static func connect(_ socket: CInt, to path: UnsafePointer<CChar>) -> CInt {
    simulated?.connect(socket, to: ByteText.text(of: path)) ?? linux_unix_connect(socket, path)
  }

  /// Accepts a connection, non-blocking. `accept4(2)`
  static func accept(_ socket: CInt) -> CInt { simulated?.accept(socket) ?? linux_accept(socket) }

  /// Makes two connected Unix stream sockets. `socketpair(2)`
  static func makePair(_ pair: inout (CInt, CInt), nonBlocking: Bool) -> CInt {
    if let simulated {
      guard let made = simulated.makePair(nonBlocking: nonBlocking) else { return -1 }
      pair = made
      return 0
    }
    return withUnsafeMutableBytes(of: &pair) {
      linux_unix_pair($0.baseAddress!.assumingMemoryBound(to: CInt.self), nonBlocking)
    }
  }

  /// Makes a pipe, the reading end first. `pipe2(2)`
  static func makePipe(_ pipe: inout (CInt, CInt)) -> CInt {
    if let simulated {
      guard let made = simulated.makePipe() else { return -1 }
      pipe = made
      return 0
    }
    return withUnsafeMutableBytes(of: &pipe) {
      linux_pipe($0.baseAddress!.assumingMemoryBound(to: CInt.self))
    }
  }

  /// Reads the credentials of a socket's peer. `getsockopt(2)` SO_PEERCRED
  static func peer(of socket: CInt, _ peer: inout linux_peer) -> CInt {
    if let simulated {
      guard let found = simulated.peer(of: socket) else { return -1 }
      peer = linux_peer(pid: found.pid, uid: found.uid, gid: found.gid)
      return 0
    }
    return linux_peer_credentials(socket, &peer)
  }

  /// Ends the output of a socket. `shutdown(2)` SHUT_WR
  static func shutdownWriting(_ socket: CInt) -> CInt {
    simulated?.shutdownWriting(socket) ?? shutdown(socket, CInt(SHUT_WR))
  }

  /// Ends the input of a socket. `shutdown(2)` SHUT_RD
  static func shutdownReading(_ socket: CInt) -> CInt {
    simulated?.shutdownReading(socket) ?? shutdown(socket, CInt(SHUT_RD))
  }

  /// Makes a Unix datagram socket, non-blocking. `socket(2)`
  static func makeDatagramSocket() -> CInt {
    if let simulated { return simulated.makeDatagramSocket() }
    return linux_unix_datagram_socket()
  }

  /// Binds a datagram socket to a path. `bind(2)`
  static func bind(_ socket: CInt, to path: UnsafePointer<CChar>) -> CInt {
    if let simulated { return simulated.bind(socket, to: ByteText.text(of: path)) }
    return linux_unix_bind(socket, path)
  }

  /// Locks or unlocks an open file. `flock(2)`
  static func lock(_ descriptor: CInt, _ operation: CInt) -> CInt {
    if let simulated { return simulated.lock(descriptor, operation) }
    return flock(descriptor, operation)
  }

  /// Removes a name. `unlink(2)`
  static func unlink(_ path: UnsafePointer<CChar>) -> CInt {
    simulated?.unlink(ByteText.text(of: path)) ?? Glibc.unlink(path)
  }

  /// Renames a file. `rename(2)`
  static func rename(_ path: UnsafePointer<CChar>, to other: UnsafePointer<CChar>) -> CInt {
    simulated?.rename(ByteText.text(of: path), to: ByteText.text(of: other)) ?? Glibc.rename(path, other)
  }

  /// Creates a directory. `mkdir(2)`
  static func makeDirectory(_ path: UnsafePointer<CChar>, mode: mode_t) -> CInt {
    simulated?.makeDirectory(ByteText.text(of: path), mode: mode) ?? mkdir(path, mode)
  }

  /// Makes an inotify descriptor, non-blocking. `inotify_init1(2)`
  static func makeWatch() -> CInt {
    simulated?.makeWatch() ?? inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
  }

  // MARK: Processes

  /// Opens a pidfd. `pidfd_open(2)`
  static func openProcess(_ pid: pid_t) -> CInt { simulated?.openProcess(pid) ?? linux_pidfd_open(pid) }

  /// Sends a signal to a process, or to a process group if the number is negative. `kill(2)`
  static func kill(_ pid: pid_t, _ signal: CInt) -> CInt {
    simulated?.signal(pid, signal) ?? Glibc.kill(pid, signal)
  }

  /// Sends a signal to the process of a pidfd. `pidfd_send_signal(2)`
  static func signal(through descriptor: CInt, _ signal: CInt) -> CInt {
    if let simulated { return simulated.signal(through: descriptor, signal) }
    return linux_pidfd_signal(descriptor, signal)
  }

  /// Blocks signals and makes a descriptor from which they are read. `signalfd(2)`
  static func makeSignalDescriptor(_ signals: [CInt]) -> CInt {
    simulated?.makeSignalDescriptor(signals) ?? linux_signal_descriptor(signals, CInt(signals.count))
  }

  /// Returns 1 if a signal was read, 0 if none is pending, -1 for an error.
  static func readSignal(_ descriptor: CInt, _ signal: inout linux_signal) -> CInt {
    guard let simulated else { return linux_signal_read(descriptor, &signal) }
    guard let number = simulated.readSignal(descriptor) else { return 0 }
    signal.number = number
    return 1
  }
}
