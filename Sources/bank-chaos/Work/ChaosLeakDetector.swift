// Search for processes that serve customers, by the key in their environment or their arguments. Soon after a
// customer's receipt none of its processes may be left, and soon after the bank has closed none at all.
// Invariant: no process of another bank is reported. Times are measured from the moment at which this process observes
// an event, which is later than the event.
// Errors: a process that disappears during the search has exited.
import BankModel
import Glibc
import Posix
import Time

/// A process that serves a customer of this chaos run, found in /proc by the customer's key.
struct KeyedProcess: Sendable, Equatable {
  var pid: pid_t
  var key: String
  /// The customer; nil if the process does not name one.
  var ticket: ChaosTicket?

  /// Identifies a process by its arguments and its environment; nil if it has no key of this run.
  init?(pid: pid_t, commandLine: [String], environment: [String], mark: String) {
    guard commandLine.count > 2, WorkMode(rawValue: commandLine[1]) != nil, commandLine[2] == mark else {
      return nil
    }
    /// The value of a variable in the environment of the process.
    func value(_ name: String) -> String? {
      environment.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
    // A descendant of a command may have an empty environment, so its arguments contain the key.
    let isDescendant = commandLine[1] == WorkMode.descendant.rawValue && commandLine.count > 7
    guard let key = isDescendant ? commandLine[5] : value("BANK_KEY") else { return nil }
    (self.pid, self.key) = (pid, key)
    if isDescendant {
      ticket = TicketNumber(commandLine[7]).flatMap { number in
        BusinessDay(commandLine[6]).map { ChaosTicket(day: $0, number: number) }
      }
      return
    }
    ticket = value("BANK_TICKET").flatMap { TicketNumber($0) }.flatMap { number in
      value("BANK_DAY").flatMap { BusinessDay($0) }.map { ChaosTicket(day: $0, number: number) }
    }
  }
}

final class ChaosLeakDetector {
  /// A process that ran for too long after its customer's receipt.
  struct LeakedProcess: Sendable, Equatable {
    var ticket: ChaosTicket
    var pid: pid_t
  }

  private(set) var leaked: [LeakedProcess] = []
  private(set) var checkCount: Int64 = 0
  private let mark: String
  /// Time when this process learned of each customer's receipt.
  private var finishedAt: [ChaosTicket: MonotonicTime] = [:]
  private var nextAt = MonotonicTime(nanoseconds: 0)
  private static let pause = TimeSpan.milliseconds(100)
  /// Longest time that a process may outlive its customer's receipt, or its bank.
  static let timeout = TimeSpan.seconds(1)

  init(mark: String) { self.mark = mark }

  /// Records that a customer has a receipt.
  func ended(_ ticket: ChaosTicket, at now: MonotonicTime = SystemClock.monotonic()) {
    if finishedAt[ticket] == nil { finishedAt[ticket] = now }
  }

  /// Searches, at intervals, for processes that still run after the receipt of their customer.
  func runIteration(_ now: MonotonicTime) {
    guard now >= nextAt else { return }
    nextAt = now + Self.pause
    check(at: ChaosLeakDetector.findKeyedProcesses(mark), now)
  }

  /// Records the processes that have outlived the receipt of their customer for too long.
  func check(at processes: [KeyedProcess], _ now: MonotonicTime) {
    checkCount += 1
    for process in processes {
      guard let ticket = process.ticket, let end = finishedAt[ticket], now.since(end) > Self.timeout else {
        continue
      }
      let found = LeakedProcess(ticket: ticket, pid: process.pid)
      if !leaked.contains(found) { leaked.append(found) }
    }
  }

  /// Waits for a limited time after the close of the bank until no process serves a customer, and returns those
  /// that still do.
  func leftoverProcesses(since closed: MonotonicTime) -> [KeyedProcess] {
    while true {
      let leftoverProcesses = Self.findKeyedProcesses(mark)
      if leftoverProcesses.isEmpty || SystemClock.monotonic().since(closed) > Self.timeout {
        return leftoverProcesses
      }
      WorkMode.pause(5)
    }
  }

  /// All processes of this run that have a key.
  static func findKeyedProcesses(_ mark: String) -> [KeyedProcess] {
    ProcessTable.all().compactMap { pid in
      // The work of a run is done by this program, and one link is read faster than the arguments.
      guard let program = try? Paths.target(ofLink: "/proc/\(pid)/exe"),
        Paths.lastPart(of: program) == "bank-chaos"
      else { return nil }
      let commandLine = ChaosBank.strings(of: "/proc/\(pid)/cmdline")
      guard commandLine.count > 2, commandLine[2] == mark else { return nil }
      return KeyedProcess(
        pid: pid, commandLine: commandLine, environment: ChaosBank.strings(of: "/proc/\(pid)/environ"),
        mark: mark)
    }
  }
}
