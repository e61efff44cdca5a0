// Owns what every command is handed: the parsed line and everything that was decided before it runs.
// Invariant: nothing in it changes while a command runs, except what was printed.
import Arguments
import BankModel
import Configuration
import ControlClient
import Posix
import Wire

package struct Session {
  package let invocation: Invocation
  package let words: MessageCatalog
  package var home: BankHome
  package let surroundings: ProcessEnvironment
  /// Whether scripts are listening.
  let asJSON: Bool
  package let output: Output

  /// The number that an operand gives; 0 where it may be left out and is.
  func number(_ operand: String) -> Int64 { invocation.operands.integer(operand) ?? 0 }
  func name(_ operand: String) -> String { invocation.operands.text(operand) ?? "" }
  package func note(_ text: String) { Notes.say(text) }

  /// Prints a document for scripts, or what people read instead.
  package func show(_ document: @autoclosure () -> JSONValue, or text: @autoclosure () -> [String])
    throws(CommandError)
  {
    if asJSON {
      try output.line(document())
    } else {
      for line in text() { try self.line(line) }
    }
    try output.flush()
  }

  func line(_ document: @autoclosure () -> JSONValue, or text: @autoclosure () -> String) throws(CommandError)
  {
    if asJSON { try output.line(document()) } else { try line(text()) }
  }

  func line(_ text: String) throws(CommandError) {
    for part in Screen.folded(text, columns: columns) { try output.line(part) }
  }

  /// How wide a table may be: the terminal's width, and nil away from one.
  package var columns: Int? { output.isTerminal ? Terminal.size?.columns : nil }

  func picture(_ report: StatusReport) -> StatusPicture {
    StatusPicture(report: report, words: words, palette: output.palette, columns: columns)
  }

  /// The service that a word names. Whether the bank has it only the bank knows.
  func service(named name: String) throws(CommandError) -> ServiceName {
    for choice in BankctlTable.serviceNames where choice.value == name || choice.aliases.contains(name) {
      if let service = ServiceName(choice.value) { return service }
    }
    guard let service = ServiceName(name) else {
      let near = Suggestions.nearest(to: name, among: ServiceName.branch.map(\.text))
      throw .complaint(as: .noSuchService, words.noSuchService(name, near, []))
    }
    return service
  }

  /// The windows that the options ask for, each service once.
  /// - Parameter juice: whether the command has an option for the juice stations.
  func chosenWindows(juice: Bool) throws(CommandError) -> [(
    service: ServiceName, count: Int64, option: String
  )] {
    var chosen: [(service: ServiceName, count: Int64, option: String)] = []
    for service in ServiceName.branch where juice || service != .juice {
      if let count = invocation.integer(service.text) { chosen.append((service, count, "--" + service.text)) }
    }
    for assignment in invocation.options.assignments("windows") {
      let service = try service(named: assignment.name)
      guard !chosen.contains(where: { $0.service == service }) else {
        throw .usage(words.namedTwice(service))
      }
      chosen.append((service, assignment.number, "--windows"))
    }
    return chosen
  }

  /// The shared books that a bank which is not open is asked about: those by which it would be opened; nil for those in its
  /// home. What is wrong with the configuration is said by whoever opens the bank.
  func inspectedStore() throws(CommandError) -> String? {
    if let chosen = try surroundings.store(flag: nil, words) { return chosen.address.description }
    guard let file = try surroundings.configuration(flag: nil, home: home) else { return nil }
    return (try? BankConfiguration.load(path: file))?.store.address?.description
  }

  /// The order to open, as the options say; what they do not is left to the configuration.
  func openingOrder(juice: Int64?) throws(CommandError) -> LaunchOrder {
    var order = LaunchOrder(
      .open, home: home,
      configuration: try surroundings.configuration(flag: invocation.text("config"), home: home),
      language: words.language.code, deposit: invocation.integer("deposit"), loan: invocation.integer("loan"),
      juice: juice, speed: invocation.speed("speed")?.description)
    order.store = try surroundings.store(flag: invocation.text("store"), words)?.address.description
    order.windows = try chosenWindows(juice: invocation.options.declares("juice"))
      .filter { $0.option == "--windows" && (juice != 0 || $0.service != .juice) }
      .map { "\($0.service)=\($0.count)" }
    return order
  }
}
