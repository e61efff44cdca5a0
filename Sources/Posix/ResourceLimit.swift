// Resource limits of the kernel, by name. Invariant: the start of a process only ever lowers a limit: the
// parent's limits stay the maximum.
import CLinux
import Glibc

/// Resource limit of a process. A limit is only ever lowered. `setrlimit(2)`
public struct ResourceLimit: Sendable, Hashable {
  /// Resources. The raw value is the name in `prlimit(1)`.
  public enum Resource: String, Sendable, Hashable, CaseIterable {
    /// Bytes of address space. RLIMIT_AS
    case memory = "as"
    /// Seconds of processor time. RLIMIT_CPU
    case processorSeconds = "cpu"
    /// The number above the highest descriptor. RLIMIT_NOFILE
    case openFiles = "nofile"
    /// Bytes of each file that it writes. RLIMIT_FSIZE
    case fileSize = "fsize"
    /// Bytes of data segment. RLIMIT_DATA
    case data
    /// Bytes of stack. RLIMIT_STACK
    case stack
    /// Bytes of a core file. RLIMIT_CORE
    case core
    /// Processes of the process's user. RLIMIT_NPROC
    case processes = "nproc"
    /// Bytes of memory locked into RAM. RLIMIT_MEMLOCK
    case lockedMemory = "memlock"
    /// Pending signals of the process's user. RLIMIT_SIGPENDING
    case pendingSignals = "sigpending"
    /// Bytes of message queues of the process's user. RLIMIT_MSGQUEUE
    case messageQueues = "msgqueue"
    /// Ceiling of the priority. RLIMIT_NICE
    case nice
    /// Realtime priority. RLIMIT_RTPRIO
    case realtimePriority = "rtprio"
    /// Microseconds of processor time without a blocking system call, under a realtime scheduling class.
    /// RLIMIT_RTTIME
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
  /// Limit in force; the process may raise it up to `hard`.
  public let soft: UInt64
  /// Upper bound of `soft`.
  public let hard: UInt64

  /// A limit; without `hard` it cannot be raised.
  public init(_ resource: Resource, _ soft: UInt64, hard: UInt64? = nil) {
    (self.resource, self.soft, self.hard) = (resource, soft, hard ?? soft)
  }

  /// The lowest soft and the lowest hard limit of each resource.
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

  var inC: linux_limit { linux_limit(resource: resource.number, soft: soft, hard: hard) }
}
