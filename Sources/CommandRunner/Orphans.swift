// Owns what is left of a command after both the process that ran it and the one above that were killed: nobody's
// children any more, known only by the key of their customer in the environment that they were started with.
// Invariant: a process is looked at again after it is held, so no signal reaches a stranger who got its number; neither
// this process nor one above or below it is ever ended, whatever its environment is.
// Failure: a process that clears its environment and loses its parents before anybody looks is not found.
import Glibc
import Posix
import Time

/// Processes that an attempt at a customer has left behind.
public final class Orphans {
  /// The variable that every command has, and with which whatever it starts begins.
  public static let variable = "BANK_KEY"

  private let ending: ProcessEnding

  /// The processes of this user that were started with `BANK_KEY=key`, and their descendants. Nobody is ended yet.
  ///
  /// - Parameter patience: from SIGKILL until whoever is left is given up.
  public convenience init(key: String, on loop: EventLoop, patience: TimeSpan = .seconds(10)) {
    self.init(EnvironmentSearch(Self.variable, key), loop, patience)
  }

  /// The processes of this user that were started with a `BANK_KEY` that begins so, and their descendants: those of all
  /// customers of one bank's books. Nobody is ended yet.
  public convenience init(keysFrom prefix: String, on loop: EventLoop, patience: TimeSpan = .seconds(10)) {
    self.init(EnvironmentSearch(Self.variable, prefix, isPrefix: true), loop, patience)
  }

  private init(_ search: EnvironmentSearch, _ loop: EventLoop, _ patience: TimeSpan) {
    ending = ProcessEnding(on: loop, patience: patience) { signal, room, isHeld throws(SystemError) in
      try Self.look(for: signal, room: room, search, isHeld)
    }
  }

  /// The processes of this user that were started with `BANK_KEY=key`, without those that they have started without it.
  public static func find(key: String) -> [pid_t] {
    let search = EnvironmentSearch(variable, key)
    return Census().candidates.filter(search.matches).sorted()
  }

  /// Whether nobody is left, or nobody who could be ended. False until ``end(grace:at:)``.
  public var areGone: Bool { ending.isDone }
  /// Those that are known to be left.
  public var remaining: [pid_t] { ending.remaining }
  /// When ``turn(at:)`` is to be called, if nothing happens before.
  public var deadline: MonotonicTime? { ending.deadline }

  /// Asks them to end by SIGTERM, and after `grace` ends them by SIGKILL; at once where that is zero.
  public func end(grace: TimeSpan, at now: MonotonicTime) { ending.begin(grace: grace, at: now) }

  /// Does what is due.
  public func turn(at now: MonotonicTime) { ending.turn(at: now) }

  private static func look(
    for signal: CInt, room: Int, _ search: EnvironmentSearch, _ isHeld: (pid_t) -> Bool
  ) throws(SystemError) -> ProcessEnding.Found {
    let census = Census()
    var belonging = Set(census.candidates.filter { isHeld($0) || search.matches($0) })
    // Also those who have cleared their environment, as long as their parents are there to tell.
    var newest = belonging
    while !newest.isEmpty {
      newest = Set(
        census.candidates.filter { pid in
          !belonging.contains(pid) && census.parents[pid].map { newest.contains($0) } == true
        })
      belonging.formUnion(newest)
    }
    var found = ProcessEnding.Found()
    for pid in belonging where !isHeld(pid) && found.processes.count < room {
      let process: OtherProcess?
      do throws(SystemError) { process = try OtherProcess(pid: pid) } catch {
        guard found.processes.isEmpty else { break }
        throw error
      }
      // Only now is the number held, so only now is it certain whose it is.
      guard let process, ProcessTable.alive(pid),
        search.matches(pid) || ProcessTable.parent(of: pid) == census.parents[pid]
      else { continue }
      process.kill(signal)
      found.processes.append(Orphan(process))
    }
    return found
  }

  /// Who is there, and whose child.
  private struct Census {
    /// Everybody of this user but this process and those above and below it, and process 1.
    var candidates: [pid_t] = []
    var parents: [pid_t: pid_t] = [:]

    init() {
      for pid in ProcessTable.all() { parents[pid] = ProcessTable.parent(of: pid) }
      let own = CurrentProcess.pid
      let above = Set(line(from: own))
      candidates = parents.keys.filter { pid in
        guard pid > 1, !above.contains(pid), !line(from: pid).contains(own) else { return false }
        return (try? FileFacts.inspect("/proc/\(pid)"))?.owner == CurrentProcess.uid
      }
    }

    /// A process and all above it. The table was not read in one moment, so a circle is not impossible.
    private func line(from pid: pid_t) -> [pid_t] {
      var line = [pid]
      while let parent = parents[line[line.count - 1]], parent > 0, !line.contains(parent) {
        line.append(parent)
      }
      return line
    }
  }

  private final class Orphan: HeldProcess {
    private let process: OtherProcess
    init(_ process: OtherProcess) { self.process = process }
    var pid: pid_t { process.pid }
    var fd: CInt { process.fd }
    func end(by signal: CInt) { process.kill(signal) }
    func release() {}
  }
}
