// Construction of one command from the orders of a window and a customer: its words, its environment, its limits.
// Invariant: data of a customer becomes a whole argument, the standard input or a whole variable, and never a part of
// one.
// Errors: an invalid payload makes the customer a dead letter. An invalid command of the service is not the customer's
// fault, and pauses the service. The service's exit table can change the effect of a refusal that has an exit code.
import BankModel
import ByteText
import CommandRunner
import Posix
import Teller
import Time
import Wire

struct CommandPlan {
  /// Failure of a customer whose command cannot be made.
  struct Unserved: Error, Equatable { let failure: WorkFailure }

  /// Minimum of retained last bytes of each stream: if the command fails they contain the reason.
  static let leastTail = Attempt.longestWords

  let orders: CommandOrders
  let service: ServiceName
  let environment: CommandEnvironment
  let judgement: CommandJudgement
  /// Default working directory.
  private let home: String?
  /// Nil if the customers bring the words, or if the configured words are invalid.
  private let template: CommandTemplate?
  private let limits: [ResourceLimit]
  private let timeout: TimeSpan?
  private let places: ProgramPlaces

  /// - Parameters:
  ///   - home: home directory of the bank; nil for the directory of this process.
  ///   - own: the variables of this process.
  ///   - places: cache of program paths.
  init(
    _ orders: CommandOrders, service: ServiceName, home: String?, own: Variables,
    places: ProgramPlaces = ProgramPlaces()
  ) {
    self.places = places
    self.orders = orders
    self.service = service
    self.home = home
    environment = CommandEnvironment(orders.environment, own: own)
    judgement = CommandJudgement(orders)
    timeout =
      Kernel.makes("timesOutInWords") ? nil : orders.timeoutMilliseconds.map { TimeSpan.milliseconds($0) }
    template = CommandTemplate(orders.words)
    func bound(_ number: Int64?) -> UInt64? { number.map { UInt64(max(0, $0)) } }
    limits =
      CommandLimits(
        memory: bound(orders.limits.memory), processorSeconds: bound(orders.limits.processorSeconds),
        openFiles: bound(orders.limits.openFiles), fileSize: bound(orders.limits.fileSize)
      ).all
  }

  /// True if each customer brings its own command line.
  var takesCommandLines: Bool { orders.words.isEmpty }

  /// The command of one customer, which starts now.
  func order(for assignment: Assignment, at now: WallTime) throws(Unserved) -> CommandOrder {
    let customer = CommandCustomer(assignment, service: service)
    let deadline = timeout.map { WallTime(milliseconds: now.milliseconds &+ $0.milliseconds) }
    var order: CommandOrder
    if takesCommandLines {
      let line = try line(of: assignment)
      order = CommandOrder(try commandLine(line, customer, deadline))
      order.payload = line.input
    } else {
      order = CommandOrder(try command(of: assignment, customer, deadline))
      order.payload = assignment.payload ?? []
    }
    order.timeout = timeout
    order.grace = .milliseconds(orders.graceMilliseconds)
    order.output = bounds(file(of: assignment, ending: "out"))
    order.errors = bounds(file(of: assignment, ending: "err"))
    return order
  }

  /// The result of a command that has run.
  ///
  /// A client that waits for its command line receives the first exit, and decides itself about a retry. Exit code 75,
  /// which would cause a retry, is then final.
  func provision(of outcome: CommandOutcome, for assignment: Assignment) -> Provision {
    let provision = judgement.provision(of: outcome)
    guard takesCommandLines, case .failed(let failure) = provision, failure.consequence == .later,
      let line = try? CommandLinePayload(assignment.payload ?? []), line.isWaited
    else { return provision }
    return .failed(WorkFailure(failure.words, .never, processEnd: failure.processEnd))
  }

  /// The configured command of the service.
  private func command(
    of assignment: Assignment, _ customer: CommandCustomer, _ deadline: WallTime?
  ) throws(Unserved) -> ChildProcess.Program {
    guard let template else {
      throw Unserved(failure: WorkFailure("the service names no program", .pause))
    }
    let variables = environment.variables(of: customer, deadline: deadline)
    let directory = orders.directory.map { Paths.join(home ?? "", $0) } ?? home
    do throws(CommandRefusal) {
      let words = try template.words(payload: assignment.payload ?? [], key: customer.key).get()
      let path = try places.find(
        template.program, path: variables["PATH"], directory: directory
      ).get()
      return ChildProcess.Program(
        path: path, words: words, environment: variables, directory: directory, limits: limits,
        mask: orders.mask)
    } catch {
      throw Unserved(failure: judgement.failure(of: error))
    }
  }

  private func line(of assignment: Assignment) throws(Unserved) -> CommandLinePayload {
    do throws(CommandLinePayload.Fault) { return try CommandLinePayload(assignment.payload ?? []) } catch {
      throw Unserved(failure: WorkFailure(error.words, .never))
    }
  }

  /// The command line of the customer. Of the client's and the service's limit, the lower one applies.
  private func commandLine(
    _ line: CommandLinePayload, _ customer: CommandCustomer, _ deadline: WallTime?
  ) throws(Unserved) -> ChildProcess.Program {
    let variables = environment.variables(of: customer, deadline: deadline, over: line.environment)
    let directory = line.directory ?? orders.directory ?? home
    do throws(CommandRefusal) {
      let path = try places.find(line.words[0], path: variables["PATH"], directory: directory).get()
      return ChildProcess.Program(
        path: path, words: line.words.map { ByteText.bytes(of: $0) }, environment: variables,
        directory: directory, limits: ResourceLimit.lowest(of: line.limits + limits),
        mask: line.mask ?? orders.mask)
    } catch {
      throw Unserved(failure: judgement.failure(of: error))
    }
  }

  private func file(of assignment: Assignment, ending: String) -> String? {
    guard orders.outputBytes > 0, !orders.outputDirectory.isEmpty else { return nil }
    return Paths.join(orders.outputDirectory, String(assignment.day), "\(assignment.ticket).\(ending)")
  }

  private func bounds(_ file: String?) -> OutputCapture.Bounds {
    OutputCapture.Bounds(
      first: judgement.kept - judgement.kept / 2, last: max(judgement.kept / 2, Self.leastTail),
      file: file, fileLength: orders.outputBytes)
  }
}
