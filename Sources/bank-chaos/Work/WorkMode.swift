// Modes in which this program serves the customers of a chaos run: it is its own command, worker and outside
// worker, so that nothing has to be installed.
// Errors: an exit code. The process that started this one decides what the code means for the customer.
import Glibc
import Posix
import Time

/// Role in which this program serves customers of a chaos run: command, its descendant, worker at a window, or outside
/// worker. The first argument selects it.
///
/// The second argument is the mark of the run, the third the directory of the work log.
enum WorkMode: String, Sendable, CaseIterable {
  /// Serves one customer of the service of commands.
  case command = "--serve-customer"
  /// A descendant that outlives its command.
  case descendant = "--outlive-customer"
  /// Serves a window, on descriptor 3.
  case window = "--serve-window"
  /// Connects to the socket for outside workers.
  case outside = "--serve-outside"

  /// EX_SOFTWARE
  static let softwareErrorCode: Int32 = 70

  /// Serves customers as a command or a worker if the arguments select such a mode, and returns the exit code; nil for
  /// any other arguments.
  static func run(_ arguments: [String]) -> Int32? {
    guard arguments.count >= 3, let mode = WorkMode(rawValue: arguments[0]) else { return nil }
    let workLog = WorkLog(arguments[2])
    // A write to a closed pipe must return an error, not kill the process.
    Signals.ignorePipe()
    switch mode {
    case .command: return WorkCommand(mark: arguments[1], workLog: workLog).run()
    case .descendant:
      let generations = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
      return WorkCommand(mark: arguments[1], workLog: workLog).runDescendant(
        generations: generations, of: Array(arguments.dropFirst(4)))
    case .window: return WorkProgram.serveWindow(workLog)
    case .outside:
      guard arguments.count >= 7, let encoding = WorkEncoding(rawValue: arguments[3]),
        let parent = pid_t(arguments[6])
      else { return softwareErrorCode }
      // The parent ends this process; if the parent is killed, the kernel kills this process.
      guard ParentDeath.dieWithParent(expectedParent: parent) else { return 0 }
      return WorkProgram.serveOutside(workLog, encoding, socket: arguments[4], service: arguments[5])
    }
  }

  /// Waits for the full time, in spite of signals.
  static func pause(_ milliseconds: Int32) {
    let end = SystemClock.monotonic() + .milliseconds(Int64(milliseconds))
    while true {
      let leftoverProcesses = end.since(SystemClock.monotonic())
      guard leftoverProcesses > .zero else { return }
      _ = poll(nil, 0, Int32(clamping: leftoverProcesses.milliseconds + 1))
    }
  }
}
