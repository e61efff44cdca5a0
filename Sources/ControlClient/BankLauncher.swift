// Start of a coordinator's process or its guardian's: location of the program, and its arguments.
// Invariant: the coordinator leads a session of its own, so a signal key in a terminal affects only its
// client.
import Posix
import Time

/// Settings with which a coordinator is started.
public struct LaunchOrder: Sendable, Equatable {
  /// Purpose of the start.
  public enum Purpose: Sendable, Equatable {
    case open
    case inspect
  }

  /// Purpose: to open the bank, or to inspect a closed one.
  public var purpose: Purpose
  /// Home directory of the bank.
  public var home: BankHome
  /// Path of the configuration; nil for the built-in one.
  public var configuration: String?
  /// `ko` or `en`.
  public var language: String
  /// Number of deposit windows; nil for the configuration's.
  public var deposit: Int64?
  /// Number of loan windows; nil for the configuration's.
  public var loan: Int64?
  /// Number of juice stations; nil for the configuration's.
  public var juice: Int64?
  /// Windows of other services, `NAME=N` each, in place of the configuration's.
  public var windows: [String] = []
  /// Speed factor as text; nil for the configuration's.
  public var speed: String?
  /// Address of the database that several branches share; nil for the configuration's. It contains no
  /// password, because every user can see the arguments of a process.
  public var store: String?
  /// True if the bank ends with the process that launches it. A bank that a guardian restarts does not.
  public var endsWithLauncher = false

  /// Settings; everything omitted is left to the configuration.
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

/// Starter of coordinators and their guardians.
public struct BankLauncher: Sendable {
  /// Path of the program.
  public let program: String
  /// Path of the guardian's program; nil for none.
  public let guardian: String?

  /// Uses programs at known paths.
  public init(program: String, guardian: String? = nil) {
    self.program = program
    self.guardian = guardian
  }

  /// Finds the program that belongs to this executable, in the same directory or in the one of an
  /// installation. Throws `programMissing`.
  public static func find() throws(ControlError) -> BankLauncher {
    let own: String
    do throws(SystemError) { own = try Paths.executable() } catch { throw .system(error) }
    return try find(belongingTo: own)
  }

  /// Finds the program that belongs to another executable.
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
  /// - Parameter guarded: starts it under a guardian, if this launcher has one. The guardian stays, and
  ///   restarts a coordinator that crashes. Until the bank is open it exits as the coordinator does.
  /// - Parameter standardError: output for messages that cannot be logged.
  /// - Parameter patience: limits of waiting; opening a large database delays the first message.
  /// - Throws: `coordinatorEnded` if it exited instead of answering, and every error of greeting.
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
/// Invariant: the process is this client's child, so its exit status is always available, and explains a lost
/// connection.
public final class LaunchedBank {
  /// Connection on the process's descriptor 3.
  public let connection: ControlConnection
  /// Process of the coordinator, or of its guardian.
  public let process: ChildProcess

  /// Time in which a process that has closed its descriptor has to exit.
  private static let farewell = TimeSpan.seconds(10)

  init(_ connection: ControlConnection, _ process: ChildProcess) {
    self.connection = connection
    self.process = process
  }

  /// Replaces `lost` by the exit status, if the connection was lost because the process exited.
  public func explain(_ error: ControlError) -> ControlError { Self.explain(error, of: process) }

  /// Waits for the exit of the process. Returns its status, or nil at the deadline.
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
    // If the kernel refuses the wait, treat it as a timeout.
    guard (try? Waiting.becomesReady(process.fd, until: deadline)) == true else { return nil }
    return process.reap()
  }
}

extension ExitStatus {
  /// Exit status of the coordinator, if its guardian has passed it on: 128 plus the number of a signal, as
  /// shells do.
  fileprivate var asCoordinator: ExitStatus {
    guard case .code(let code) = ending, code > 128, code < 128 + 65 else { return self }
    return ExitStatus(ending: .signal(code - 128, coreDumped: false), maxResidentBytes: maxResidentBytes)
  }
}
