// Owns the life of the guardian as a process of its own: from its command line to its exit code.
// Invariant: descriptor 3 is the conversation of whoever wants the bank open, and goes to the first coordinator alone;
// descriptor 4 is the home's lock, where a coordinator has started this process.
import Glibc
import Posix

/// The guardian as a process.
public enum GuardianProcess {
  /// Guards a bank until it is closed; the exit code of the process.
  public static func run(arguments: [String]) -> Int32 {
    ProcessStart.prepare(as: .service)
    CurrentProcess.setName("bank-guardian")
    // Before anything is opened, or the numbers would be others'.
    let channel = inherited(3)
    let lock = inherited(4)
    do {
      let options = try GuardianOptions(arguments)
      let program = Paths.join(Paths.directory(of: try Paths.executable()), "bankd")
      var words = options.words
      for place in words.indices.dropFirst() where words[place - 1] == "--config" {
        words[place] = try Paths.absolute(words[place])
      }
      ProcessStart.leaveDirectory()
      let order = Guardian.Order(home: options.home, program: program, words: words)
      return try guardBank(order, options.ward, channel, lock)
    } catch let mistake as GuardianOptions.Mistake {
      _ = try? StandardStreams.write("bank-guardian: \(mistake.sentence)\n", to: .error)
      return 2
    } catch {
      _ = try? StandardStreams.write("bank-guardian: \(error)\n", to: .error)
      return 1
    }
  }

  private static func guardBank(
    _ order: Guardian.Order, _ ward: GuardianOptions.GuardedCoordinator?,
    _ channel: consuming FileDescriptor?, _ lock: consuming FileDescriptor?
  ) throws(SystemError) -> Int32 {
    let guardian = try Guardian(order, lock: lock, of: ward)
    // Whatever a dead coordinator leaves falls to this process, so the next one can tell it by its parent.
    try Subreaper.become()
    let signals = [try guardian.listenToSignals(), try guardian.collectOthers()]
    defer { withExtendedLifetime(signals) {} }
    if let ward {
      // Somebody else has the home: the coordinator that started this guardian has lost it, or lies.
      guard guardian.hasHome else { return 1 }
      guardian.adopt(ward)
    } else {
      guardian.begin(channel: channel)
    }
    if guardian.hasHome { speakInto(guardian.home.standardError) }
    return try guardian.run().exitCode
  }

  private static func inherited(_ number: CInt) -> FileDescriptor? {
    guard fcntl(number, F_GETFD) != -1 else { return nil }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: number)
  }

  /// A broken invariant speaks on standard error, and nobody reads the terminal of a daemon.
  private static func speakInto(_ path: String) {
    if let file = try? FileDescriptor.open(path, [.writeOnly, .create, .append], mode: 0o600) {
      _ = dup2(file.rawValue, STDERR_FILENO)
    }
  }
}

/// `bank-guardian --home DIR [--adopt PID --phase opening|open|stopping [--opened] [--patience MS]] -- WORDS FOR BANKD…`
/// Failure: a sentence for standard error.
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
