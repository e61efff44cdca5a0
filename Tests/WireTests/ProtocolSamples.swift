// The schema rule of each golden file: messages by their protocol, values by their enumeration. Invariant:
// every golden file except those of the codec is named here; a test compares the list with the directory.

import BankModel

@testable import Wire

/// A message with a golden file, and its rule.
struct ProtocolSample: Sendable {
  let name: String
  let rule: String
  /// The message itself, for its coding keys.
  let message: any Encodable & Sendable

  static let all = [
    of("teller-message", TellerMessage.samples), of("window-message", MessageToTeller.samples),
    of("client-message", ClientMessage.samples), of("bank-message", BankMessage.samples),
    of("control-command", ControlCommand.samples), of("control-answer", ControlAnswer.samples),
    of("stock-message", StockMessage.samples), of("stock-service-message", StockServiceMessage.samples),
    of("stock-command", StockCommand.samples), of("stock-result", StockResult.samples),
    of("vending-message", VendingMessage.vendingSamples),
    of("vending-service-message", VendingServiceMessage.vendingSamples),
    of("vending-command", VendingCommand.samples), of("vending-result", VendingResult.samples),
    of("worker-message", ServiceProcessMessage.samples), of("supervisor-message", SupervisorMessage.samples),
  ].flatMap { $0 }

  private static func of<Message: Encodable & Sendable>(_ rule: String, _ samples: [Sample<Message>])
    -> [ProtocolSample]
  {
    samples.map { ProtocolSample(name: $0.name, rule: rule, message: $0.message) }
  }

  /// The contents of the golden file.
  func value() throws -> AnyValue { try CBORDecoder().decode(AnyValue.self, from: goldenBytes(name)) }

  /// The rules of whole messages, one for each direction of each protocol.
  static let conversations: Set = [
    "teller-message", "window-message", "client-message", "bank-message", "stock-message",
    "stock-service-message",
    "vending-message", "vending-service-message", "worker-message", "supervisor-message",
  ]
}

/// An enumeration with golden files, and its place in the schema.
struct ProtocolValues: Sendable {
  let places: [String]
  /// The numbers or the words of the Swift type.
  let values: Set<AnyValue>
  /// The golden files: each holds one value, or an array of them.
  let files: [String]

  static let all = [
    ProtocolValues(
      places: ["branch-service"], values: [.unsigned(1), .unsigned(2), .unsigned(3)],
      files: ["values-service", "values-service-juice"]),
    ProtocolValues(
      places: ["grade"], values: Set(Priority.grades.map { .unsigned(UInt64($0.code)) }),
      files: ["values-grade"]),
    numbers(Language.self, ["language"], "values-language"),
    numbers(CustomerState.self, ["customer-state"], "values-customer-state"),
    numbers(DrainStep.self, ["drain-step"], "values-drain-step"),
    numbers(BankState.self, ["bank-state"], "values-bank-state"),
    numbers(BranchState.self, ["branch-state"], "values-branch-state"),
    numbers(WorkerState.self, ["worker-state"], "values-worker-state"),
    numbers(
      WorkerRole.self, ["worker-role"], "values-worker-role", "values-worker-role-juice",
      "values-worker-role-vending", "values-worker-role-runner", "values-worker-role-worker",
      "values-worker-role-page"),
    numbers(
      PeerRole.self, ["client-hello.3", "teller-hello.3", "any-hello.3", "worker-message.1.3"],
      "values-peer-role", "values-peer-role-stock", "values-peer-role-juice", "values-peer-role-vending",
      "values-peer-role-runner", "values-peer-role-worker", "values-peer-role-page"),
    numbers(DatabaseMismatch.self, ["database-mismatch"], "values-database-mismatch"),
    numbers(
      AttemptEnd.self, ["attempt-end"], "values-attempt-end", "values-attempt-end-deferred",
      "values-attempt-end-lost"),
    numbers(WorkFailure.Consequence.self, ["consequence"], "values-consequence"),
    numbers(Outcome.self, ["outcome"], "values-outcome", "values-outcome-out-of-stock"),
    numbers(AttemptEvent.CustomerEvent.self, ["happening"], "values-branch-happening"),
    numbers(BoardEvent.Kind.self, ["board-event-kind"], "values-board-event-kind"),
    numbers(
      ProgressReport.Phase.self, ["phase"], "values-progress-phase", "values-progress-phase-pieces",
      "values-progress-phase-moving"),
    numbers(
      Refusal.Reason.self, ["refusal-reason"], "values-refusal-reason", "values-refusal-reason-closing",
      "values-refusal-reason-service"),
    numbers(MessageDetail.Source.self, ["remark-source"], "values-remark-source"),
    numbers(StockChange.Kind.self, ["stock-change-kind"], "values-stock-change-kind"),
    numbers(OrderRecord.State.self, ["order-state"], "values-order-state"),
    numbers(MoneyChange.Kind.self, ["money-change-kind"], "values-money-change-kind"),
    numbers(DrinkClass.Kind.self, ["drink-kind"], "values-drink-kind"),
    words(
      Failure.Code.self, "failure-code", "values-failure-code", "values-failure-code-keyConflict",
      "values-failure-code-wrongDay", "values-failure-code-inspected", "values-failure-code-removed",
      "values-failure-code-withdrawn", "values-failure-code-slowConsumer",
      "values-failure-code-noSuchService",
      "values-failure-code-noSuchWindow", "values-failure-code-processChanged",
      "values-failure-code-requiresSharedStore",
      "values-failure-code-leaseLost", "values-failure-code-unsupportedWithSharedStore",
      "values-failure-code-notMoved",
      "values-failure-code-databaseMoved", "values-failure-code-fromOwnWork"),
    words(
      StockFailure.Code.self, "stock-failure-code", "values-stock-failure-code",
      "values-stock-failure-code-slowConsumer"),
    words(
      VendingFailure.Code.self, "vending-failure-code", "values-vending-failure-code",
      "values-vending-failure-code-slowConsumer"),
  ]

  private static func numbers<Value: RawRepresentable<UInt8>>(
    _ type: Value.Type, _ places: [String], _ files: String...
  ) -> ProtocolValues {
    let numbers = (0...UInt8.max).filter { Value(rawValue: $0) != nil }
    return ProtocolValues(places: places, values: Set(numbers.map { .unsigned(UInt64($0)) }), files: files)
  }

  private static func words<Value: RawRepresentable<String> & CaseIterable>(
    _ type: Value.Type, _ rule: String, _ files: String...
  ) -> ProtocolValues {
    ProtocolValues(places: [rule], values: Set(type.allCases.map { .text($0.rawValue) }), files: files)
  }

  /// The contents of the golden files.
  func goldenValues() throws -> Set<AnyValue> {
    var values: Set<AnyValue> = []
    for file in files {
      switch try CBORDecoder().decode(AnyValue.self, from: goldenBytes(file)) {
      case .array(let several): values.formUnion(several)
      case let one: values.insert(one)
      }
    }
    return values
  }
}
