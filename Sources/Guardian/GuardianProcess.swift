// Guardian as a process of its own: from its command line to its exit code.
// Invariant: descriptor 3, if it is open, is the connection of the client that wants the bank open, and is passed to
// the first coordinator. Descriptor 4, if it is open, is the home's lock, which the coordinator that started this
// process holds.
import Glibc
import Posix

/// The guardian as a process of its own.
public enum GuardianProcess {
  /// Guards a bank until it is closed, cannot be opened, or is given up. Returns the exit code of the process.
  public static func run(arguments: [String]) -> Int32 {
    ProcessStart.prepare(as: .service)
    CurrentProcess.setName("bank-guardian")
    // Before any file is opened, because its descriptor could have one of these numbers.
    let channel = inherited(3)
    let lock = inherited(4)
    do {
      let options = try GuardianOptions(arguments)
      let program = Paths.join(Paths.directory(of: try Paths.executable()), "bankd")
      var words = options.words
      for index in words.indices.dropFirst() where words[index - 1] == "--config" {
        words[index] = try Paths.absolute(words[index])
      }
      ProcessStart.leaveStartDirectory()
      let order = Guardian.Order(home: options.home, program: program, words: words)
      return try guardBank(order, options.coordinator, channel, lock)
    } catch let mistake as GuardianOptions.ArgumentError {
      _ = try? StandardStreams.write("bank-guardian: \(mistake.sentence)\n", to: .error)
      return 2
    } catch {
      _ = try? StandardStreams.write("bank-guardian: \(error)\n", to: .error)
      return 1
    }
  }

  /// Guards a bank with a coordinator that is started or adopted. Returns the exit code.
  private static func guardBank(
    _ order: Guardian.Order, _ coordinator: GuardianOptions.GuardedCoordinator?,
    _ channel: consuming FileDescriptor?, _ lock: consuming FileDescriptor?
  ) throws(SystemError) -> Int32 {
    let guardian = try Guardian(order, lock: lock, of: coordinator)
    // Processes left by a dead coordinator become children of this process, so the next coordinator can
    // recognize them by their parent.
    try Subreaper.become()
    let signals = [try guardian.listenToSignals(), try guardian.reapOrphans()]
    defer { withExtendedLifetime(signals) {} }
    if let coordinator {
      // Without the home there is nothing to guard: another process may have taken the home.
      guard guardian.hasHome else { return 1 }
      guardian.adopt(coordinator)
    } else {
      guardian.begin(channel: channel)
    }
    if guardian.hasHome { redirectStandardError(guardian.home.standardError) }
    return try guardian.run().exitCode
  }

  /// The descriptor with this number, if the process that started this one has passed it.
  private static func inherited(_ number: CInt) -> FileDescriptor? {
    guard fcntl(number, F_GETFD) != -1 else { return nil }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return FileDescriptor(owning: number)
  }

  /// Redirects standard error to a file. A failed precondition writes to it, and no user reads the terminal of a
  /// daemon.
  private static func redirectStandardError(_ path: String) {
    if let file = try? FileDescriptor.open(path, [.writeOnly, .create, .append], mode: 0o600) {
      _ = dup2(file.rawValue, STDERR_FILENO)
    }
  }
}

/// Command line of a guardian: `bank-guardian --home DIR [--adopt PID --phase opening|open|stopping [--opened]
/// [--patience MS]] -- WORDS FOR BANKD…`
/// Errors: a sentence for standard error.
public struct GuardianOptions: Sendable, Equatable {
  /// Error in a command line.
  public struct ArgumentError: Error, Equatable {
    /// Message in English.
    public let sentence: String
  }

  /// A running coordinator that the new guardian adopts, as its command line describes it.
  public struct GuardedCoordinator: Sendable, Equatable {
    /// Process id.
    public var pid: Int32
    /// Phase of the coordinator's bank.
    public var phase: GuardianPolicy.Phase
    /// True if the coordinator's bank was open before.
    public var hasOpened: Bool
    /// Permitted silence in milliseconds; nil for the default, until the coordinator sends its own.
    public var patienceMilliseconds: Int64?
  }

  /// Home directory, absolute.
  public var home = ""
  /// Coordinator to adopt; nil to start one.
  public var coordinator: GuardedCoordinator?
  /// Arguments of every coordinator.
  public var words: [String] = []

  /// Parses the arguments after the program name.
  public init(_ arguments: [String]) throws(ArgumentError) {
    var words = arguments[...]
    var pid: Int32?
    var phase = GuardianPolicy.Phase.opening
    var hasOpened = false
    var patience: Int64?
    while let argument = words.popFirst(), argument != "--" {
      if argument == "--opened" {
        hasOpened = true
        continue
      }
      guard let value = words.popFirst() else { throw ArgumentError(sentence: "\(argument) has no value") }
      switch argument {
      case "--home": home = value
      case "--adopt":
        guard let number = Int32(value), number > 0 else {
          throw ArgumentError(sentence: "--adopt needs a process ID, not \(value)")
        }
        pid = number
      case "--phase":
        guard let known = GuardianPolicy.Phase(rawValue: value) else {
          throw ArgumentError(sentence: "--phase does not accept \(value)")
        }
        phase = known
      case "--patience":
        guard let count = Int64(value), (1...86_400_000).contains(count) else {
          throw ArgumentError(sentence: "--patience needs milliseconds, not \(value)")
        }
        patience = count
      default: throw ArgumentError(sentence: "there is no option \(argument); start the bank with bankctl")
      }
    }
    self.words = Array(words)
    coordinator = pid.map {
      GuardedCoordinator(pid: $0, phase: phase, hasOpened: hasOpened, patienceMilliseconds: patience)
    }
    guard home.hasPrefix("/") else {
      throw ArgumentError(sentence: "--home needs an absolute path; start the bank with bankctl")
    }
  }
}
