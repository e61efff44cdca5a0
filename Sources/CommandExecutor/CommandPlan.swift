// Construction of one command from the settings of a window and a customer: its words, its environment, its limits.
// Invariant: no text of a payload is inserted into a part of an argument or of a variable.
// Errors: an invalid payload makes the customer a dead letter. An invalid command of the service is not the customer's
// fault, and pauses the service. The service's exit table can change the effect of a refusal that has an exit code.
import BankModel
import ByteText
import CommandRunner
import Posix
import Teller
import Time
import Wire

/// Makes the commands of one window, and judges their outcomes.
struct CommandPlan {
  /// Failure of a customer whose command cannot be made.
  struct UnservableCustomer: Error, Equatable { let failure: WorkFailure }

  /// Minimum number of last bytes of each stream that are kept for the text about a failure.
  static let minimumTail = Attempt.maxFailureTextBytes

  let settings: CommandSettings
  let service: ServiceName
  let environment: CommandEnvironment
  let classifier: ExitClassifier
  /// Default working directory of commands; nil for that of this process.
  private let home: String?
  /// Nil if the customers bring the words, or if the configured words are invalid.
  private let template: CommandTemplate?
  private let limits: [ResourceLimit]
  private let timeout: TimeSpan?
  private let programPaths: ProgramPathCache

  /// A plan for the commands of one service.
  ///
  /// - Parameters:
  ///   - home: home directory of the bank; nil for the directory of this process.
  ///   - own: the variables of this process.
  ///   - programPaths: cache of program paths.
  init(
    _ settings: CommandSettings, service: ServiceName, home: String?, own: EnvironmentVariables,
    programPaths: ProgramPathCache = ProgramPathCache()
  ) {
    self.programPaths = programPaths
    self.settings = settings
    self.service = service
    self.home = home
    environment = CommandEnvironment(settings.environment, own: own)
    classifier = ExitClassifier(settings)
    timeout =
      Mutant.doesNotKillTimedOutCommand.isActive
      ? nil : settings.timeoutMilliseconds.map { TimeSpan.milliseconds($0) }
    template = CommandTemplate(settings.words)
    /// A configured limit as an unsigned number; a negative one counts as 0.
    func bound(_ number: Int64?) -> UInt64? { number.map { UInt64(max(0, $0)) } }
    limits =
      CommandLimits(
        memory: bound(settings.limits.memory), processorSeconds: bound(settings.limits.processorSeconds),
        openFiles: bound(settings.limits.openFiles), fileSize: bound(settings.limits.fileSize)
      ).all
  }

  /// True if each customer brings its own command line.
  var takesCommandLines: Bool { settings.words.isEmpty }

  /// The command of one customer, to be started at `now`.
  func order(for assignment: Assignment, at now: WallTime) throws(UnservableCustomer) -> CommandInvocation {
    let customer = CommandCustomer(assignment, service: service)
    let deadline = timeout.map { WallTime(milliseconds: now.milliseconds &+ $0.milliseconds) }
    var order: CommandInvocation
    if takesCommandLines {
      let line = try line(of: assignment)
      order = CommandInvocation(try commandLine(line, customer, deadline))
      order.payload = line.input
    } else {
      order = CommandInvocation(try command(of: assignment, customer, deadline))
      order.payload = assignment.payload ?? []
    }
    order.timeout = timeout
    order.grace = .milliseconds(settings.graceMilliseconds)
    order.output = bounds(file(of: assignment, ending: "out"))
    order.errors = bounds(file(of: assignment, ending: "err"))
    return order
  }

  /// The result of a command that has run.
  ///
  /// If a client waits for the end of the command line, the client decides about a retry. An exit that would cause a
  /// later retry, such as code 75, then makes the customer a dead letter.
  func provisionResult(of outcome: CommandOutcome, for assignment: Assignment) -> ProvisionResult {
    let provisionResult = classifier.provisionResult(of: outcome)
    guard takesCommandLines, case .failed(let failure) = provisionResult, failure.consequence == .later,
      let line = try? CommandLinePayload(assignment.payload ?? []), line.isWaited
    else { return provisionResult }
    return .failed(WorkFailure(failure.words, .never, processEnd: failure.processEnd))
  }

  /// The configured command of the service, for this customer.
  private func command(
    of assignment: Assignment, _ customer: CommandCustomer, _ deadline: WallTime?
  ) throws(UnservableCustomer) -> ChildProcess.Program {
    guard let template else {
      throw UnservableCustomer(failure: WorkFailure("the service names no program", .pause))
    }
    let variables = environment.variables(of: customer, deadline: deadline)
    let directory = settings.directory.map { Paths.join(home ?? "", $0) } ?? home
    do throws(CommandStartError) {
      let words = try template.argv(payload: assignment.payload ?? [], key: customer.key).get()
      let path = try programPaths.find(
        template.program, path: variables["PATH"], directory: directory
      ).get()
      return ChildProcess.Program(
        path: path, words: words, environment: variables, directory: directory, limits: limits,
        mask: settings.mask)
    } catch {
      throw UnservableCustomer(failure: classifier.failure(of: error))
    }
  }

  /// The command line in the payload of a customer; throws if the payload contains none.
  private func line(of assignment: Assignment) throws(UnservableCustomer) -> CommandLinePayload {
    do throws(CommandLinePayload.Fault) { return try CommandLinePayload(assignment.payload ?? []) } catch {
      throw UnservableCustomer(failure: WorkFailure(error.words, .never))
    }
  }

  /// The command of a customer that brings its own command line. Of the client's and the service's limit, the lower one
  /// applies.
  private func commandLine(
    _ line: CommandLinePayload, _ customer: CommandCustomer, _ deadline: WallTime?
  ) throws(UnservableCustomer) -> ChildProcess.Program {
    let variables = environment.variables(of: customer, deadline: deadline, over: line.environment)
    let directory = line.directory ?? settings.directory ?? home
    do throws(CommandStartError) {
      let path = try programPaths.find(line.argv[0], path: variables["PATH"], directory: directory).get()
      return ChildProcess.Program(
        path: path, words: line.argv.map { ByteText.bytes(of: $0) }, environment: variables,
        directory: directory, limits: ResourceLimit.lowest(of: line.limits + limits),
        mask: line.mask ?? settings.mask)
    } catch {
      throw UnservableCustomer(failure: classifier.failure(of: error))
    }
  }

  /// Path of an output file of a ticket; nil if outputs are not written to files.
  private func file(of assignment: Assignment, ending: String) -> String? {
    guard settings.outputBytes > 0, !settings.outputDirectory.isEmpty else { return nil }
    return Paths.join(settings.outputDirectory, String(assignment.day), "\(assignment.ticket).\(ending)")
  }

  /// Limits of a stream: how much goes into the receipt, and how much into the file.
  private func bounds(_ file: String?) -> OutputCapture.Bounds {
    OutputCapture.Bounds(
      first: classifier.storedBytes - classifier.storedBytes / 2,
      last: max(classifier.storedBytes / 2, Self.minimumTail),
      file: file, fileLength: settings.outputBytes)
  }
}
