// Every message in its permanent bytes. A changed byte here is a peer that no longer understands us. The
// files are recorded once with BANK_RECORD_GOLDEN=1, checked, and never deleted.

import BankModel
import Testing

@testable import Wire

@Suite("Golden files of the messages")
struct MessageGoldenTests {
  @Test("messages of a teller have their permanent bytes")
  func teller() throws { try compare(TellerMessage.samples) }

  @Test("messages to a teller have their permanent bytes")
  func window() throws { try compare(MessageToTeller.samples) }

  @Test("messages of a client have their permanent bytes")
  func client() throws { try compare(ClientMessage.samples) }

  @Test("messages to a client have their permanent bytes")
  func bank() throws { try compare(BankMessage.samples) }

  @Test("every command has its permanent bytes")
  func commands() throws { try compare(ControlCommand.samples) }

  @Test("every answer has its permanent bytes")
  func answers() throws { try compare(ControlAnswer.samples) }

  @Test("messages to and from the stock service have their permanent bytes")
  func stock() throws {
    try compare(StockMessage.samples)
    try compare(StockServiceMessage.samples)
    try compare(StockCommand.samples)
    try compare(StockResult.samples)
    try compare(VendingMessage.vendingSamples)
    try compare(VendingServiceMessage.vendingSamples)
    try compare(VendingCommand.samples)
    try compare(VendingResult.samples)
  }

  @Test("messages to and from a supervised service have their permanent bytes")
  func worker() throws {
    try compare(ServiceProcessMessage.samples)
    try compare(SupervisorMessage.samples)
  }

  private func compare<Message: Codable & Equatable & Sendable>(_ samples: [Sample<Message>]) throws {
    for sample in samples { try expectGolden(sample.message, sample.name) }
  }

