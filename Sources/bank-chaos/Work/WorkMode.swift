// Modes in which this program serves the customers of a chaos run: it is its own command, worker and outside worker, so
// that nothing has to be installed. Users never type them, and no help lists them.
// Errors: an exit code. The process that started this one decides what the code means for the customer.
import Glibc
import Posix
import Time

/// The mode, selected by the first argument. The second argument is the mark of the run, the third the directory of the
/// witness.
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
  static let broken: Int32 = 70

  /// Serves if the arguments request it, and returns the exit code; nil for any other arguments.
  static func run(_ words: [String]) -> Int32? {
    guard words.count >= 3, let mode = WorkMode(rawValue: words[0]) else { return nil }
    let witness = WorkWitness(words[2])
    // A write to a closed pipe must return an error, not kill the process.
    Signals.ignorePipe()
    switch mode {
    case .command: return WorkCommand(mark: words[1], witness: witness).run()
    case .descendant:
      let generations = words.count > 3 ? Int(words[3]) ?? 0 : 0
      return WorkCommand(mark: words[1], witness: witness).outlive(
        generations: generations, of: Array(words.dropFirst(4)))
    case .window: return WorkProgram.serveWindow(witness)
    case .outside:
      guard words.count >= 7, let encoding = WorkEncoding(rawValue: words[3]), let parent = pid_t(words[6])
      else { return broken }
      // The parent ends this process; if the parent is killed, the kernel kills this process.
      guard ParentDeath.followParent(expectedParent: parent) else { return 0 }
      return WorkProgram.serveOutside(witness, encoding, socket: words[4], service: words[5])
    }
  }

  /// Waits for the full time, in spite of signals.
  static func pause(_ milliseconds: Int32) {
    let end = SystemClock.monotonic() + .milliseconds(Int64(milliseconds))
    while true {
      let left = end.since(SystemClock.monotonic())
      guard left > .zero else { return }
      _ = poll(nil, 0, Int32(clamping: left.milliseconds + 1))
    }
  }
}
