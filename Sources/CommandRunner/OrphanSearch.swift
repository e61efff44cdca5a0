// Search for processes of all users that an attempt has left behind. The search recognizes them by the traces
// of the attempt: a mark, the environment, or a known process as the new parent.
// Invariant: after its pidfd is open, a process is identified once more, so no signal reaches another process
// with the same number. If a process exits before its pidfd is open, the search is repeated, because the
// process may have started a child that also has to be ended.
// Errors: a process that this user may not signal is reported. The search does not wait for its exit.
import Glibc
import Posix
import Time

/// Traces by which the search recognizes processes that attempts have left behind: a `BANK_KEY` in the environment, a
/// mark of the home, or the parent.
public struct OrphanTraces: Sendable {
  fileprivate let environment: EnvironmentMatcher?
  /// Any mark of the home; nil if marks are not searched.
  fileprivate let mark: ProcessMark?
  /// Process whose children are orphans; nil for none.
  fileprivate let keeper: pid_t?

  /// The traces of one customer's attempts: its `BANK_KEY`.
  public init(key: String) {
    environment = EnvironmentMatcher(Orphans.variable, key)
    (mark, keeper) = (nil, nil)
  }

  /// The traces of all customers of one home directory.
  ///
  /// - Parameters:
  ///   - prefix: start of each `BANK_KEY`. With a `mark`, it counts only for a process without any mark, because a
  ///     process with another mark belongs to another home.
  ///   - mark: any mark of the home, for any service; nil for none.
  ///   - keeper: a process whose children, other than this process, were left behind by attempts of this home; nil
  ///     for none.
  public init(keysFrom prefix: String, mark: ProcessMark?, keeper: pid_t?) {
    environment = EnvironmentMatcher(Orphans.variable, prefix, isPrefix: true)
    (self.mark, self.keeper) = (mark, keeper)
  }

  /// Service number in the trace of a process, 0 if the trace contains none; nil for a process without a trace.
  fileprivate func service(of pid: pid_t, _ kinship: ProcessTable.ParentInfo) -> UInt16? {
    let marks = mark == nil ? [] : ProcessMark.marks(of: pid)
    if let own = marks.first(where: { mark?.sharesOwner(of: $0) == true }) { return own.service }
    if kinship.parent == keeper { return 0 }
    return marks.isEmpty && environment?.matches(pid) == true ? 0 : nil
  }

  /// Finds the processes with a trace, except this process, its ancestors and its descendants. Descendants of an orphan
  /// that have no trace themselves are not found.
  func find() -> [pid_t] {
    let family = OwnProcessTree()
    return ProcessTable.all().filter { pid in
      guard let kinship = ProcessTable.parentInfo(of: pid), kinship.isAlive else { return false }
      return service(of: pid, kinship) != nil && !family.contains(pid)
    }.sorted()
  }
}

/// This process, its ancestors and its descendants. None of them counts as an orphan.
private struct OwnProcessTree {
  private let own = CurrentProcess.pid
  private let ancestors: Set<pid_t>

  init() { ancestors = Set(Self.line(from: CurrentProcess.pid)) }

  /// True for this process, an ancestor, a descendant, and process 1.
  func contains(_ pid: pid_t) -> Bool {
    pid <= 1 || ancestors.contains(pid) || Self.line(from: pid).contains(own)
  }

  /// A process and its ancestors. The parents are read one after the other and may change meanwhile. So a cycle
  /// is possible; it ends the loop.
  private static func line(from pid: pid_t) -> [pid_t] {
    var line = [pid]
    while let parent = ProcessTable.parent(of: line[line.count - 1]), parent > 0, !line.contains(parent) {
      line.append(parent)
    }
    return line
  }
}

/// Search for left-behind processes. It consists of repeated scans.
final class OrphanSearch {
  /// Time after the last process with a trace, and minimum number of full scans, in which a process that exits before
  /// it is identified causes further scans.
  private static let (suspicionTime, fullScans) = (TimeSpan.milliseconds(100), 10)
  /// Number of short scans after a change, and number of the newest process ids that each of them covers.
  private static let (quickScans, quickScanSize) = (20, 32)

  private let traces: OrphanTraces
  /// Ids that need no further check, such as those of processes without a trace. A full scan clears the set.
  private var unrelatedPIDs: Set<pid_t> = []
  /// Number of short scans before the next full one.
  private var quickScansLeft = 0
  /// Time of the last scan that signalled an orphan, or lost one that exited before; initially of the first scan.
  private var seenAt: MonotonicTime?
  private var fullScansSince = 0
  /// All orphans found so far, with their services.
  private(set) var found: [Orphans.LeftoverProcess] = []

  init(_ traces: OrphanTraces) { self.traces = traces }

