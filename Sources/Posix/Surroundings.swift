// Owns what a process was started with that a program which it starts shall have too: the mask of new files and the limits.
// Invariant: it is what the parent handed over; ``ProcessStart`` changes this process only after it was kept.
// Failure: none. What was never kept is unknown, and then a child has what this process has.
import CLinux

/// The mask of new files and the limits with which a process begins. `umask(2)`, `getrlimit(2)`
public struct Surroundings: Sendable, Hashable {
  /// The mask of new files, as `umask(1)` shows it; nil for that of the process which starts it.
  public var mask: UInt32?
  /// The limits, each resource once.
  public var limits: [ResourceLimit]

  public init(mask: UInt32? = nil, limits: [ResourceLimit] = []) { (self.mask, self.limits) = (mask, limits) }

  /// With what this process was started; empty if ``ProcessStart`` was not called, and in a simulation.
  public static var inherited: Surroundings {
    guard Kernel.simulated == nil else { return Surroundings() }
    let mask = linux_inherited_mask()
    // ``ProcessMark`` has the other one.
    let limits = ResourceLimit.Resource.allCases.filter { $0 != .realTime }.compactMap(limit)
    return Surroundings(mask: mask >= 0 ? UInt32(mask) : nil, limits: limits)
  }

  static func limit(_ resource: ResourceLimit.Resource) -> ResourceLimit? {
    var (soft, hard): (UInt64, UInt64) = (0, 0)
    guard linux_inherited_limit(resource.number, &soft, &hard) else { return nil }
    return ResourceLimit(resource, soft, hard: hard)
  }
}
