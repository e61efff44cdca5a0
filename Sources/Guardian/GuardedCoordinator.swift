// Owns the view of the one coordinator that is guarded: a child of this process, or one that was taken over.
// Invariant: it is signalled only while it is certainly this coordinator's process. A signal that comes too late reaches
// nobody.
import Posix
import Supervision
import Time

struct GuardedCoordinator {
  enum Process {
    /// This guardian has started it, and can see how it ends.
    case started(ChildProcess)
    /// It was there already, and only that it ends can be seen.
    case adopted(OtherProcess)

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
  var silence: Standstill
  /// Whether it has ever reported progress: one of an older build does not know how to.
  var hasReported = false
  /// When it gets SIGKILL, after it was found to stand still; in the time that was attended, as all of this.
  var killAt: MonotonicTime?

  /// How long one that stands still has between SIGABRT and SIGKILL.
  static let abortGrace = TimeSpan.milliseconds(200)

  var nextJudgement: MonotonicTime { killAt ?? silence.lookAt }

  var sight: Standstill.Sight {
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

extension CoordinatorEnd {
  init(_ status: ExitStatus) {
    self =
      switch status.ending {
      case .code(let code): .code(code)
      case .signal(let signal, _): .signal(signal)
      case .unseen: .unseen
      }
  }
}

extension CoordinatorEnd: CustomStringConvertible {
  /// `code 7`, `SIGKILL` or `exit status unknown`.
  public var description: String {
    switch self {
    case .code(let code): "code \(code)"
    case .signal(let signal): Signals.name(signal)
    case .unseen: "exit status unknown"
    }
  }
}