  /// Scans the processes once, and sends the signal to at most `room` orphans that an earlier scan has not found.
  /// Returns these orphans; see ``ProcessTerminator/Search``.
  func scan(for signal: CInt, room: Int, _ isHeld: (pid_t) -> Bool) throws(SystemError)
    -> ProcessTerminator.ScanResult
  {
    let isQuickScan = quickScansLeft > 0
    if isQuickScan { quickScansLeft -= 1 } else { unrelatedPIDs.removeAll() }
    let family = OwnProcessTree()
    var scanResult = ProcessTerminator.ScanResult()
    var (hasLost, hasMissed) = (false, false)
    // Newest first: an orphan that keeps replacing itself by a child is among the newest processes, and each
    // child runs only briefly.
    let pids = isQuickScan ? ProcessTable.latest(Self.quickScanSize) : ProcessTable.newestFirst()
    for pid in pids where !unrelatedPIDs.contains(pid) && !isHeld(pid) {
      guard scanResult.processes.count < room else { break }
      guard let kinship = ProcessTable.parentInfo(of: pid) else {
        hasMissed = true
        continue
      }
      guard kinship.isAlive, !cannotSignal(pid, kinship) else { continue }
      guard let service = traces.service(of: pid, kinship), !family.contains(pid) else {
        unrelatedPIDs.insert(pid)
        continue
      }
      let orphan = Orphans.LeftoverProcess(pid: pid, startTime: kinship.startTime, service: service)
      if try !signalTree(orphan, signal, room: room, &scanResult, isHeld) { hasLost = true }
    }
    scheduleNextScan(isQuickScan: isQuickScan, hasLost: hasLost, hasMissed: hasMissed, &scanResult)
    return scanResult
  }

  /// Decides whether another scan follows, and whether it is a short one (`isQuickScan`). `hasLost`: an orphan exited
  /// before it could be signalled. `hasMissed`: a process exited before it was identified.
  private func scheduleNextScan(
    isQuickScan: Bool, hasLost: Bool, hasMissed: Bool, _ scanResult: inout ProcessTerminator.ScanResult
  ) {
    let now = SystemClock.monotonic()
    if hasLost || !scanResult.processes.isEmpty || seenAt == nil { (seenAt, fullScansSince) = (now, 0) }
    var isChanging = hasLost
    if !isQuickScan {
      fullScansSince += 1
      let isRecent =
        fullScansSince <= Self.fullScans || seenAt.map { now.since($0) < Self.suspicionTime } == true
      if hasMissed && isRecent { isChanging = true }
    }
    if isChanging { quickScansLeft = Self.quickScans }
    // The last scan has to be a full one, so a short scan is followed by another scan.
    scanResult.isChanging = isChanging || isQuickScan
  }

  /// Opens pidfds for an orphan and its descendants, and sends the signal to each. Returns false if the orphan exited
  /// before its pidfd was open. Descendants are handled first: when their parent exits, they lose the parent by which
  /// they are found.
  private func signalTree(
    _ orphan: Orphans.LeftoverProcess, _ signal: CInt, room: Int,
    _ scanResult: inout ProcessTerminator.ScanResult,
    _ isHeld: (pid_t) -> Bool
  ) throws(SystemError) -> Bool {
    let process: ProcessHandle?
    do throws(SystemError) { process = try ProcessHandle(pid: orphan.pid) } catch {
      // The id belongs to a thread. The search finds the process of the thread by another id.
      if error.code == EINVAL || error.code == ENOENT {
        unrelatedPIDs.insert(orphan.pid)
        return true
      }
      // Keep the processes whose pidfds are open. The search finds the remaining ones after these have exited.
      guard scanResult.processes.isEmpty else { return true }
      throw error
    }
    // Only an open pidfd keeps the number from being reused, so the identity is checked after opening it.
    guard let process, orphan.isAlive else { return false }
    for pid in ProcessTable.descendants(directlyBelow: orphan.pid) {
      guard scanResult.processes.count + 1 < room else { break }
      guard pid != CurrentProcess.pid, !isHeld(pid), !scanResult.processes.contains(where: { $0.pid == pid }),
        let kinship = ProcessTable.parentInfo(of: pid), kinship.isAlive, kinship.parent == orphan.pid,
        !cannotSignal(pid, kinship)
      else { continue }
      unrelatedPIDs.remove(pid)
      let child = Orphans.LeftoverProcess(pid: pid, startTime: kinship.startTime, service: orphan.service)
      _ = try signalTree(child, signal, room: room - 1, &scanResult, isHeld)
    }
    if !found.contains(orphan) { found.append(orphan) }
    guard process.kill(signal) || !orphan.isAlive else {
      unsignalable.insert(orphan)
      return true
    }
    scanResult.processes.append(Orphan(process))
    return true
  }

  private(set) var unsignalable: Set<Orphans.LeftoverProcess> = []

  /// True if an earlier attempt to signal this process was not permitted.
  private func cannotSignal(_ pid: pid_t, _ kinship: ProcessTable.ParentInfo) -> Bool {
    unsignalable.contains { $0.pid == pid && $0.startTime == kinship.startTime }
  }

  /// An orphan with an open pidfd. It is not a child of this process, so it is not reaped here.
  private final class Orphan: TerminableProcess {
    private let process: ProcessHandle
    init(_ process: ProcessHandle) { self.process = process }
    var pid: pid_t { process.pid }
    var fd: CInt { process.fd }
    func end(by signal: CInt) { process.kill(signal) }
    /// Does nothing: only the parent of a process can reap it.
    func release() {}
  }
}
