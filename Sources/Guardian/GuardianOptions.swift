// Owns the words on the guardian's command line. People never type them: bankctl does, and a coordinator that has lost
// its guardian. It knows nothing of what follows from them, and of the coordinator's words only where they begin.
// Failure: a sentence for standard error.

/// `bank-guardian --home DIR [--adopt PID --phase opening|open|stopping [--opened]] -- WORDS FOR BANKD…`
public struct GuardianOptions: Sendable, Equatable {
  /// What is wrong with a command line.
  public struct Mistake: Error, Equatable {
    /// In English.
    public let sentence: String
  }

  /// A coordinator that runs already.
  public struct Ward: Sendable, Equatable {
    /// Its process.
    public var pid: Int32
    /// How far its bank has come.
    public var phase: GuardianPolicy.Phase
    /// Whether its bank was open before.
    public var hasOpened: Bool
  }

  /// The home, absolute.
  public var home = ""
  /// The coordinator to be taken over; nil to start one.
  public var ward: Ward?
  /// The words for every coordinator.
  public var words: [String] = []

  /// Reads the words behind the program's name.
  public init(_ arguments: [String]) throws(Mistake) {
    var words = arguments[...]
    var pid: Int32?
    var phase = GuardianPolicy.Phase.opening
    var hasOpened = false
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
      default: throw Mistake(sentence: "there is no option \(word); a bank is started with bankctl")
      }
    }
    self.words = Array(words)
    ward = pid.map { Ward(pid: $0, phase: phase, hasOpened: hasOpened) }
    guard home.hasPrefix("/") else {
      throw Mistake(sentence: "--home wants an absolute path; a bank is started with bankctl")
    }
  }
}
