// Start of a coordinator or of its guardian: location of the program, and its arguments.
// Invariant: the started process leads its own session, so Ctrl-C in a terminal does not affect it.
import Posix
import Time

/// Settings with which a coordinator is started, passed to `bankd` as its command-line arguments.
public struct LaunchSettings: Sendable, Equatable {
  /// Purpose for which a coordinator is started: to open the bank and serve customers, or only to read a closed bank.
  public enum Purpose: Sendable, Equatable {
    /// Open the bank, so that it serves customers.
    case open
    /// Read a closed bank without serving customers.
    case inspect
  }

  /// Purpose: to open the bank, or to inspect a closed one.
  public var purpose: Purpose
  /// Home directory of the bank.
  public var home: BankHome
  /// Path of the configuration file; nil for the built-in configuration.
  public var configuration: String?
  /// Language of messages: `ko` or `en`.
  public var language: String
  /// Number of deposit windows; nil for that of the configuration.
  public var deposit: Int64?
  /// Number of loan windows; nil for that of the configuration.
  public var loan: Int64?
  /// Number of juice stations; nil for that of the configuration.
  public var juice: Int64?
  /// Numbers of windows of services as `NAME=N`, which replace those of the configuration.
  public var windows: [String] = []
  /// Speed factor as text; nil for that of the configuration.
  public var speed: String?
  /// Address of the database that several branches share; nil for that of the configuration. It must not contain a
  /// password, because other users can see the arguments of a process.
  public var store: String?
  /// True if the coordinator exits when the launching process exits.
  public var endsWithLauncher = false

  /// Creates settings.
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

  /// Arguments of bankd.
  public var arguments: [String] {
    let shared = store.map { ["--store", $0] } ?? []
    guard purpose == .open else { return ["--inspect", "--home", home.path] + shared }
    var arguments = ["--home", home.path]
    if let configuration { arguments += ["--config", configuration] }
    arguments += ["--lang", language]
    if let deposit { arguments += ["--deposit", String(deposit)] }
    if let loan { arguments += ["--loan", String(loan)] }
    if let juice { arguments += ["--juice", String(juice)] }
    for choice in windows { arguments += ["--windows", choice] }
    if let speed { arguments += ["--speed", speed] }
    arguments += shared
    if endsWithLauncher { arguments += ["--opener", String(CurrentProcess.pid)] }
    return arguments
  }
}

/// Starter of coordinators and their guardians.
public struct BankLauncher: Sendable {
  /// Path of bankd.
  public let program: String
  /// Path of bank-guardian; nil for no guardian.
  public let guardian: String?

  /// A launcher with these programs, which it does not check.
  public init(program: String, guardian: String? = nil) {
    self.program = program
    self.guardian = guardian
  }

  /// Finds the bankd that belongs to this executable: in the same directory, or in `../libexec/bank`. Throws
  /// `programMissing`, or `system` if the path of this executable is unknown.
  public static func find() throws(ControlError) -> BankLauncher {
    let own: String
    do throws(SystemError) { own = try Paths.executable() } catch { throw .system(error) }
    return try find(belongingTo: own)
  }

  /// Finds the bankd that belongs to an executable; see ``find()``. Does not check that the guardian exists.
  static func find(belongingTo executable: String) throws(ControlError) -> BankLauncher {
    let directory = Paths.directory(of: executable)
    let places = [
      Paths.join(directory, "bankd"), Paths.join(Paths.directory(of: directory), "libexec/bank/bankd"),
    ]
    for place in places {
      if let facts = try? FileMetadata.inspect(place), facts.isFile {
        let guardian = Paths.join(Paths.directory(of: place), "bank-guardian")
        return BankLauncher(program: place, guardian: guardian)
      }
    }
    throw .programMissing(places: places)
  }

