// Search for the processes that an attempt has left behind, over all users, by the traces of the attempt: mark, environment,
// or fallen to a known process.
// Invariant: a process is compared once more after its pidfd is held, so no signal reaches another process with its number. A
// process that was there and ended before it was held has the search repeated: its child may have taken its place.
// Failure: a process that this user may not signal is named, and never waited for.
import Glibc
import Posix
import Time

/// The traces by which processes are recognized.
public struct OrphanTraces: Sendable {
  fileprivate let environment: EnvironmentSearch?
  fileprivate let mark: ProcessMark?
  fileprivate let keeper: pid_t?

  /// The traces of one customer's attempts.
  public init(key: String) {
    environment = EnvironmentSearch(Orphans.variable, key)
    (mark, keeper) = (nil, nil)
  }

  /// The traces of all customers of one home.
  ///
  /// - Parameters:
  ///   - prefix: begin of each `BANK_KEY`. It counts only for a process without any mark: one with another mark belongs to
  ///     another home.
  ///   - mark: a mark of the home, of whatever service; nil for none.
  ///   - keeper: a process to which nothing but such processes falls; nil for none.
  public init(keysFrom prefix: String, mark: ProcessMark?, keeper: pid_t?) {
    environment = EnvironmentSearch(Orphans.variable, prefix, isPrefix: true)
    (self.mark, self.keeper) = (mark, keeper)
  }

  /// The service whose trace a process has, 0 for an unknown one; nil for a process without a trace.
  fileprivate func service(of pid: pid_t, _ kinship: ProcessTable.Kinship) -> UInt16? {
    let marks = mark == nil ? [] : ProcessMark.marks(of: pid)
    if let own = marks.first(where: { mark?.isKin(of: $0) == true }) { return own.service }
    if kinship.parent == keeper { return 0 }
    return marks.isEmpty && environment?.matches(pid) == true ? 0 : nil
  }

  /// Processes with a trace, without their descendants.
  func find() -> [pid_t] {
    let family = OwnFamily()
    return ProcessTable.all().filter { pid in
      guard let kinship = ProcessTable.kinship(of: pid), kinship.isAlive else { return false }
      return service(of: pid, kinship) != nil && !family.contains(pid)
    }.sorted()
  }
}

/// This process, all above it and all below it: none of them is ever an orphan.
private struct OwnFamily {
  private let own = CurrentProcess.pid
  private let above: Set<pid_t>

  init() { above = Set(Self.line(from: CurrentProcess.pid)) }

  func contains(_ pid: pid_t) -> Bool {
    pid <= 1 || above.contains(pid) || Self.line(from: pid).contains(own)
  }

  /// A process and all above it. It is not read in one moment, so a circle is not impossible.
  private static func line(from pid: pid_t) -> [pid_t] {
    var line = [pid]
    while let parent = ProcessTable.parent(of: line[line.count - 1]), parent > 0, !line.contains(parent) {
      line.append(parent)
    }
    return line
  }
}

/// Looks for such processes again and again, until none is left.
final class OrphanSearch {
  /// For how long after the last trace of an orphan, and for how many whole looks, a process that ended unseen may have been
  /// one.
  private static let (suspicion, looks) = (TimeSpan.milliseconds(100), 10)
  /// After such a look so many follow at the processes that were started last, as far back as this. Each takes less time than a
  /// process needs to start another and end.
  private static let (chases, reach) = (20, 32)

  private let traces: OrphanTraces
  /// Processes without a trace, by their numbers. A whole look forgets them.
  private var strangers: Set<pid_t> = []
  /// Looks at the newest processes that are still to come before the next whole one.
  private var chasesLeft = 0
  private var seenAt: MonotonicTime?
  /// Whole looks since then.
  private var looksSince = 0
  /// All that were found, with their services.
  private(set) var found: [Orphans.Left] = []

  init(_ traces: OrphanTraces) { self.traces = traces }

