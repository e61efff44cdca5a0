// End of the processes that a command left behind after both its runner and the runner's parent were killed.
// They are recognized by the traces that every process inherits from the command; see ``OrphanTraces``.
// Invariant: this process, its ancestors and its descendants are never ended, whatever traces they have.
// Errors: a process that cannot be ended is reported, so that nothing starts beside it.
import Glibc
import Posix
import Time

/// Processes that attempts at customers have left behind.
public final class Orphans {
  /// Environment variable of every command, inherited by every process that it starts.
  public static let variable = "BANK_KEY"

  /// A process that is left.
  public struct Left: Sendable, Hashable {
    /// Process id.
    public var pid: pid_t
    /// Start time in clock ticks since boot: together with the process id it identifies one process.
    public var startTime: UInt64
    /// Number of its service; 0 if unknown.
    public var service: UInt16

    public init(pid: pid_t, startTime: UInt64, service: UInt16) {
      (self.pid, self.startTime, self.service) = (pid, startTime, service)
    }

    /// True if the process exists and has not exited.
    public var isAlive: Bool {
      ProcessTable.kinship(of: pid).map { $0.isAlive && $0.startTime == startTime } == true
    }
  }

  private let ending: ProcessEnding
  private let search: OrphanSearch

  /// All processes with these traces, and their descendants. None is ended yet.
  ///
  /// - Parameter patience: time from SIGKILL until the remaining processes are given up.
  public init(_ traces: OrphanTraces, on loop: EventLoop, patience: TimeSpan = .seconds(10)) {
    let search = OrphanSearch(traces)
    self.search = search
    ending = ProcessEnding(on: loop, patience: patience) { signal, room, isHeld throws(SystemError) in
      try search.look(for: signal, room: room, isHeld)
    }
  }

  /// Process ids of the processes started with `BANK_KEY=key`, without descendants that were started without
  /// it.
  public static func find(key: String) -> [pid_t] { OrphanTraces(key: key).find() }

  /// True if a process was started with `BANK_KEY=key`.
  public static func belongs(_ pid: pid_t, toKey key: String) -> Bool {
    EnvironmentSearch(variable, key).matches(pid)
  }

  /// True if a process was started with a `BANK_KEY` that starts with this prefix.
  public static func belongs(_ pid: pid_t, toKeysFrom prefix: String) -> Bool {
    EnvironmentSearch(variable, prefix, isPrefix: true).matches(pid)
  }

  /// True if none is left, or only processes that could not be ended. False before ``end(grace:at:)``.
  public var areGone: Bool { ending.isDone }
  /// Orphans known to be left: they could not be ended, or have not exited yet.
  public var left: [Left] {
    let held = Set(ending.remaining)
    return search.found.filter { $0.isAlive && (held.contains($0.pid) || search.resisting.contains($0)) }
  }
  /// Latest time for the next ``turn(at:)``; nil if only events require it.
  public var deadline: MonotonicTime? { ending.deadline }

  /// Sends SIGTERM to all, and SIGKILL after `grace`; SIGKILL at once if `grace` is zero.
  public func end(grace: TimeSpan, at now: MonotonicTime) { ending.begin(grace: grace, at: now) }

  /// Does the work that is due.
  public func turn(at now: MonotonicTime) { ending.turn(at: now) }
}
