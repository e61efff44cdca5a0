// Process relations in the simulated kernel: parents and heirs, process groups, pipes between parents and
// children, and the signal that reports a child's exit.
// Invariant: results are modelled on those of Linux.
import Glibc
import Posix
import Time

/// Signals that are read from a descriptor. `signalfd(2)`
final class SignalQueue {
  let signals: Set<CInt>
  /// Pending signals, each with the time from which it is pending.
  private(set) var pending: [(due: MonotonicTime, signal: CInt)] = []

  init(_ signals: [CInt]) { self.signals = Set(signals) }

  /// Adds a signal. Several pending instances of a signal are read as one, as on Linux.
  func take(_ signal: CInt, at moment: MonotonicTime) {
    guard signals.contains(signal), !pending.contains(where: { $0.signal == signal && $0.due >= moment })
    else { return }
    pending.append((moment, signal))
  }

  /// Removes and returns the first pending signal; nil if there is none.
  func read(at moment: MonotonicTime) -> CInt? {
    guard let place = pending.firstIndex(where: { $0.due <= moment }) else { return nil }
    let signal = pending[place].signal
    pending.removeAll { $0.due <= moment && $0.signal == signal }
    return signal
  }

  func isReady(at moment: MonotonicTime) -> Bool { pending.contains { $0.due <= moment } }
  /// Time from which the next signal is pending; nil if there is none.
  func nextDue(after moment: MonotonicTime) -> MonotonicTime? {
    pending.map(\.due).filter { $0 > moment }.min()
  }
}

extension SimulatedProcess {
  // MARK: - Pipes and signals

  func makePipe() -> (CInt, CInt)? { makeEnds(isPipe: true) }

  /// Makes a descriptor from which these signals are read. `signalfd(2)`
  func makeSignalDescriptor(_ signals: [CInt]) -> CInt { give(.signals(SignalQueue(signals))) }

  /// Reads the next signal from a descriptor; nil if none is pending.
  func readSignal(_ descriptor: CInt) -> CInt? {
    guard survives(), case .signals(let queue)? = descriptors[descriptor] else { return nil }
    return queue.read(at: clock)
  }

  /// Sends SIGCHLD to this process, because it has inherited an exited child. `SimulatedHost` sends the signal to the
  /// parent of an exiting process.
  func notifyChildExit(at moment: MonotonicTime) {
    for case .signals(let queue) in descriptors.values { queue.take(SIGCHLD, at: moment) }
    host.wake(self, at: moment + host.delay())
  }

  // MARK: - Parents, children and groups

  /// Makes this process inherit the children of its exited descendants. `prctl(2)`
  func becomeSubreaper() { isSubreaper = true }

  var children: [pid_t] {
    guard isAlive else { return [] }
    return host.processes.values.filter { $0.parent == pid }.map(\.pid).sorted()
  }

  /// True if this process has started the other one, and is still its parent.
  func hasStarted(_ pid: pid_t) -> Bool {
    host.processes[pid].map { $0.parent == self.pid && $0.starter == self.pid } ?? false
  }

  func group(of pid: pid_t) -> pid_t? { host.processes[pid]?.group }
  var processes: [pid_t] { host.processes.keys.sorted() }
  func parent(of pid: pid_t) -> pid_t? { host.processes[pid].map { $0.parent ?? 1 } }

  /// Sends a signal to all processes of a group. `killpg(3)`
  func signal(group: pid_t, _ signal: CInt) -> CInt {
    let members = host.processes.values.filter { $0.group == group }.sorted { $0.pid < $1.pid }
    for member in members { _ = self.signal(member.pid, signal) }
    return members.isEmpty ? fail(ESRCH) : 0
  }

  /// Starts a copy of this process that runs another program. The copy is a child of this process, or later of its
  /// heir, and continues when its parent exits. `fork(2)`
  @discardableResult
  func startCopy(
    leavesGroup: Bool, keeping files: [OpenFile?],
    _ make: @escaping (SimulatedProcess) -> (any SimulatedProgram)?
  ) -> SimulatedProcess? {
    guard isAlive, survives() else { return nil }
    for case .stream(let end)? in files { end.references += 1 }
    let child = host.start(by: self, files: files, at: clock, make)
    (child.executable, child.environment) = (executable, environment)
    (child.isForked, child.isKillableBeforeStart) = (true, isKillableBeforeStart)
    child.group = leavesGroup ? child.pid : group
    return child
  }

  /// The environment of a process, in the format of `/proc/PID/environ`; nil for any other path, or if the process has
  /// exited.
  func environ(_ path: String) -> OpenedFile? {
    guard path.hasPrefix("/proc/"), path.hasSuffix("/environ"),
      let pid = pid_t(path.dropFirst(6).dropLast(8)), let process = host.processes[pid], process.isAlive
    else { return nil }
    let file = SimulatedFile(inode: 1, isDirectory: false, mode: 0o400)
    for (name, value) in process.environment.sorted(by: { $0.key < $1.key }) {
      file.bytes += Array("\(name)=\(value)".utf8) + [0]
    }
    return OpenedFile(file, flags: O_RDONLY)
  }

  /// True if the path is the directory of an existing process. `proc(5)`
  func isProcess(_ path: String) -> Bool {
    path.hasPrefix("/proc/") && pid_t(path.dropFirst(6)).map { host.processes[$0] != nil } ?? false
  }
}