  /// One look. See ``ProcessEnding/Search``
  func look(for signal: CInt, room: Int, _ isHeld: (pid_t) -> Bool) throws(SystemError) -> ProcessEnding.Found
  {
    let isChase = chasesLeft > 0
    if isChase { chasesLeft -= 1 } else { strangers.removeAll() }
    let family = OwnFamily()
    var looked = ProcessEnding.Found()
    var (hasLost, hasMissed) = (false, false)
    // The newest first: an orphan that replaces itself is among them, and not for long.
    let pids = isChase ? ProcessTable.latest(Self.reach) : ProcessTable.newestFirst()
    for pid in pids where !strangers.contains(pid) && !isHeld(pid) {
      guard looked.processes.count < room else { break }
      guard let kinship = ProcessTable.kinship(of: pid) else {
        hasMissed = true
        continue
      }
      guard kinship.isAlive, !resists(pid, kinship) else { continue }
      guard let service = traces.service(of: pid, kinship), !family.contains(pid) else {
        strangers.insert(pid)
        continue
      }
      let orphan = Orphans.Left(pid: pid, startTime: kinship.startTime, service: service)
      if try !take(orphan, signal, room: room, &looked, isHeld) { hasLost = true }
    }
    settle(isChase: isChase, hasLost: hasLost, hasMissed: hasMissed, &looked)
    return looked
  }

  /// Decides whether to look again at once, and at what.
  private func settle(isChase: Bool, hasLost: Bool, hasMissed: Bool, _ looked: inout ProcessEnding.Found) {
    let now = SystemClock.monotonic()
    if hasLost || !looked.processes.isEmpty || seenAt == nil { (seenAt, looksSince) = (now, 0) }
    var isChanging = hasLost
    if !isChase {
      looksSince += 1
      let isRecent = looksSince <= Self.looks || seenAt.map { now.since($0) < Self.suspicion } == true
      if hasMissed && isRecent { isChanging = true }
    }
    if isChanging { chasesLeft = Self.chases }
    // The last look is a whole one.
    looked.isChanging = isChanging || isChase
  }

  /// Holds an orphan and what descends from it, and sends each the signal. Descendants come first: with the death of their
  /// parent they lose the only trace that they may have left.
  ///
  /// - Returns: false if the orphan has ended before it was held.
  private func take(
    _ orphan: Orphans.Left, _ signal: CInt, room: Int, _ looked: inout ProcessEnding.Found,
    _ isHeld: (pid_t) -> Bool
  ) throws(SystemError) -> Bool {
    let process: OtherProcess?
    do throws(SystemError) { process = try OtherProcess(pid: orphan.pid) } catch {
      // The number of a thread: its process has another one, and is found by that.
      if error.code == EINVAL || error.code == ENOENT {
        strangers.insert(orphan.pid)
        return true
      }
      // Those that could be held are, and the others are found when these have ended.
      guard looked.processes.isEmpty else { return true }
      throw error
    }
    // Only now is the number held, so only now is it certain whose it is.
    guard let process, orphan.isAlive else { return false }
    for pid in ProcessTable.descendants(directlyBelow: orphan.pid) {
      guard looked.processes.count + 1 < room else { break }
      guard pid != CurrentProcess.pid, !isHeld(pid), !looked.processes.contains(where: { $0.pid == pid }),
        let kinship = ProcessTable.kinship(of: pid), kinship.isAlive, kinship.parent == orphan.pid,
        !resists(pid, kinship)
      else { continue }
      strangers.remove(pid)
      let child = Orphans.Left(pid: pid, startTime: kinship.startTime, service: orphan.service)
      _ = try take(child, signal, room: room - 1, &looked, isHeld)
    }
    if !found.contains(orphan) { found.append(orphan) }
    guard process.kill(signal) || !orphan.isAlive else {
      resisting.insert(orphan)
      return true
    }
    looked.processes.append(Orphan(process))
    return true
  }

  /// Orphans that this process may not signal.
  private(set) var resisting: Set<Orphans.Left> = []

  private func resists(_ pid: pid_t, _ kinship: ProcessTable.Kinship) -> Bool {
    resisting.contains { $0.pid == pid && $0.startTime == kinship.startTime }
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
