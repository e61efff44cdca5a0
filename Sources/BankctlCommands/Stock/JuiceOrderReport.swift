// Output and exit code of a juice order.
// Invariant: as text a shortage is reported once, at the end.
// Errors: `CommandError` with a sentence about the juices that were neither made nor refused for lack of ingredients.
import BankModel
import Posix

/// Prints the outcome of each juice of an order, and decides the exit code.
final class JuiceOrderReport {
  private let juice: Juice
  private let assortment: Assortment
  private let session: Session
  private let count: Int64
  private var made = 0
  private var short = 0
  private var shortages: [Shortage] = []
  /// Orders that were neither made nor refused for lack of ingredients.
  private var undone: [(order: OrderID, fate: JuiceOrderTracker.OrderOutcome)] = []

  init(juice: Juice, assortment: Assortment, session: Session) {
    self.juice = juice
    self.assortment = assortment
    self.session = session
    count = session.invocation.operands.integer("N") ?? 1
  }

  private var messages: MessageCatalog { session.messages }

  /// Prints or counts the outcome of one juice.
  func add(_ order: OrderID, _ outcome: JuiceOrderTracker.OrderOutcome) throws(CommandError) {
    switch outcome {
    case .made:
      made += 1
      let message = messages.phrases.juiceReady(juice.name(in: messages.language))
      try session.show(.juice(order, juice, "made", [], message: message), or: [message])
    case .short(let shortages):
      short += 1
      self.shortages = shortages
      guard session.asJSON else { return }
      try session.show(
        .juice(order, juice, "out_of_stock", shortages, message: messages.phrases.tooLittleFruit), or: [])
    case .cancelled, .withdrawn, .failed, .unfinished:
      undone.append((order, outcome))
      guard session.asJSON, count > 1 else { return }
      let message = messages.notMade(juice, outcome, order, undone: 1, of: 1, trouble: nil)
      try session.show(.juice(order, juice, outcome.name, [], message: message), or: [])
    }
  }

  /// Prints the remaining output, and returns the exit code.
  func finishOrder() throws(CommandError) -> ProgramExit {
    if let first = undone.first {
      let isUnfinished = undone.contains { $0.fate == .unfinished }
      if short > 0 { for line in fruitLines { session.note(line) } }
      let message = messages.notMade(
        juice, first.fate, first.order, undone: undone.count, of: made + short + undone.count,
        trouble: session.stationTrouble)
      throw .commandFailure(
        isUnfinished
          ? .orderPending : first.fate == .cancelled ? .orderCancelled : .juiceStationUnavailable, message)
    }
    guard short > 0 else { return .done }
    guard !session.asJSON else { return .refused }
    try session.output.flush()
    try askForMore()
    return .refused
  }

  /// Sentences about the missing ingredients, after the number of juices made.
  private var fruitLines: [String] {
    let missing = shortages.map {
      messages.shortageSentence($0, of: assortment.name(of: $0.item, in: messages.language))
    }
    return (made > 0 ? [messages.juicesMade(made, of: made + short)] : []) + missing
  }

  /// Ingredients missing now for all juices that were refused for lack of ingredients; for one of them if the stock
  /// does not answer.
  private var missingForAll: [Shortage] {
    guard let picture = try? StockRequests(session, isSeenOpen: true).picture(of: assortment) else {
      return shortages
    }
    return Self.missing(for: short, of: juice) { picture.quantity(of: $0) }
  }

  /// Ingredients that are missing for `count` juices, with needed and available amounts.
  static func missing(for count: Int, of juice: Juice, there quantity: (ItemID) -> Quantity) -> [Shortage] {
    juice.recipe.compactMap { part in
      let (all, overflow) = part.quantity.multipliedReportingOverflow(by: Int64(max(count, 1)))
      let needed = max(part.quantity, min(overflow ? .max : all, StockLimits.quantity))
      let available = quantity(part.item)
      return needed > available ? Shortage(item: part.item, needed: needed, available: available) : nil
    }
  }

  /// Prints the missing ingredients. On a terminal, asks whether the user wants to edit the stock.
  private func askForMore() throws(CommandError) {
    guard session.isAtTerminal else {
      try session.output.line(messages.phrases.tooLittleFruit)
      try session.output.flush()
      for line in fruitLines { session.note(line) }
      let missing = missingForAll
      if !missing.isEmpty { session.note(messages.restockCommands(by: missing)) }
      return
    }
    for line in fruitLines { try session.line(line) }
    guard try session.confirm(messages.phrases.tooLittleFruit) else { return }
    try StockEditorScreen.run(session)
    try JuiceCommands.menu(session)
  }
}

extension Assortment {
  /// Display name of an item; its name in commands if the assortment does not contain it any more.
  func name(of item: ItemID, in language: Language) -> String {
    fruits.first { $0.id == item }?.name(in: language) ?? item.name
  }
}

extension Session {
  /// True if a user can answer: standard input and standard output are a terminal, and JSON was not requested.
  var isAtTerminal: Bool { output.isTerminal && Terminal.isTerminal(0) && !asJSON }

  /// The coordinator's reason why the juice station makes no juice; nil if none is known.
  var stationTrouble: StationTrouble? {
    guard let report = try? CoordinatorClient.picture(self) else { return nil }
    if let trouble = report.workers.first(where: { $0.role == .stock }).flatMap({ messages.trouble(of: $0) })
    {
      return .stock(trouble)
    }
    guard let service = report.services.first(where: { $0.service == .juice }) else { return nil }
    if service.paused { return .paused }
    if service.windows == 0 { return .noStation }
    let stations = report.workers.filter { $0.role == .juice }
    return stations.allSatisfy { $0.isFailed == true } ? .failed : nil
  }

  /// Asks a yes-or-no question until the user answers. The end of the input means no.
  func confirm(_ question: String) throws(CommandError) -> Bool {
    while true {
      output.write("\(question) [\(messages.phrases.yes)/\(messages.phrases.no)] ")
      try output.flush()
      guard let answer = readLine() else {
        try output.line("")
        return false
      }
      if let parseYesNo = messages.parseYesNo(of: answer) { return parseYesNo }
      try output.line(messages.neitherYesNorNo)
    }
  }
}

/// Reason why the juice station makes no juice.
enum StationTrouble: Sendable, Equatable {
  case stock(String)
  case paused
  case noStation
  case failed
}
