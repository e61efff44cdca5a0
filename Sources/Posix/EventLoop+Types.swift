// Values of the event loop: interest, readiness, and the handle of a registration.
// Invariant: a registration and its epoll token are the same data, so the token of an event contains the
// descriptor and the generation of its registration.
import CLinux

/// Events that a registration waits for.
public struct Interest: OptionSet, Sendable, Hashable {
  /// The bits of `epoll_ctl(2)`.
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Data or a connection is available, a child has exited (pidfd), or the end of file was reached.
  public static let read = Interest(rawValue: UInt32(LINUX_READABLE))
  /// Writing is possible.
  public static let write = Interest(rawValue: UInt32(LINUX_WRITABLE))
  /// The peer has shut down writing. This is reported even while data is unread.
  public static let peerClosed = Interest(rawValue: UInt32(LINUX_PEER_CLOSED))
}

/// Events that have occurred on a descriptor.
public struct Readiness: OptionSet, Sendable, Hashable {
  /// The bits of `epoll_wait(2)`.
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A read will not block. It may return end of file.
  public static let read = Readiness(rawValue: UInt32(LINUX_READABLE))
  /// A write will not block; it may fail because the reader has closed.
  public static let write = Readiness(rawValue: UInt32(LINUX_WRITABLE))
  /// The peer has shut down writing. It is reported only if requested.
  public static let peerClosed = Readiness(rawValue: UInt32(LINUX_PEER_CLOSED))
  /// Both directions of a socket are shut down, or a pipe lost its last writer. Unread data may remain. It is
  /// reported without being requested.
  public static let hangUp = Readiness(rawValue: UInt32(LINUX_HANG_UP))
  /// An error is pending, or a pipe lost its reader. It is reported without being requested.
  public static let error = Readiness(rawValue: UInt32(LINUX_ERROR))
}

/// Handle of one registration on one ``EventLoop``.
public struct Registration: Sendable, Hashable {
  let fd: CInt
  let generation: UInt32

  init(fd: CInt, generation: UInt32) { (self.fd, self.generation) = (fd, generation) }

  init(token: UInt64) {
    fd = CInt(truncatingIfNeeded: token & 0x7fff_ffff)
    generation = UInt32(truncatingIfNeeded: token >> 32)
  }

  /// Data that epoll returns with an event of this registration.
  var token: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: fd)) }
}