  /// Starts a coordinator, under a guardian if `guarded` is true, and exchanges hello and welcome with it on descriptor
  /// 3. Returns the process with the connection to it.
  /// - Parameter guarded: starts the coordinator under a guardian, if this launcher has one.
  /// - Parameter standardError: standard error of the started process.
  /// - Parameter timeouts: long for the welcome, because opening a large database delays it.
  /// - Throws: `coordinatorEnded` if the coordinator exited before its welcome, `programMissing` if there is no
  ///   guardian at its path, `system` if the process could not be started, and the errors of
  ///   ``ControlConnection/greet(_:timeouts:build:)``.
  public func launch(
    _ order: LaunchSettings, guarded: Bool = false, standardError: ChildProcess.Output = .null,
    timeouts: ControlConnection.Timeouts = .init(hello: .seconds(60))
  ) throws(ControlError) -> LaunchedBank {
    let process: ChildProcess
    let ours: FileDescriptor
    let isGuarded = guarded && guardian != nil
    let executable = isGuarded ? guardian ?? program : program
    let arguments = isGuarded ? ["--home", order.home.path, "--"] + order.arguments : order.arguments
    do throws(SystemError) {
      let pair = try UnixSocket.pair()
      process = try ChildProcess.spawn(
        executable: executable, arguments: arguments, environment: Environment.all(), channel: pair.second,
        standardOutput: .null, standardError: standardError, newSession: true)
      ours = pair.first
    } catch {
      guard isGuarded, error.isMissing else { throw .system(error) }
      throw .programMissing(places: [executable])
    }
    do throws(ControlError) {
      return LaunchedBank(try ControlConnection.greet(ours, timeouts: timeouts), process)
    } catch { throw LaunchedBank.explain(error, of: process) }
  }
}

/// A coordinator that this process has started, with the connection to it. The coordinator or its guardian is a child
/// of this process, so that its exit status can explain a lost connection.
public final class LaunchedBank {
  /// Connection on the process's descriptor 3.
  public let connection: ControlConnection
  /// Process of the coordinator, or of its guardian.
  public let process: ChildProcess

  /// Time limit for the exit of a process that has closed its end of the connection.
  private static let exitTimeout = TimeSpan.seconds(10)

  init(_ connection: ControlConnection, _ process: ChildProcess) {
    self.connection = connection
    self.process = process
  }

  /// For `lost`, waits for a limited time for the exit of the process, and returns `coordinatorEnded` with its
  /// status. Returns other errors unchanged, and `lost` if no exit was seen.
  public func explain(_ error: ControlError) -> ControlError { Self.explain(error, of: process) }

  /// Waits for the exit of the process. Returns its status, or nil at the deadline or if waiting fails.
  public func awaitExit(until deadline: MonotonicTime?) -> ExitStatus? {
    Self.awaitExit(of: process, until: deadline)
  }

  static func explain(_ error: ControlError, of process: ChildProcess) -> ControlError {
    guard error == .lost else { return error }
    guard let status = awaitExit(of: process, until: SystemClock.monotonic() + exitTimeout) else {
      return error
    }
    return .coordinatorEnded(status.asCoordinator)
  }

  /// Waits until the process has exited, and reaps it; nil at the deadline or if waiting fails.
  private static func awaitExit(of process: ChildProcess, until deadline: MonotonicTime?) -> ExitStatus? {
    if let status = process.reap() { return status }
    // An error of the wait counts as a timeout.
    guard (try? DescriptorPoll.waitUntilReady(process.fd, until: deadline)) == true else { return nil }
    return process.reap()
  }
}

extension ExitStatus {
  /// Exit status of the coordinator. If a signal has ended the coordinator, its guardian exits with 128 plus
  /// the number of the signal, as shells do.
  fileprivate var asCoordinator: ExitStatus {
    guard case .code(let code) = ending, code > 128, code < 128 + 65 else { return self }
    return ExitStatus(ending: .signal(code - 128, coreDumped: false), maxResidentBytes: maxResidentBytes)
  }
}
