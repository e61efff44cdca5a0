// Owns the limits that the kernel keeps to for a process, by their names. Invariant: a limit is only ever lowered by a start:
// what the parent of a process may use stays the most. Failure: none; these are values.
import CLinux
import Glibc

/// What a process may use at most. A limit is only ever lowered. `setrlimit(2)`
public struct ResourceLimit: Sendable, Hashable {
  /// What is limited. The raw value is the name that `prlimit(1)` gives it.
  public enum Resource: String, Sendable, Hashable, CaseIterable {
    /// Bytes of address space. RLIMIT_AS
    case memory = "as"
    /// Seconds of processor time. RLIMIT_CPU
    case processorSeconds = "cpu"
    /// The number above the highest descriptor. RLIMIT_NOFILE
    case openFiles = "nofile"
    /// Bytes of a file that it writes. RLIMIT_FSIZE
    case fileSize = "fsize"
    /// Bytes of data segment. RLIMIT_DATA
    case data
    /// Bytes of stack. RLIMIT_STACK
    case stack
    /// Bytes of a core file. RLIMIT_CORE
    case core
    /// Processes of its user. RLIMIT_NPROC
    case processes = "nproc"
    /// Bytes of memory that it keeps from being swapped out. RLIMIT_MEMLOCK
    case lockedMemory = "memlock"
    /// Signals that wait for its user. RLIMIT_SIGPENDING
    case pendingSignals = "sigpending"
    /// Bytes of message queues of its user. RLIMIT_MSGQUEUE
    case messageQueues = "msgqueue"
    /// How high its priority may be. RLIMIT_NICE
    case nice
    /// Its realtime priority. RLIMIT_RTPRIO
    case realtimePriority = "rtprio"
    /// Microseconds that a process of a real-time class computes without a pause. RLIMIT_RTTIME
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

  /// What is limited.
  public let resource: Resource
  /// What is kept to; the process may raise it as far as `hard`.
  public let soft: UInt64
  /// What it can never go beyond.
  public let hard: UInt64

  /// A limit; one without `hard` cannot be raised.
  public init(_ resource: Resource, _ soft: UInt64, hard: UInt64? = nil) {
    (self.resource, self.soft, self.hard) = (resource, soft, hard ?? soft)
  }

  /// Of each resource the lowest soft and the lowest hard limit.
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
