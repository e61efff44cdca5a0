// Ends the processes that commands and workers left behind after their coordinator and its runners have exited.
// ``OrphanTraces`` recognizes them by traces that a process normally inherits from the command.
// Invariant: this process, its ancestors and its descendants are not ended, whatever traces they have.
// Errors: a process that cannot be ended is reported.
import Glibc
import Posix
import Time

/// Processes that attempts have left behind, which are searched for and ended.
public final class Orphans {
  /// Environment variable of a command, which the processes that it starts normally inherit.
  public static let variable = "BANK_KEY"

  /// A process that an attempt has left behind.
  public struct LeftoverProcess: Sendable, Hashable {
    /// Process id.
    public var pid: pid_t
    /// Start time in clock ticks since boot. Together with the process id it identifies one process.
    public var startTime: UInt64
    /// Number of the service whose command started the process; 0 if unknown.
    public var service: UInt16

    public init(pid: pid_t, startTime: UInt64, service: UInt16) {
      (self.pid, self.startTime, self.service) = (pid, startTime, service)
    }

    /// True if the process exists and has not exited.
    public var isAlive: Bool {
      ProcessTable.parentInfo(of: pid).map { $0.isAlive && $0.startTime == startTime } == true
    }
  }

  private let terminator: ProcessTerminator
  private let search: OrphanSearch

  /// Prepares a search for all processes with these traces, and their descendants. It ends none before
  /// ``end(grace:at:)``.
  ///
  /// - Parameter killTimeout: time to wait after SIGKILL for the remaining processes to exit.
  public init(_ traces: OrphanTraces, on loop: EventLoop, killTimeout: TimeSpan = .seconds(10)) {
    let search = OrphanSearch(traces)
    self.search = search
    terminator = ProcessTerminator(on: loop, killTimeout: killTimeout) {
      signal, room, isHeld throws(SystemError) in
      try search.scan(for: signal, room: room, isHeld)
    }
  }

  /// Ids of the processes that were started with `BANK_KEY=key`. This process, its ancestors and its descendants are
  /// not included.
  public static func find(key: String) -> [pid_t] { OrphanTraces(key: key).find() }

  /// True if a process was started with `BANK_KEY=key`.
  public static func belongs(_ pid: pid_t, toKey key: String) -> Bool {
    EnvironmentMatcher(variable, key).matches(pid)
  }

  /// True if a process was started with a `BANK_KEY` that starts with this prefix.
  public static func belongs(_ pid: pid_t, toKeysFrom prefix: String) -> Bool {
    EnvironmentMatcher(variable, prefix, isPrefix: true).matches(pid)
  }

  /// True if no orphan is left, or only orphans that could not be ended. False before ``end(grace:at:)``.
  public var areGone: Bool { terminator.isDone }
  /// Orphans that are known to run: they could not be ended, or have not exited yet.
  public var left: [LeftoverProcess] {
    let held = Set(terminator.remaining)
    return search.found.filter { $0.isAlive && (held.contains($0.pid) || search.unsignalable.contains($0)) }
  }
  /// Latest time for the next ``runIteration(at:)``; nil if no call is due before the next event.
  public var deadline: MonotonicTime? { terminator.deadline }

  /// Sends SIGTERM to all orphans, and SIGKILL after `grace`; SIGKILL at once if `grace` is zero.
  public func end(grace: TimeSpan, at now: MonotonicTime) { terminator.begin(grace: grace, at: now) }

  /// Does the work that is due.
  public func runIteration(at now: MonotonicTime) { terminator.runIteration(at: now) }
}
