// Owns the words on the guardian's command line. People never type them: bankctl does, and a coordinator that has lost
// its guardian. It knows nothing of what follows from them, and of the coordinator's words only where they begin.
// Failure: a sentence for standard error.

/// `bank-guardian --home DIR [--adopt PID --phase opening|open|stopping [--opened] [--patience MS]] -- WORDS FOR BANKD…`
public struct GuardianOptions: Sendable, Equatable {
  /// What is wrong with a command line.
  public struct Mistake: Error, Equatable {
    /// In English.
    public let sentence: String
  }

  /// A coordinator that runs already.
  public struct GuardedCoordinator: Sendable, Equatable {
    /// Its process.
    public var pid: Int32
    /// How far its bank has come.
    public var phase: GuardianPolicy.Phase
    /// Whether its bank was open before.
    public var hasOpened: Bool
    /// How long it may be silent, in milliseconds; nil for the usual time, until it says so itself.
    public var patienceMilliseconds: Int64?
  }

  /// The home, absolute.
  public var home = ""
  /// The coordinator to be taken over; nil to start one.
  public var ward: GuardedCoordinator?
  /// The words for every coordinator.
  public var words: [String] = []

  /// Reads the words behind the program's name.
  public init(_ arguments: [String]) throws(Mistake) {
    var words = arguments[...]
    var pid: Int32?
    var phase = GuardianPolicy.Phase.opening
    var hasOpened = false
    var patience: Int64?
    while let word = words.popFirst(), word != "--" {
      if word == "--opened" {
        hasOpened = true
        continue
      }
      guard let value = words.popFirst() else { throw Mistake(sentence: "\(word) has no value") }
      switch word {
      case "--home": home = value
      case "--adopt":
        guard let number = Int32(value), number > 0 else {
          throw Mistake(sentence: "--adopt wants a process, not \(value)")
        }
        pid = number
      case "--phase":
        guard let known = GuardianPolicy.Phase(rawValue: value) else {
          throw Mistake(sentence: "--phase has no \(value)")
        }
        phase = known
      case "--patience":
        guard let count = Int64(value), (1...86_400_000).contains(count) else {
          throw Mistake(sentence: "--patience wants milliseconds, not \(value)")
        }
        patience = count
      default: throw Mistake(sentence: "there is no option \(word); a bank is started with bankctl")
      }
    }
    self.words = Array(words)
    ward = pid.map {
      GuardedCoordinator(pid: $0, phase: phase, hasOpened: hasOpened, patienceMilliseconds: patience)
    }
    guard home.hasPrefix("/") else {
      throw Mistake(sentence: "--home wants an absolute path; a bank is started with bankctl")
    }
  }
}
