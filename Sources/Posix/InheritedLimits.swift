// umask and resource limits with which this process was started, and with which its child programs start as
// well.
// Invariant: the values are those of the parent, saved before ``ProcessStart`` changes this process. If they
// were never saved, a child gets the current ones.
import CLinux

/// umask and limits with which a process was started. `umask(2)`, `getrlimit(2)`
public struct InheritedLimits: Sendable, Hashable {
  /// umask, as `umask(1)` shows it. Nil means that the child inherits the umask of the process that starts it.
  public var mask: UInt32?
  /// The limits, each resource at most once.
  public var limits: [ResourceLimit]

  public init(mask: UInt32? = nil, limits: [ResourceLimit] = []) { (self.mask, self.limits) = (mask, limits) }

  /// Values with which this process was started, without the limit of realtime processor time; empty if
  /// ``ProcessStart`` was not called, and in a simulation.
  public static var inherited: InheritedLimits {
    guard Kernel.simulated == nil else { return InheritedLimits() }
    let mask = linux_inherited_mask()
    // ``ProcessMark`` uses the limit of realtime processor time for its own purpose.
    let limits = ResourceLimit.Resource.allCases.filter { $0 != .realTime }.compactMap(limit)
    return InheritedLimits(mask: mask >= 0 ? UInt32(mask) : nil, limits: limits)
  }

  /// The limit of a resource with which this process was started; nil if it was not saved.
  static func limit(_ resource: ResourceLimit.Resource) -> ResourceLimit? {
    var (soft, hard): (UInt64, UInt64) = (0, 0)
    guard linux_inherited_limit(resource.number, &soft, &hard) else { return nil }
    return ResourceLimit(resource, soft, hard: hard)
  }
}
