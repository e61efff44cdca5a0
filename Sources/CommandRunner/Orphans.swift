// The end of what is left of a command after both the process that ran it and the one above that were killed. It is known by
// the traces that every process inherits from the command; see ``OrphanTraces``.
// Invariant: neither this process nor one above or below it is ever ended, whatever traces it has.
// Failure: a process that cannot be ended is named, so that nothing starts beside it.
import Glibc
import Posix
import Time

/// Processes that attempts at customers have left behind.
public final class Orphans {
  /// The variable that every command has, and with which whatever it starts begins.
  public static let variable = "BANK_KEY"

  /// A process that is left.
  public struct Left: Sendable, Hashable {
    /// Its number.
    public var pid: pid_t
    /// When it started, in clock ticks since boot: with the number it names one process.
    public var startTime: UInt64
    /// The number of its service; 0 for an unknown one.
    public var service: UInt16

    public init(pid: pid_t, startTime: UInt64, service: UInt16) {
      (self.pid, self.startTime, self.service) = (pid, startTime, service)
    }

    /// Whether it is there and has not ended.
    public var isAlive: Bool {
      ProcessTable.kinship(of: pid).map { $0.isAlive && $0.startTime == startTime } == true
    }
  }

  private let ending: ProcessEnding
  private let search: OrphanSearch

  /// All processes with these traces, and their descendants. None is ended yet.
  ///
  /// - Parameter patience: from SIGKILL until whoever is left is given up.
  public init(_ traces: OrphanTraces, on loop: EventLoop, patience: TimeSpan = .seconds(10)) {
    let search = OrphanSearch(traces)
    self.search = search
    ending = ProcessEnding(on: loop, patience: patience) { signal, room, isHeld throws(SystemError) in
      try search.look(for: signal, room: room, isHeld)
    }
  }

  /// The processes that were started with `BANK_KEY=key`, without those that they have started without it.
  public static func find(key: String) -> [pid_t] { OrphanTraces(key: key).find() }

  /// Whether a process was started with `BANK_KEY=key`.
  public static func belongs(_ pid: pid_t, toKey key: String) -> Bool {
    EnvironmentSearch(variable, key).matches(pid)
  }

  /// Whether a process was started with a `BANK_KEY` that begins so.
  public static func belongs(_ pid: pid_t, toKeysFrom prefix: String) -> Bool {
    EnvironmentSearch(variable, prefix, isPrefix: true).matches(pid)
  }

  /// Whether none is left, or none that could be ended. False until ``end(grace:at:)``.
  public var areGone: Bool { ending.isDone }
  /// Those that are known to be left: they could not be ended, or have not ended yet.
  public var left: [Left] {
    let held = Set(ending.remaining)
    return search.found.filter { $0.isAlive && (held.contains($0.pid) || search.resisting.contains($0)) }
  }
  /// When ``turn(at:)`` is to be called, if nothing happens before.
  public var deadline: MonotonicTime? { ending.deadline }

  /// Asks them to end by SIGTERM, and after `grace` ends them by SIGKILL; at once where that is zero.
  public func end(grace: TimeSpan, at now: MonotonicTime) { ending.begin(grace: grace, at: now) }

  /// Does what is due.
  public func turn(at now: MonotonicTime) { ending.turn(at: now) }
}
