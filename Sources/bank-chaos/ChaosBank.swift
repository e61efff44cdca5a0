// Processes of the bank under chaos: their start, the list of running ones, and the signals sent to them.
// Invariant: only processes with this run's mark in their environment or their arguments are signalled, each
// through its pidfd. The run continues the processes that it has stopped.
// Errors: CommandError at the start; later an exited process is a normal result.
import BankctlCommands
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// A running process of the bank.
struct ChaosProcess: Sendable, Hashable {
  var pid: pid_t
  /// Start time of the process. With the pid it identifies one process permanently.
  var startTime: UInt64
  var parent: pid_t
  var kind: ChaosTarget
  /// The window of a teller, a juice station or a runner.
  var window: String?
  /// True if this very process still runs.
  var isAlive: Bool { ProcessTable.alive(pid) && ProcessTable.startTime(pid) == startTime }
}

final class ChaosBank {
  /// Environment variable that marks the processes of the bank.
  static let variable = "BANK_CHAOS_RUN"
  let home: BankHome
  private let mark: String
  private var launched: LaunchedBank?
  /// Processes that run no program of the bank. They are checked again after a second, because pids are
  /// reused.
  private var unrelatedPIDs: Set<pid_t> = []
  private var unrelatedPIDsSince = SystemClock.monotonic()
  /// Stopped processes, with the time when each is continued.
  private var stopped: [(process: ProcessHandle, kind: ChaosTarget, until: MonotonicTime)] = []

  init(_ home: BankHome, mark: String) {
    (self.home, self.mark) = (home, mark)
    // The bank inherits the variable.
    setenv(Self.variable, mark, 1)
  }

  /// Starts the bank with a guardian, and waits until it is open.
  func open(_ session: Session, _ order: LaunchSettings) throws(CommandError) {
    let answer: ControlAnswer
    do throws(ControlError) {
      let bank = try BankLauncher.find().launch(order, guarded: true)
      launched = bank
      do throws(ControlError) {
        answer = try bank.connection.call(.awaitOpen, within: nil)
      } catch {
        throw bank.explain(error)
      }
    } catch {
      throw .control(error)
    }
    if case .failure(let failure) = answer { throw .failure(failure) }
  }

  /// The running processes of this bank. A process of the same kind as its parent is left out, for example one
  /// between fork and exec.
  func census() -> [ChaosProcess] {
    // A guardian that this process has started and that has exited must not stay a zombie.
    _ = launched?.process.reap()
    if SystemClock.monotonic().since(unrelatedPIDsSince) > .seconds(1) {
      unrelatedPIDsSince = SystemClock.monotonic()
      unrelatedPIDs.removeAll(keepingCapacity: true)
    }
    let names = (try? Directory.entries(of: "/proc")) ?? []
    let found = names.compactMap { pid_t($0) }.filter { !unrelatedPIDs.contains($0) }.compactMap(identify)
    let kinds = Dictionary(found.map { ($0.pid, $0.kind) }) { first, _ in first }
    return found.filter { kinds[$0.parent] != $0.kind }
  }

  /// Identifies a process by its program and the mark of this run; nil for any other process.
  private func identify(_ pid: pid_t) -> ChaosProcess? {
    guard let program = try? Paths.target(ofLink: "/proc/\(pid)/exe") else { return nil }
    let kind: ChaosTarget
    switch Paths.lastPart(of: program) {
    case "bankd": kind = .coordinator
    case "bank-teller": kind = .teller
    case "bank-runner": kind = .runner
    case "bank-chaos": return identifyWork(pid)
    case "bank-guardian": kind = .guardian
    case "bank-stockd": kind = .stock
    case "bank-juice": kind = .juice
    case "bank-vending": kind = .vending
    case "bank-web": kind = .web
    default:
      unrelatedPIDs.insert(pid)
      return nil
    }
    guard let start = ProcessTable.startTime(pid), isMarked(pid), ProcessTable.alive(pid),
      let parent = ProcessTable.parent(of: pid)
    else { return nil }
    let window = kind.isAtWindow ? Self.commandLine(of: pid).dropFirst().first : nil
    return ChaosProcess(pid: pid, startTime: start, parent: parent, kind: kind, window: window)
  }

  /// Identifies this program as a command, a worker or a descendant of a command. Some of these do not inherit the
  /// run's environment, so the mark is one of their arguments.
  private func identifyWork(_ pid: pid_t) -> ChaosProcess? {
    let commandLine = Self.commandLine(of: pid)
    guard commandLine.count > 2, commandLine[2] == mark, let mode = WorkMode(rawValue: commandLine[1]) else {
      return nil
    }
    let kind: ChaosTarget =
      switch mode {
      case .command: .command
      case .descendant: .descendant
      case .window: .worker
      case .outside: .outside
      }
    guard let start = ProcessTable.startTime(pid), ProcessTable.alive(pid),
      let parent = ProcessTable.parent(of: pid)
    else { return nil }
    return ChaosProcess(pid: pid, startTime: start, parent: parent, kind: kind)
  }

  /// True if the environment of the process contains the mark of this run.
  private func isMarked(_ pid: pid_t) -> Bool {
    Self.strings(of: "/proc/\(pid)/environ").contains("\(Self.variable)=\(mark)")
  }

  /// The program of a process and its arguments; empty if the process has exited.
  private static func commandLine(of pid: pid_t) -> [String] { strings(of: "/proc/\(pid)/cmdline") }

  /// The strings of a file of /proc in which each one ends with a zero byte.
  static func strings(of path: String) -> [String] {
    guard let file = try? FileDescriptor.open(path, .readOnly), let bytes = try? file.readAll(limit: 1 << 20)
    else { return [] }
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Kills a process. Returns false if it has exited.
  func kill(_ process: ChaosProcess) -> Bool {
    guard let held = openHandle(process) else { return false }
    return held.kill(SIGKILL)
  }

  /// Stops a process until the given time. Returns false if it has exited.
  func stop(_ process: ChaosProcess, until moment: MonotonicTime) -> Bool {
    guard let held = openHandle(process), held.kill(SIGSTOP) else { return false }
    stopped.append((held, process.kind, moment))
    return true
  }

  /// Continues the stopped processes that are due, or all if `now` is nil.
  func resume(_ now: MonotonicTime?) {
    for entry in stopped where now.map({ entry.until <= $0 }) ?? true { entry.process.kill(SIGCONT) }
    stopped.removeAll { entry in now.map { entry.until <= $0 } ?? true }
  }

  func isStopped(_ kind: ChaosTarget) -> Bool { stopped.contains { $0.kind == kind } }

  /// Opens the pidfd of a process; nil if it has exited.
  private func openHandle(_ process: ChaosProcess) -> ProcessHandle? {
    // Open the pidfd first and check afterwards: if the process then still has this pid and start time, the pidfd
    // refers to it.
    guard let held = try? ProcessHandle(pid: process.pid), process.isAlive else { return nil }
    return held
  }

  /// Continues all stopped processes and kills all processes, guardians first.
  func end() {
    resume(nil)
    for _ in 0..<200 {
      let left = census()
      guard !left.isEmpty else { break }
      for kind in [ChaosTarget.guardian, .coordinator] {
        for process in left where process.kind == kind { _ = kill(process) }
      }
      for process in left where process.kind != .guardian && process.kind != .coordinator {
        _ = kill(process)
      }
      Pause.momentarily()
    }
    unsetenv(Self.variable)
  }
}
