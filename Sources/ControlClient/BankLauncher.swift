// Owns the start of a coordinator's process, and of its guardian's: where its program is and which words it is started with.
// Invariant: the coordinator leads a session of its own, so a key pressed in a terminal reaches only its client.
import Posix
import Time

/// What a coordinator is started with.
public struct LaunchOrder: Sendable, Equatable {
  /// What it is started for.
  public enum Purpose: Sendable, Equatable {
    case open
    case inspect
  }

  /// Opening or inspecting.
  public var purpose: Purpose
  /// The home.
  public var home: BankHome
  /// The configuration; nil for the built-in one.
  public var configuration: String?
  /// `ko` or `en`.
  public var language: String
  /// Deposit windows, where not the configuration decides.
  public var deposit: Int64?
  /// Loan windows, where not the configuration decides.
  public var loan: Int64?
  /// Juice stations, where not the configuration decides.
  public var juice: Int64?
  /// Windows of other services, where not the configuration decides: `NAME=N` each.
  public var windows: [String] = []
  /// The speed factor as it is written, where not the configuration decides.
  public var speed: String?
  /// The address of the books that several branches share, where not the configuration decides. It holds no password: what a
  /// process is started with everybody sees.
  public var store: String?
  /// Whether the bank lives only as long as the process that launches it; one that a guardian brings back does not.
  public var endsWithLauncher = false

  /// An order; everything that is not said is left to the configuration.
  public init(
    _ purpose: Purpose, home: BankHome, configuration: String? = nil, language: String = "en",
    deposit: Int64? = nil, loan: Int64? = nil, juice: Int64? = nil, speed: String? = nil
  ) {
    self.purpose = purpose
    self.home = home
    self.configuration = configuration
    self.language = language
    self.deposit = deposit
    self.loan = loan
    self.juice = juice
    self.speed = speed
  }

  /// The words for bankd.
  public var arguments: [String] {
    let shared = store.map { ["--store", $0] } ?? []
    guard purpose == .open else { return ["--inspect", "--home", home.path] + shared }
    var words = ["--home", home.path]
    if let configuration { words += ["--config", configuration] }
    words += ["--lang", language]
    if let deposit { words += ["--deposit", String(deposit)] }
    if let loan { words += ["--loan", String(loan)] }
    if let juice { words += ["--juice", String(juice)] }
    for choice in windows { words += ["--windows", choice] }
    if let speed { words += ["--speed", speed] }
    words += shared
    if endsWithLauncher { words += ["--opener", String(CurrentProcess.pid)] }
    return words
  }
}

/// Starts coordinators.
public struct BankLauncher: Sendable {
  /// The program, as a path.
  public let program: String
  /// The program that guards one, as a path; nil where none shall.
  public let guardian: String?

  /// Takes programs at known places.
  public init(program: String, guardian: String? = nil) {
    self.program = program
    self.guardian = guardian
  }

  /// Finds the program that belongs to this executable, beside it or where an installation keeps it, or throws `programMissing`.
  public static func find() throws(ControlError) -> BankLauncher {
    let own: String
    do throws(SystemError) { own = try Paths.executable() } catch { throw .system(error) }
    return try find(belongingTo: own)
  }

  /// Finds the program that belongs to another one.
  static func find(belongingTo executable: String) throws(ControlError) -> BankLauncher {
    let directory = Paths.directory(of: executable)
    let places = [
      Paths.join(directory, "bankd"), Paths.join(Paths.directory(of: directory), "libexec/bank/bankd"),
    ]
    for place in places {
      if let facts = try? FileFacts.inspect(place), facts.isFile {
        let guardian = Paths.join(Paths.directory(of: place), "bank-guardian")
        return BankLauncher(program: place, guardian: guardian)
      }
    }
    throw .programMissing(places: places)
  }

  /// Starts a coordinator and greets it on descriptor 3.
  /// - Parameter guarded: By way of a guardian, where this launcher knows one: it stays, and restarts a coordinator that dies.
  ///   Until the bank is open it ends as the coordinator does.
  /// - Parameter standardError: Where it writes what it cannot log.
  /// - Parameter patience: Opening a large database takes its time before the first word.
  /// - Throws: `coordinatorEnded` where it ended instead of answering, and everything that greeting can
  /// bring.
  public func launch(
    _ order: LaunchOrder, guarded: Bool = false, standardError: ChildProcess.Output = .null,
    patience: ControlConnection.Patience = .init(hello: .seconds(60))
  ) throws(ControlError) -> LaunchedBank {
    let process: ChildProcess
    let ours: FileDescriptor
    let isGuarded = guarded && guardian != nil
    let executable = isGuarded ? guardian ?? program : program
    let words = isGuarded ? ["--home", order.home.path, "--"] + order.arguments : order.arguments
    do throws(SystemError) {
      let pair = try UnixSocket.pair()
      process = try ChildProcess.spawn(
        executable: executable, arguments: words, environment: Environment.all(), channel: pair.second,
        standardOutput: .null, standardError: standardError, newSession: true)
      ours = pair.first
    } catch {
      guard isGuarded, error.isMissing else { throw .system(error) }
      throw .programMissing(places: [executable])
    }
    do throws(ControlError) {
      return LaunchedBank(try ControlConnection.greet(ours, patience: patience), process)
    } catch { throw LaunchedBank.explain(error, of: process) }
  }
}

/// A coordinator that was started here.
/// Invariant: the process is this client's child, so how it ended can always be found out, and a conversation that
/// breaks off is explained by it.
public final class LaunchedBank {
  /// The conversation on its descriptor 3.
  public let connection: ControlConnection
  /// The process: the coordinator's, or its guardian's.
  public let process: ChildProcess

  /// How long a process that has closed its descriptor may take to end.
  private static let farewell = TimeSpan.seconds(10)

  init(_ connection: ControlConnection, _ process: ChildProcess) {
    self.connection = connection
    self.process = process
  }

  /// The better explanation of an error: where the connection is lost because the process ended, how it ended.
  public func explain(_ error: ControlError) -> ControlError { Self.explain(error, of: process) }

  /// Waits until the process has ended: how it ended; nil where it had not by the deadline.
  public func awaitExit(until deadline: MonotonicTime?) -> ExitStatus? {
    Self.awaitExit(of: process, until: deadline)
  }

  static func explain(_ error: ControlError, of process: ChildProcess) -> ControlError {
    guard error == .lost else { return error }
    guard let status = awaitExit(of: process, until: SystemClock.monotonic() + farewell) else { return error }
    return .coordinatorEnded(status.asCoordinator)
  }

  private static func awaitExit(of process: ChildProcess, until deadline: MonotonicTime?) -> ExitStatus? {
    if let status = process.reap() { return status }
    // A wait that the kernel refuses is as good as one that was in vain.
    guard (try? Waiting.becomesReady(process.fd, until: deadline)) == true else { return nil }
    return process.reap()
  }
}

extension ExitStatus {
  /// How the coordinator ended, where its guardian has passed that on: 128 and the number of a signal, as a shell does.
  fileprivate var asCoordinator: ExitStatus {
    guard case .code(let code) = ending, code > 128, code < 128 + 65 else { return self }
    return ExitStatus(ending: .signal(code - 128, coreDumped: false), maxResidentBytes: maxResidentBytes)
  }
}
