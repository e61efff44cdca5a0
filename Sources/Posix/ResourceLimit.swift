// Resource limits of the kernel, by their names. Invariant: the start of a process does not raise a hard limit, so
// the hard limits of the parent are the maximum.
import CLinux
import Glibc

/// Resource limit of a process. `setrlimit(2)`
public struct ResourceLimit: Sendable, Hashable {
  /// Resources that can be limited. The raw value is the name in `prlimit(1)`.
  public enum Resource: String, Sendable, Hashable, CaseIterable {
    /// Address space in bytes. RLIMIT_AS
    case memory = "as"
    /// Processor time in seconds. RLIMIT_CPU
    case processorSeconds = "cpu"
    /// One more than the highest permitted descriptor. RLIMIT_NOFILE
    case openFiles = "nofile"
    /// Size in bytes of each file that the process writes. RLIMIT_FSIZE
    case fileSize = "fsize"
    /// Data segment in bytes. RLIMIT_DATA
    case data
    /// Stack in bytes. RLIMIT_STACK
    case stack
    /// Core file in bytes. RLIMIT_CORE
    case core
    /// Number of processes of the process's user. RLIMIT_NPROC
    case processes = "nproc"
    /// Memory locked into RAM, in bytes. RLIMIT_MEMLOCK
    case lockedMemory = "memlock"
    /// Number of pending signals of the process's user. RLIMIT_SIGPENDING
    case pendingSignals = "sigpending"
    /// Message queues of the process's user, in bytes. RLIMIT_MSGQUEUE
    case messageQueues = "msgqueue"
    /// 20 minus the lowest nice value that the process may set. RLIMIT_NICE
    case nice
    /// Ceiling of the realtime priority. RLIMIT_RTPRIO
    case realtimePriority = "rtprio"
    /// Processor time in microseconds that a process under a realtime scheduling class may use without a
    /// blocking system call. RLIMIT_RTTIME
    case realTime = "rttime"

    /// The kernel's number.
    var number: CInt {
      switch self {
      case .memory: CInt(RLIMIT_AS.rawValue)
      case .processorSeconds: CInt(RLIMIT_CPU.rawValue)
      case .openFiles: CInt(RLIMIT_NOFILE.rawValue)
      case .fileSize: CInt(RLIMIT_FSIZE.rawValue)
      case .data: CInt(RLIMIT_DATA.rawValue)
      case .stack: CInt(RLIMIT_STACK.rawValue)
      case .core: CInt(RLIMIT_CORE.rawValue)
      case .processes: CInt(__RLIMIT_NPROC.rawValue)
      case .lockedMemory: CInt(__RLIMIT_MEMLOCK.rawValue)
      case .pendingSignals: CInt(__RLIMIT_SIGPENDING.rawValue)
      case .messageQueues: CInt(__RLIMIT_MSGQUEUE.rawValue)
      case .nice: CInt(__RLIMIT_NICE.rawValue)
      case .realtimePriority: CInt(__RLIMIT_RTPRIO.rawValue)
      case .realTime: CInt(__RLIMIT_RTTIME.rawValue)
      }
    }
  }

  /// No limit. RLIM_INFINITY
  public static let unlimited = UInt64.max

  /// Limited resource.
  public let resource: Resource
  /// Limit that applies; the process may raise it up to `hard`.
  public let soft: UInt64
  /// Upper bound of `soft`.
  public let hard: UInt64

  /// Makes a limit. Without `hard` the process cannot raise it.
  public init(_ resource: Resource, _ soft: UInt64, hard: UInt64? = nil) {
    (self.resource, self.soft, self.hard) = (resource, soft, hard ?? soft)
  }

  /// For each resource one limit, with the lowest soft and the lowest hard value.
  public static func lowest(of limits: [ResourceLimit]) -> [ResourceLimit] {
    var lowest: [ResourceLimit] = []
    for limit in limits {
      if let place = lowest.firstIndex(where: { $0.resource == limit.resource }) {
        let other = lowest[place]
        lowest[place] = ResourceLimit(
          limit.resource, min(limit.soft, other.soft, limit.hard, other.hard),
          hard: min(limit.hard, other.hard))
      } else {
        lowest.append(limit)
      }
    }
    return lowest
  }

  /// The limit as the C functions of this build expect it.
  var cValue: linux_limit { linux_limit(resource: resource.number, soft: soft, hard: hard) }
}
