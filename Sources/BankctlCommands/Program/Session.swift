// Context of a command: the parsed command line,
// and the settings decided before it runs.
import Arguments
import BankModel
import Configuration
import ControlClient
import Posix
import Wire

/// Command line, settings and output of one run of a command.
package struct Session {
  package let invocation: Invocation
  package let messages: MessageCatalog
  package var home: BankHome
  package let environment: ProcessEnvironment
  /// True if JSON output was requested.
  let asJSON: Bool
  package let output: Output

  /// Value of a number operand; 0 if an optional operand is missing.
  func number(_ operand: String) -> Int64 { invocation.operands.integer(operand) ?? 0 }
  /// Value of a text operand; empty if an optional operand is missing.
  func name(_ operand: String) -> String { invocation.operands.text(operand) ?? "" }
  /// Prints a message on standard error.
  package func note(_ text: String) { StandardErrorNotes.say(text) }

  /// Prints a JSON document, or the text if JSON was not requested.
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

  /// Adds one line to the output: a JSON document, or the text if JSON was not requested.
  func line(_ document: @autoclosure () -> JSONValue, or text: @autoclosure () -> String) throws(CommandError)
  {
    if asJSON { try output.line(document()) } else { try line(text()) }
  }

  /// Adds a line to the output, folded to the width of the terminal.
  func line(_ text: String) throws(CommandError) {
    for part in Screen.folded(text, columns: columns) { try output.line(part) }
  }

  /// Maximum table width: the width of the terminal; nil if the output is not a terminal.
  package var columns: Int? { output.isTerminal ? Terminal.size?.columns : nil }

  /// The renderer that shows a status report on this output.
  func picture(_ report: StatusReport) -> StatusRenderer {
    StatusRenderer(report: report, messages: messages, palette: output.palette, columns: columns)
  }

  /// The service with this name or alias. Only the syntax is checked; the bank decides whether the service exists.
  func service(named name: String) throws(CommandError) -> ServiceName {
    for choice in BankctlTable.serviceNames where choice.value == name || choice.aliases.contains(name) {
      if let service = ServiceName(choice.value) { return service }
    }
    guard let service = ServiceName(name) else {
      let near = Suggestions.nearest(to: name, among: ServiceName.branch.map(\.text))
      throw .commandFailure(as: .noSuchService, messages.noSuchService(name, near, []))
    }
    return service
  }

  /// The numbers of windows that options request, each service once, with its option. `juice`: the command has an
  /// option for juice stations.
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
        throw .usage(messages.namedTwice(service))
      }
      chosen.append((service, assignment.number, "--windows"))
    }
    return chosen
  }

  /// Address of the shared database of a closed bank, chosen as if the bank were opened; nil for the database in its
  /// home. Errors in the configuration are ignored, because opening the bank reports them.
  func inspectedStore() throws(CommandError) -> String? {
    if let chosen = try environment.store(flag: nil, messages) { return chosen.address.description }
    guard let file = try environment.configuration(flag: nil, home: home) else { return nil }
    return (try? BankConfiguration.load(path: file))?.store.address?.description
  }

  /// The settings with which the coordinator opens the bank, from the options, the environment and `juice`, the number
  /// of juice stations. Those that are nil have the value of the configuration, or the built-in one.
  func openingOrder(juice: Int64?) throws(CommandError) -> LaunchSettings {
    var order = LaunchSettings(
      .open, home: home,
      configuration: try environment.configuration(flag: invocation.text("config"), home: home),
      language: messages.language.code, deposit: invocation.integer("deposit"),
      loan: invocation.integer("loan"),
      juice: juice, speed: invocation.speed("speed")?.description)
    order.store = try environment.store(flag: invocation.text("store"), messages)?.address.description
    order.windows = try chosenWindows(juice: invocation.options.declares("juice"))
      .filter { $0.option == "--windows" && (juice != 0 || $0.service != .juice) }
      .map { "\($0.service)=\($0.count)" }
    return order
  }
}
