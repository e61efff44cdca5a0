// Start state of this process that its child programs get as well: umask and limits.
// Invariant: the values are those from the parent; they are saved before ``ProcessStart`` changes this
// process. If they were never saved they are unknown, and a child gets the current ones.
import CLinux

/// umask and limits at the start of a process. `umask(2)`, `getrlimit(2)`
public struct Surroundings: Sendable, Hashable {
  /// umask, as `umask(1)` shows it; nil for that of the starting process.
  public var mask: UInt32?
  /// The limits, each resource at most once.
  public var limits: [ResourceLimit]

  public init(mask: UInt32? = nil, limits: [ResourceLimit] = []) { (self.mask, self.limits) = (mask, limits) }

  /// Start state of this process; empty if ``ProcessStart`` was not called, and in a simulation.
  public static var inherited: Surroundings {
    guard Kernel.simulated == nil else { return Surroundings() }
    let mask = linux_inherited_mask()
    // ``ProcessMark`` uses the other one.
    let limits = ResourceLimit.Resource.allCases.filter { $0 != .realTime }.compactMap(limit)
    return Surroundings(mask: mask >= 0 ? UInt32(mask) : nil, limits: limits)
  }

  static func limit(_ resource: ResourceLimit.Resource) -> ResourceLimit? {
    var (soft, hard): (UInt64, UInt64) = (0, 0)
    guard linux_inherited_limit(resource.number, &soft, &hard) else { return nil }
    return ResourceLimit(resource, soft, hard: hard)
  }
}
