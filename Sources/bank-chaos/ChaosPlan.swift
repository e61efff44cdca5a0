// Random plan of a chaos run: kills, stops and cut connections, with their targets and times.
// Invariant: the same seed and rules give the same plan. Each kind of fault has its own generator, so that
// one more stop changes no kill.
import BankModel
import Time

/// A kind of process that a run kills or stops.
enum ChaosTarget: String, CaseIterable, Sendable {
  case teller, coordinator, guardian, stock, juice, vending
  /// Runners of commands, the commands, and their descendants.
  case runner, command, descendant
  /// Long-running programs: workers at windows, and outside workers.
  case worker, outside
  case web

  /// The kinds of processes of the demo branch.
  static let branch: [ChaosTarget] = [.teller, .coordinator, .guardian, .stock, .juice, .vending]

  /// True if the first argument of the process is its window.
  var isAtWindow: Bool { self == .teller || self == .juice || self == .runner }

  /// True if a bank may have no such process: without customers for commands or workers, or without a web page.
  var mayBeMissing: Bool { !Self.branch.contains(self) }

  /// True if a run measures when the page is right again after a kill of this process.
  var isOnThePage: Bool { [.teller, .coordinator, .stock, .vending, .web].contains(self) }

  fileprivate var weight: Int64 {
    switch self {
    case .teller: 4
    case .runner, .command: 3
    case .coordinator, .stock, .juice, .vending, .descendant, .worker, .outside, .web: 2
    case .guardian: 1
    }
  }
}

/// The faults of a run, as the command line selects them.
struct ChaosRules: Sendable, Equatable {
  /// Kinds of processes that may be killed; not empty.
  var targets = ChaosTarget.branch
  /// The mean pause between two kills.
  var every: TimeSpan = .milliseconds(100)
  /// True if processes are also stopped for a while.
  var stops = false
  /// True if connections of clients are also cut.
  var cuts = false
}

struct ChaosPlan: Sendable {
  /// A planned SIGKILL: the pause before it, the kind of process, and the number that selects one of this kind.
  struct Kill: Sendable, Equatable {
    var after: TimeSpan
    var target: ChaosTarget
    var pick: UInt64
    /// True if the coordinator is killed just before the target, a runner or a worker at a window.
    var isPair = false
  }

  /// A planned SIGSTOP to a process, with the SIGCONT after `length`.
  struct Stop: Sendable, Equatable {
    var after: TimeSpan
    var target: ChaosTarget
    var pick: UInt64
    var length: TimeSpan
  }

  /// A planned end of a client's connection: in the middle of a frame, or after a whole one without waiting for the
  /// answer.
  struct Cut: Sendable, Equatable {
    var after: TimeSpan
    var pick: UInt64
    var isWhole: Bool
  }

  /// Duration of a stop, in milliseconds.
  static let stopLength: ClosedRange<Int64> = 5...250
  let rules: ChaosRules
  private var kills: SeededGenerator
  private var stops: SeededGenerator
  private var cuts: SeededGenerator

  init(seed: UInt64, rules: ChaosRules) {
    precondition(!rules.targets.isEmpty, "there is a target to kill")
    self.rules = rules
    var chance = SeededGenerator(seed: seed)
    kills = SeededGenerator(seed: chance.next())
    stops = SeededGenerator(seed: chance.next())
    cuts = SeededGenerator(seed: chance.next())
  }

  mutating func nextKill() -> Kill {
    let after = Self.pause(rules.every, &kills)
    var place = kills.draw(1...rules.targets.reduce(0) { $0 + $1.weight })
    var chosen = rules.targets[0]
    for target in rules.targets where place > 0 {
      chosen = target
      place -= target.weight
    }
    let pick = kills.next()
    let isWorking = chosen == .runner || chosen == .worker
    return Kill(
      after: after, target: chosen, pick: pick,
      isPair: isWorking && pick >> 60 < 4 && rules.targets.contains(.coordinator))
  }

  /// Draws the next stop. Its target may be of a kind that the rules do not name.
  mutating func nextStop() -> Stop {
    let after = Self.pause(rules.every * 2, &stops)
    let target: ChaosTarget =
      switch stops.draw(1...13) {
      case 1, 2: .coordinator
      case 3: .stock
      case 4: .juice
      case 5: .runner
      case 6: .command
      case 7: .descendant
      case 8: .worker
      case 9: .outside
      default: .teller
      }
    return Stop(
      after: after, target: target, pick: stops.next(), length: .milliseconds(stops.draw(Self.stopLength)))
  }

  mutating func nextCut() -> Cut {
    let after = Self.pause(rules.every * 2, &cuts)
    return Cut(after: after, pick: cuts.next(), isWhole: cuts.next() >> 63 == 0)
  }

  /// Draws the pause before the next fault, from zero to twice the mean, so that some follow each other closely.
  private static func pause(_ mean: TimeSpan, _ chance: inout SeededGenerator) -> TimeSpan {
    mean * chance.draw(0...2_000) / 1_000
  }
}