  @Test("every case of every message has a sample of its own")
  func everyCase() {
    #expect(
      TellerMessage.samples.map(\.message.itsCase) == TellerMessage.Case.allCases + [
        .hello, .hello, .hello, .hello, .hello, .progressed, .failed, .failed, .worked,
      ])
    #expect(
      MessageToTeller.samples.map(\.message.itsCase) == MessageToTeller.Case.allCases + [
        .assign, .assign, .assign, .welcome, .welcome, .welcome, .assign, .welcome, .assignWork, .assignWork,
      ])
    #expect(
      ClientMessage.samples.map(\.message.itsCase)
        == ClientMessage.Case.allCases + [.request, .request, .request])
    #expect(BankMessage.samples.map(\.message.itsCase) == BankMessage.Case.allCases)
    #expect(StockMessage.samples.map(\.message.itsCase) == StockMessage.Case.allCases + [.request])
    #expect(StockServiceMessage.samples.map(\.message.itsCase) == StockServiceMessage.Case.allCases)
    #expect(Set(StockCommand.samples.map(\.message.itsCase)) == Set(StockCommand.Case.allCases))
    #expect(Set(StockResult.samples.map(\.message.itsCase)) == Set(StockResult.Case.allCases))
    #expect(Set(VendingCommand.samples.map(\.message.itsCase)) == Set(VendingCommand.Case.allCases))
    #expect(Set(VendingResult.samples.map(\.message.itsCase)) == Set(VendingResult.Case.allCases))
    #expect(
      ServiceProcessMessage.samples.map(\.message.itsCase)
        == ServiceProcessMessage.Case.allCases + [.hello, .hello, .beat, .beat, .database])
    #expect(SupervisorMessage.samples.map(\.message.itsCase) == SupervisorMessage.Case.allCases)
    for which in ControlCommand.Case.allCases {
      #expect(ControlCommand.full(which).itsCase == which)
      #expect(ControlCommand.bare(which).map { $0.itsCase == which } ?? true)
    }
    for which in ControlAnswer.Case.allCases {
      #expect(ControlAnswer.full(which).itsCase == which)
      #expect(ControlAnswer.bare(which).map { $0.itsCase == which } ?? true)
    }
  }

  @Test("every value of an enumeration has its permanent number or name")
  func values() throws {
    try expectGolden([.deposit, .loan] as [BankModel.Service], "values-service")
    try expectGolden([.juice] as [BankModel.Service], "values-service-juice")
    try expectGolden(Priority.grades, "values-grade")
    try compareAll([.waiting, .delayed, .dead, .serving, .done] as [CustomerState], "values-customer-state")
    try compareAll(
      [.served, .cancelled] as [Outcome], "values-outcome", added: [(.outOfStock, "out-of-stock")])
    try compareAll(
      [.served, .killed, .leaseExpired, .recalled, .failed] as [AttemptEnd], "values-attempt-end",
      later: [.deferred, .lost])
    try compareAll([.starting, .idle, .serving, .backoff, .stopped] as [WorkerState], "values-worker-state")
    try compareAll([.open, .paused, .draining, .closed] as [BankState], "values-bank-state")
    try compareAll([.korean, .english] as [Language], "values-language")
    try expectGolden([.juice] as [WorkerRole], "values-worker-role-juice")
    try expectGolden([.juice] as [PeerRole], "values-peer-role-juice")
    try expectGolden([.vending] as [WorkerRole], "values-worker-role-vending")
    try expectGolden([.vending] as [PeerRole], "values-peer-role-vending")
    try compareAll(
      [.stopAccepting, .serveWaiting, .finishServing, .kill] as [DrainStep], "values-drain-step")
    try compareAll(
      [
        .queueFull, .draining, .diskFull, .notOpen, .alreadyOpen, .noSuchTicket, .noSuchDay, .wrongState,
        .badRequest, .badConfiguration, .damaged, .newerSchema, .badHome, .startFailed, .system,
      ] as [Failure.Code], "values-failure-code",
      later: [
        .keyConflict, .wrongDay, .inspected, .removed, .withdrawn, .slowConsumer, .noSuchService,
        .noSuchWindow,
        .processChanged, .requiresSharedStore, .leaseLost, .unsupportedWithSharedStore, .notMoved,
        .databaseMoved,
        .fromOwnWork,
      ])
    try expectGolden([.teller] as [WorkerRole], "values-worker-role")
    try expectGolden([.client, .teller] as [PeerRole], "values-peer-role")
    try expectGolden([.runner] as [PeerRole], "values-peer-role-runner")
    try expectGolden([.worker] as [PeerRole], "values-peer-role-worker")
    try expectGolden([.runner] as [WorkerRole], "values-worker-role-runner")
    try expectGolden([.worker, .outside] as [WorkerRole], "values-worker-role-worker")
    try expectGolden([.web] as [WorkerRole], "values-worker-role-page")
    try expectGolden([.web] as [PeerRole], "values-peer-role-page")
    try compareAll(WorkFailure.Consequence.allCases, "values-consequence")
    try expectGolden([.stock] as [PeerRole], "values-peer-role-stock")
    try compareAll(
      StockFailure.Code.allCases.dropLast(), "values-stock-failure-code", later: [.slowConsumer])
    try compareAll(StockChange.Kind.allCases, "values-stock-change-kind")
    try compareAll(OrderRecord.State.allCases, "values-order-state")
    try compareAll(DatabaseMismatch.allCases, "values-database-mismatch")
    try compareAll(MessageDetail.Source.allCases, "values-remark-source")
    try compareAll(
      VendingFailure.Code.allCases.dropLast(), "values-vending-failure-code", later: [.slowConsumer])
    try compareAll(MoneyChange.Kind.allCases, "values-money-change-kind")
    try compareAll(DrinkClass.Kind.allCases, "values-drink-kind")
    try expectGolden(
      [.version, .build, .hello, .malformed, .crowded] as [Refusal.Reason], "values-refusal-reason")
    try expectGolden([.closing] as [Refusal.Reason], "values-refusal-reason-closing")
    try expectGolden([.service] as [Refusal.Reason], "values-refusal-reason-service")
    try expectGolden(
      [.enqueuing, .serving, .finishing, .leaving] as [ProgressReport.Phase], "values-progress-phase")
    try expectGolden([.resetting, .requeueing] as [ProgressReport.Phase], "values-progress-phase-pieces")
    try expectGolden([.moving] as [ProgressReport.Phase], "values-progress-phase-moving")
    try expectGolden(
      [.started, .completed, .interrupted] as [AttemptEvent.CustomerEvent], "values-branch-happening")
    try compareAll(BoardEvent.Kind.allCases, "values-board-event-kind")
    try compareAll(BranchState.allCases, "values-branch-state")
  }

  /// A new value changes no file: it gets one of its own, and this list stays.
  private func compareAll<Value: Codable & Equatable & CaseIterable>(
    _ values: [Value], _ name: String, added: [(value: Value, name: String)] = [], later: [Value] = []
  ) throws {
    try expectGolden(values, name)
    for (value, suffix) in added { try expectGolden([value], "\(name)-\(suffix)") }
    for value in later { try expectGolden(value, "\(name)-\(value)") }
    #expect(
      Array(Value.allCases) == values + added.map(\.value) + later,
      "\(name): a value was added and has no golden file")
  }

  @Test("no golden file is unused")
  func noOrphans() throws {
    let names =
      TellerMessage.samples.map(\.name) + MessageToTeller.samples.map(\.name)
      + ClientMessage.samples.map(\.name)
      + BankMessage.samples.map(\.name) + ControlCommand.samples.map(\.name)
      + ControlAnswer.samples.map(\.name) + StockMessage.samples.map(\.name)
      + StockServiceMessage.samples.map(\.name) + StockCommand.samples.map(\.name)
      + StockResult.samples.map(\.name) + ServiceProcessMessage.samples.map(\.name)
      + SupervisorMessage.samples.map(\.name) + VendingMessage.vendingSamples.map(\.name)
      + VendingServiceMessage.vendingSamples.map(\.name) + VendingCommand.samples.map(\.name)
      + VendingResult.samples.map(\.name)
    #expect(Set(names).count == names.count, "two samples share a file")
    let files = try #require(goldenNames()).filter { !$0.hasPrefix("codec-") && !$0.hasPrefix("values-") }
    #expect(Set(files).subtracting(names) == [])
  }
}
