// State of the one coordinator that is guarded: a child of this process, or an adopted process.
// Invariant: a signal reaches this coordinator or no process.
import Posix
import Supervision
import Time

struct GuardedCoordinator {
  /// The coordinator's process, with the descriptor that reports its exit.
  enum Process {
    /// Started by this guardian, which can read its exit status.
    case started(ChildProcess)
    /// Started before this guardian, which sees its exit, but not its exit status.
    case adopted(ProcessHandle)

    /// The pidfd, readable when the process has exited.
    var fd: CInt {
      switch self {
      case .started(let child): child.fd
      case .adopted(let other): other.fd
      }
    }
  }

  let process: Process
  let registration: Registration
  let since: MonotonicTime
  var stallDetector: StallDetector
  /// True after the first progress report of the coordinator. A coordinator of an older build sends none.
  var hasReported = false
  /// Time of SIGKILL, set when the process was found hanging. It is listening time, like the times in
  /// ``stallDetector``; see `EventLoop.listeningTime`.
  var killAt: MonotonicTime?

  /// Time between SIGABRT and SIGKILL for a hanging process.
  static let abortGrace = TimeSpan.milliseconds(200)

  /// Time, in listening time, at which silence is examined or the process is killed.
  var nextJudgement: MonotonicTime { killAt ?? stallDetector.nextCheckAt }

  /// State of the process for the judgement whether it hangs.
  var observation: StallDetector.Observation {
    guard let activity = ProcessTable.activity(of: pid) else { return .excused }
    return switch activity.state {
    case .stopped: .stopped
    case .sleeping where hasReported: .asleep(processorTicks: activity.processorTicks)
    case .running where hasReported: .running(processorTicks: activity.processorTicks)
    default: .excused
    }
  }

  var pid: Int32 {
    switch process {
    case .started(let child): child.pid
    case .adopted(let other): other.pid
    }
  }

  func kill(_ signal: CInt) {
    switch process {
    case .started(let child): child.kill(signal)
    case .adopted(let other): other.kill(signal)
    }
  }
}

extension CoordinatorExit {
  init(_ status: ExitStatus) {
    self =
      switch status.ending {
      case .code(let code): .code(code)
      case .signal(let signal, _): .signal(signal)
      case .unknown: .unknown
      }
  }
}

extension CoordinatorExit: CustomStringConvertible {
  /// `code 7`, `SIGKILL` or `exit status unknown`.
  public var description: String {
    switch self {
    case .code(let code): "code \(code)"
    case .signal(let signal): Signals.name(signal)
    case .unknown: "exit status unknown"
    }
  }
}
