// Random plan of faults for branches that share a bank, for their server and for the connections between
// them.
// Invariant: the same seed and rules give the same plan.
import BankModel
import Time

/// A kind of fault that a chaos run over several branches injects.
enum SharedFault: String, CaseIterable, Sendable {
  /// SIGKILL to a teller, to a coordinator that has a guardian, and to all processes of a branch, which is
  /// opened again later.
  case teller, coordinator, branch
  /// A session that is terminated at the server, and a process of the server that is killed, which ends all
  /// sessions.
  case session, backend
  /// The server is stopped immediately, or its postmaster is killed; then it is started again.
  case stop, server
  /// A branch is cut off for a while.
  case partition
  /// A coordinator is stopped for longer than its lease.
  case zombie

  /// True if the fault hits the server's own processes or network, which only a scratch server allows.
  var needsScratch: Bool { [.backend, .stop, .server, .partition].contains(self) }

  fileprivate var weight: Int64 {
    switch self {
    case .teller: 6
    case .coordinator: 4
    case .session: 3
    case .branch, .backend, .partition, .zombie: 2
    case .stop, .server: 1
    }
  }
}

struct SharedPlan: Sendable {
  /// One planned fault: the pause before it, its kind, its target and its duration.
  struct Step: Sendable, Equatable {
    var after: TimeSpan
    var fault: SharedFault
    /// Selects the target and the details.
    var pick: UInt64
    /// Time for which a branch is closed, cut off or stopped.
    var length: TimeSpan
  }

  /// In milliseconds. Some partitions are shorter than a lease, most are longer.
  private static let partitionLengths: ClosedRange<Int64> = 2_000...15_000
  /// Time until a killed branch is opened again, and for which a coordinator is stopped, in milliseconds.
  private static let closedLengths: ClosedRange<Int64> = 500...8_000
  private static let stopLengths: ClosedRange<Int64> = 4_500...8_000
  /// One in this number of stops of a coordinator lasts as long as the suspend of a machine, if the run is long enough.
  private static let suspendFrequency: UInt64 = 8
  /// Duration of a stop that is as long as the suspend of a machine.
  static let sleep = TimeSpan.minutes(1)

  let faults: [SharedFault]
  private let every: TimeSpan
  /// True if the run is long enough for long stops.
  private let isLong: Bool
  private var chance: SeededGenerator

  /// - Parameters:
  ///   - faults: not empty.
  ///   - lasts: time during which faults are injected.
  init(seed: UInt64, faults: [SharedFault], every: TimeSpan, lasts: TimeSpan) {
    precondition(!faults.isEmpty, "there is a fault to inject")
    (self.faults, self.every, isLong) = (faults, every, lasts >= .minutes(2))
    chance = SeededGenerator(seed: seed ^ 0x73_6861_7265_64)
  }

  mutating func next() -> Step {
    let after = every * chance.draw(0...2_000) / 1_000
    var place = chance.draw(1...faults.reduce(0) { $0 + $1.weight })
    var chosen = faults[0]
    for fault in faults where place > 0 {
      chosen = fault
      place -= fault.weight
    }
    let pick = chance.next()
    let lengths: ClosedRange<Int64> =
      switch chosen {
      case .branch: Self.closedLengths
      case .zombie:
        isLong && pick % Self.suspendFrequency == 0
          ? Self.sleep.milliseconds...Self.sleep.milliseconds : Self.stopLengths
      default: Self.partitionLengths
      }
    return Step(after: after, fault: chosen, pick: pick, length: .milliseconds(chance.draw(lengths)))
  }
}
