// Mark of a process and its descendants in RLIMIT_RTTIME. The value is so large that it limits nothing. It is kept
// when other traces are lost: by a cleared environment, another session, another user, or the exit of the parent.
// Invariant: a mark is at least 2⁶² µs, so that a limit that an administrator sets is not mistaken for a mark. A
// lower limit is not raised.
// Errors: a process with a lower limit cannot be marked, and a descendant that sets the limit itself loses the
// mark.
import CLinux
import Glibc

/// Mark that a process passes on to its descendants, encoded in a limit. `getrlimit(2)` RLIMIT_RTTIME
public struct ProcessMark: Sendable, Hashable {
  /// Number of the owner, of at most 39 bits.
  public let owner: UInt64
  /// Number of the marked service.
  public let service: UInt16

  /// True if this machine supports marks. A simulated machine has no resource limits.
  public static var areSupported: Bool { Kernel.simulated == nil }

  private static let ownerBits: UInt64 = (1 << 39) - 1
  /// Height of the first mark. A mark within a marked process is one lower.
  private static let maximumDepth: UInt64 = 127

  /// Makes a mark with the lower 39 bits of `owner`.
  public init(owner: UInt64, service: UInt16) {
    (self.owner, self.service) = (owner & Self.ownerBits, service)
  }

  /// Decodes the mark in a limit; nil for a limit that is not a mark.
  init?(limit: UInt64) {
    guard limit >> 62 == 1 else { return nil }
    self.init(owner: limit >> 16, service: UInt16(truncatingIfNeeded: limit))
  }

  /// True if both marks have the same owner.
  public func sharesOwner(of other: ProcessMark) -> Bool { owner == other.owner }

  /// Encodes the mark as a limit. A bank may run within a marked process, and a soft limit cannot exceed the hard
  /// limit, so `height` is then one less than that of the hard limit.
  private func number(height: UInt64) -> UInt64 { 1 << 62 | height << 55 | owner << 16 | UInt64(service) }

  /// Limit for a child of this process; nil if this process has a limit that is not a mark, or a mark with height
  /// 0, or on a simulated machine.
  ///
  /// In a marked process the hard limit keeps the existing mark, and the soft limit is this mark.
  public func limit() -> ResourceLimit? {
    guard Self.areSupported else { return nil }
    var (soft, hard): (UInt64, UInt64) = (0, 0)
    guard linux_real_time_limit(&soft, &hard) == 0 else { return nil }
    if hard == UInt64.max { return ResourceLimit(.realTime, number(height: Self.maximumDepth)) }
    guard Self(limit: hard) != nil else { return nil }
    let height = hard >> 55 & Self.maximumDepth
    return height == 0 ? nil : ResourceLimit(.realTime, number(height: height - 1), hard: hard)
  }

  /// Marks this process; processes that it starts from now on inherit the mark. Returns false if the process cannot be
  /// marked; see ``limit()``.
  @discardableResult
  public func adopt() -> Bool {
    guard let limit = limit() else { return false }
    return linux_set_real_time_limit(limit.soft, limit.hard) == 0
  }

  /// Marks of a process; empty if it has none or has exited. /proc/PID/limits, `proc_pid_limits(5)`
  public static func marks(of pid: pid_t) -> [ProcessMark] {
    guard areSupported, let text = ProcessTable.text(of: "/proc/\(pid)/limits", limit: 16 << 10),
      let line = text.split(separator: "\n").last, line.hasPrefix("Max realtime timeout ")
    else { return [] }
    return line.split(separator: " ").compactMap { UInt64($0) }.compactMap { ProcessMark(limit: $0) }
  }
}

extension ProcessMark: LosslessStringConvertible {
  /// Form as a command-line argument: `OWNER.SERVICE`.
  public var description: String { "\(owner).\(service)" }

  /// Parses the form of ``description``.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let owner = UInt64(parts[0]), let service = UInt16(parts[1]) else { return nil }
    self.init(owner: owner, service: service)
  }
}
