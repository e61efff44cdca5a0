// Owns the ways in which this program serves the customers of a chaos run: it is its own command, worker and outside worker,
// so that nothing has to be installed. They are not for people, and no help names them.
// Failure: an exit code; whoever started it says what becomes of the customer.
import Glibc
import Posix
import Time

/// What the program is started for, by its first word. The second is the mark of the run, the third the directory of the
/// witness.
enum WorkMode: String, Sendable, CaseIterable {
  /// One customer of the service of commands.
  case command = "--serve-customer"
  /// What a command leaves behind.
  case descendant = "--outlive-customer"
  /// A window, on descriptor 3.
  case window = "--serve-window"
  /// The socket on which workers come by themselves.
  case outside = "--serve-outside"

  /// EX_SOFTWARE
  static let broken: Int32 = 70

  /// Serves, where the words ask for that, and returns the exit code; nil for any other words.
  static func run(_ words: [String]) -> Int32? {
    guard words.count >= 3, let mode = WorkMode(rawValue: words[0]) else { return nil }
    let witness = WorkWitness(words[2])
    // A pipe that nobody reads any more is an answer, and not an end.
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
      // Whoever has started it ends it; where that one is killed the kernel does.
      guard ParentDeath.followParent(expectedParent: parent) else { return 0 }
      return WorkProgram.serveOutside(witness, encoding, socket: words[4], service: words[5])
    }
  }

  /// Waits, whatever happens meanwhile.
  static func pause(_ milliseconds: Int32) {
    let end = SystemClock.monotonic() + .milliseconds(Int64(milliseconds))
    while true {
      let left = end.since(SystemClock.monotonic())
      guard left > .zero else { return }
      _ = poll(nil, 0, Int32(clamping: left.milliseconds + 1))
    }
  }
}
