// Owns what is done to a bank, to whom and when, as chance decides it: kills, stops, cut connections.
// Invariant: the same seed and rules give the same plan; each kind of violence draws from a chance of its
// own, so that one more stop changes no kill.
import BankModel
import Time

enum ChaosTarget: String, CaseIterable, Sendable {
  case teller, coordinator, guardian, stock, juice, vending
  /// What serves the customers of commands, the commands, and what they leave behind.
  case runner, command, descendant
  /// Programs that stay: at windows, and such as have come by themselves.
  case worker, outside
  /// The server of the page.
  case web

  /// Who is there in any bank.
  static let branch: [ChaosTarget] = [.teller, .coordinator, .guardian, .stock, .juice, .vending]

  /// Whether it stands behind a window, with a customer at a time.
  var isAtWindow: Bool { self == .teller || self == .juice || self == .runner }

  /// Whether there may be none: where nobody has customers for commands or workers, and where nobody looks at the page.
  var mayBeMissing: Bool { !Self.branch.contains(self) }

  /// Whether a page that is right shows that there is another one by now.
  var isOnThePage: Bool { [.teller, .coordinator, .stock, .vending, .web].contains(self) }

  /// How often it is chosen, relative to the others.
  fileprivate var weight: Int64 {
    switch self {
    case .teller: 4
    case .runner, .command: 3
    case .coordinator, .stock, .juice, .vending, .descendant, .worker, .outside, .web: 2
    case .guardian: 1
    }
  }
}

struct ChaosRules: Sendable, Equatable {
  /// Whom it may kill; not empty.
  var targets = ChaosTarget.branch
  /// The mean pause between two kills.
  var every: TimeSpan = .milliseconds(100)
  var stops = false
  var cuts = false
}

struct ChaosPlan: Sendable {
  /// SIGKILL.
  struct Kill: Sendable, Equatable {
    var after: TimeSpan
    var target: ChaosTarget
    var pick: UInt64
    /// Together with a runner or a worker its coordinator is killed: nobody is there then who has started the command.
    var isPair = false
  }

  /// SIGSTOP, and SIGCONT a while later.
  struct Stop: Sendable, Equatable {
    var after: TimeSpan
    var target: ChaosTarget
    var pick: UInt64
    var length: TimeSpan
  }

  /// A client that goes away in the middle of a frame, or behind a whole one without waiting for the answer.
  struct Cut: Sendable, Equatable {
    var after: TimeSpan
    var pick: UInt64
    var isWhole: Bool
  }

  /// How long a process stands still, in milliseconds.
  static let stopLength: ClosedRange<Int64> = 5...250
  let rules: ChaosRules
  private var kills: SeededGenerator
  private var stops: SeededGenerator
  private var cuts: SeededGenerator

  init(seed: UInt64, rules: ChaosRules) {
    precondition(!rules.targets.isEmpty, "somebody is to be killed")
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

  /// Anything from nothing to twice the mean, so that kills also come close upon each other.
  private static func pause(_ mean: TimeSpan, _ chance: inout SeededGenerator) -> TimeSpan {
    mean * chance.draw(0...2_000) / 1_000
  }
}
