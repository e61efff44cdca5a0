// Dispatch of each call: to the simulated kernel if this thread has one, and to Linux if it has none. Errors:
// those of the calls themselves: -1 and errno.
import ByteText
import CLinux
import Glibc
import Time

extension Kernel {
  @inline(__always)
  static func open(_ path: UnsafePointer<CChar>, flags: CInt, _ mode: mode_t) -> CInt {
    simulated?.open(ByteText.text(of: path), flags: flags, mode: mode)
      ?? Glibc.open(path, flags | O_CLOEXEC, mode)
  }

  @inline(__always)
  static func close(_ descriptor: CInt) -> CInt { simulated?.close(descriptor) ?? Glibc.close(descriptor) }

  @inline(__always)
  static func read(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    simulated?.read(descriptor, into: buffer) ?? Glibc.read(descriptor, buffer.baseAddress, buffer.count)
  }

  @inline(__always)
  static func receive(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    simulated?.read(descriptor, into: buffer) ?? Glibc.recv(descriptor, buffer.baseAddress, buffer.count, 0)
  }

  @inline(__always)
  static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    simulated?.write(descriptor, bytes) ?? Glibc.write(descriptor, bytes.baseAddress, bytes.count)
  }

  @inline(__always)
  static func send(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    simulated?.write(descriptor, bytes) ?? linux_send(descriptor, bytes.baseAddress, bytes.count)
  }

  static func read(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    simulated?.read(descriptor, into: buffer, at: offset)
      ?? pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
  }

  static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int {
    simulated?.write(descriptor, bytes, at: offset)
      ?? pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
  }

  static func sync(_ descriptor: CInt) -> CInt { simulated?.sync(descriptor) ?? fsync(descriptor) }

  static func truncate(_ descriptor: CInt, to size: Int64) -> CInt {
    simulated?.truncate(descriptor, to: size) ?? ftruncate(descriptor, off_t(size))
  }

  static func setNonBlocking(_ descriptor: CInt, _ nonBlocking: Bool) -> CInt {
    simulated?.setNonBlocking(descriptor, nonBlocking) ?? linux_set_nonblocking(descriptor, nonBlocking)
  }

  static func duplicate(_ descriptor: CInt, atLeast lowest: CInt) -> CInt {
    simulated?.duplicate(descriptor, atLeast: lowest) ?? linux_duplicate(descriptor, lowest)
  }

  // MARK: Readiness

  static func makeEpoll() -> CInt { simulated?.makeEpoll() ?? linux_epoll_create() }

  static func add(_ descriptor: CInt, to epoll: CInt, _ interest: Interest, token: UInt64) -> CInt {
    simulated?.add(descriptor, to: epoll, interest: interest, token: token)
      ?? linux_epoll_add(epoll, descriptor, interest.rawValue, token)
  }

  static func modify(_ descriptor: CInt, in epoll: CInt, _ interest: Interest, token: UInt64) -> CInt {
    simulated?.modify(descriptor, in: epoll, interest: interest, token: token)
      ?? linux_epoll_modify(epoll, descriptor, interest.rawValue, token)
  }

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

  static func makeSocket(nonBlocking: Bool) -> CInt {
    simulated?.makeSocket(nonBlocking: nonBlocking) ?? linux_unix_socket(nonBlocking)
  }

  static func connect(_ socket: CInt, to path: UnsafePointer<CChar>) -> CInt {
    simulated?.connect(socket, to: ByteText.text(of: path)) ?? linux_unix_connect(socket, path)
  }

  static func accept(_ socket: CInt) -> CInt { simulated?.accept(socket) ?? linux_accept(socket) }

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

  static func peer(of socket: CInt, _ peer: inout linux_peer) -> CInt {
    if let simulated {
      guard let found = simulated.peer(of: socket) else { return -1 }
      peer = linux_peer(pid: found.pid, uid: found.uid, gid: found.gid)
      return 0
    }
    return linux_peer_credentials(socket, &peer)
  }

  static func shutdownWriting(_ socket: CInt) -> CInt {
    simulated?.shutdownWriting(socket) ?? shutdown(socket, CInt(SHUT_WR))
  }

  static func shutdownReading(_ socket: CInt) -> CInt {
    simulated?.shutdownReading(socket) ?? shutdown(socket, CInt(SHUT_RD))
  }

  static func makeDatagramSocket() -> CInt {
    if let simulated { return simulated.makeDatagramSocket() }
    return linux_unix_datagram_socket()
  }

  static func bind(_ socket: CInt, to path: UnsafePointer<CChar>) -> CInt {
    if let simulated { return simulated.bind(socket, to: ByteText.text(of: path)) }
    return linux_unix_bind(socket, path)
  }

  static func lock(_ descriptor: CInt, _ operation: CInt) -> CInt {
    if let simulated { return simulated.lock(descriptor, operation) }
    return flock(descriptor, operation)
  }

  static func unlink(_ path: UnsafePointer<CChar>) -> CInt {
    simulated?.unlink(ByteText.text(of: path)) ?? Glibc.unlink(path)
  }

  static func rename(_ path: UnsafePointer<CChar>, to other: UnsafePointer<CChar>) -> CInt {
    simulated?.rename(ByteText.text(of: path), to: ByteText.text(of: other)) ?? Glibc.rename(path, other)
  }

  static func makeDirectory(_ path: UnsafePointer<CChar>, mode: mode_t) -> CInt {
    simulated?.makeDirectory(ByteText.text(of: path), mode: mode) ?? mkdir(path, mode)
  }

  static func makeWatch() -> CInt {
    simulated?.makeWatch() ?? inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
  }

  // MARK: Processes

  static func openProcess(_ pid: pid_t) -> CInt { simulated?.openProcess(pid) ?? linux_pidfd_open(pid) }

  static func kill(_ pid: pid_t, _ signal: CInt) -> CInt {
    simulated?.signal(pid, signal) ?? Glibc.kill(pid, signal)
  }

  static func signal(through descriptor: CInt, _ signal: CInt) -> CInt {
    if let simulated { return simulated.signal(through: descriptor, signal) }
    return linux_pidfd_signal(descriptor, signal)
  }

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
