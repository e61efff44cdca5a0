// Datagrams, file locks and process descriptors of the simulated kernel.
// Invariant: a datagram can be received as soon as it was sent, as on Linux, so a datagram sent before an exit does not
// arrive after it. A lock belongs to the open file, shared by all its descriptors, and ends with the last of them.

import Glibc
import Posix
import Time

/// A Unix datagram socket, with the datagrams that its process has not read.
final class DatagramSocket {
  /// Maximum number of unread datagrams; net.unix.max_dgram_qlen of Linux.
  static let capacity = 10

  weak var owner: SimulatedProcess?
  /// Time at which the socket was closed; nil while it is open.
  var closedAt: MonotonicTime?
  var waiting: [(due: MonotonicTime, bytes: [UInt8])] = []

  init(owner: SimulatedProcess) { self.owner = owner }

  func isOpen(at moment: MonotonicTime) -> Bool { closedAt.map { $0 > moment } ?? true }
  /// Always ready for writing; for reading if a datagram has arrived.
  func readiness(at moment: MonotonicTime) -> Readiness {
    waiting.first.map { $0.due <= moment } ?? false ? [.read, .write] : .write
  }

  /// Reads the next datagram, truncated to the buffer; nil if there is none.
  func read(into buffer: UnsafeMutableRawBufferPointer, at moment: MonotonicTime) -> Int? {
    guard let first = waiting.first, first.due <= moment else { return nil }
    waiting.removeFirst()
    let part = first.bytes.prefix(buffer.count)
    part.withUnsafeBytes { buffer.copyMemory(from: $0) }
    return part.count
  }
}

extension SimulatedProcess {
  /// Makes a datagram socket, and returns its descriptor.
  func makeDatagramSocket() -> CInt { give(.datagrams(DatagramSocket(owner: self))) }

  /// Gives a socket a name under which it receives datagrams. `bind(2)`
  func bind(_ socket: CInt, to path: String) -> CInt {
    guard survives() else { return 0 }
    guard case .datagrams(let receiver)? = descriptors[socket] else { return fail(EINVAL) }
    guard host.names[path] == nil, host.receivers[path] == nil, host.files[path] == nil else {
      return fail(EADDRINUSE)
    }
    if let code = host.files.objection(to: path) { return fail(code) }
    host.receivers[path] = receiver
    return 0
  }

  /// Sends a datagram to the socket of this name. `sendto(2)`
  func send(_ datagram: [UInt8], to path: String) -> CInt {
    guard survives(), !mutantOmits(datagram) else { return 0 }
    guard let receiver = host.receivers[path] else { return fail(ENOENT) }
    guard receiver.isOpen(at: clock), let owner = receiver.owner else { return fail(ECONNREFUSED) }
    guard receiver.waiting.count < DatagramSocket.capacity else { return fail(EAGAIN) }
    // Senders have different virtual clocks: insert in time order.
    let place = receiver.waiting.firstIndex { $0.due > clock } ?? receiver.waiting.count
    receiver.waiting.insert((clock, datagram), at: place)
    host.wake(owner, at: clock + host.delay())
    return 0
  }

  /// Returns 0 if a process receives datagrams under this name, or -1 with `errno`.
  func connectDatagrams(to path: String) -> CInt {
    guard let receiver = host.receivers[path] else { return fail(ENOENT) }
    return receiver.isOpen(at: clock) ? 0 : fail(ECONNREFUSED)
  }

  /// Takes or releases the lock of an open file. `flock(2)`
  func lock(_ descriptor: CInt, _ operation: CInt) -> CInt {
    guard survives() else { return 0 }
    guard case .file(let file)? = descriptors[descriptor] else { return fail(EBADF) }
    return file.lock(operation) ? 0 : fail(EWOULDBLOCK)
  }

  /// Sends a signal to the process of a process descriptor. `pidfd_send_signal(2)`
  func signal(through descriptor: CInt, _ signal: CInt) -> CInt {
    guard case .process(let process)? = descriptors[descriptor] else { return fail(EBADF) }
    guard process.ending.map({ $0.at > clock }) ?? true else { return fail(ESRCH) }
    return self.signal(process.pid, signal)
  }
}

/// The locks on one file, each held by an open file.
final class FileLocks {
  /// An open file that holds the lock, shared or exclusively.
  private struct Holder {
    weak var file: OpenedFile?
    let isExclusive: Bool
  }
  private var holders: [Holder] = []

  /// Replaces or releases the lock of an open file; false if the lock of another open file is in conflict.
  func take(_ operation: CInt, for file: OpenedFile) -> Bool {
    holders.removeAll { $0.file == nil }
    let others = holders.filter { $0.file !== file }
    if operation & LOCK_UN == 0 {
      let isExclusive = operation & LOCK_EX != 0
      guard others.allSatisfy({ !$0.isExclusive && !isExclusive }) else { return false }
      holders = others + [Holder(file: file, isExclusive: isExclusive)]
    } else {
      holders = others
    }
    return true
  }
}
