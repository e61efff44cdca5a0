// Owns the words of the event loop: what is waited for, what is ready, and the ticket of a registration.
// Invariant: a registration and its token are the same thing, so an event finds its owner without a look-up
// table. Failure: none; these are values.
import CLinux

/// What a registration waits for.
public struct Interest: OptionSet, Sendable, Hashable {
  /// The bits of `epoll_ctl(2)`.
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Something can be read or accepted, a child has ended (pidfd), or the end was reached.
  public static let read = Interest(rawValue: UInt32(LINUX_READABLE))
  /// Something can be written.
  public static let write = Interest(rawValue: UInt32(LINUX_WRITABLE))
  /// The peer has closed its writing half, also while there is unread data in front of it.
  public static let peerClosed = Interest(rawValue: UInt32(LINUX_PEER_CLOSED))
}

/// What a descriptor is ready for.
public struct Readiness: OptionSet, Sendable, Hashable {
  /// The bits of `epoll_wait(2)`.
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A read will not block; it may bring the end.
  public static let read = Readiness(rawValue: UInt32(LINUX_READABLE))
  /// A write will not block; it may say that nobody reads.
  public static let write = Readiness(rawValue: UInt32(LINUX_WRITABLE))
  /// The peer has closed its writing half; only where it was asked for.
  public static let peerClosed = Readiness(rawValue: UInt32(LINUX_PEER_CLOSED))
  /// Both halves are closed. There may still be data to read. Reported unasked.
  public static let hangUp = Readiness(rawValue: UInt32(LINUX_HANG_UP))
  /// An error is pending, or a pipe lost its reader. Reported unasked.
  public static let error = Readiness(rawValue: UInt32(LINUX_ERROR))
}

/// The ticket of one registration on one ``EventLoop``. It is never valid again once it was taken out.
public struct Registration: Sendable, Hashable {
  let fd: CInt
  let generation: UInt32

  init(fd: CInt, generation: UInt32) { (self.fd, self.generation) = (fd, generation) }

  init(token: UInt64) {
    fd = CInt(truncatingIfNeeded: token & 0x7fff_ffff)
    generation = UInt32(truncatingIfNeeded: token >> 32)
  }

  var token: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: fd)) }
}
