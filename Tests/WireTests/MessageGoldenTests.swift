// Every message in the bytes that it has always had. A changed byte here is a peer that no longer
// understands us. The files are recorded once with BANK_RECORD_GOLDEN=1, looked at, and never deleted.

import BankModel
import Glibc
import Testing

@testable import Wire

@Suite("Golden files of the messages")
struct MessageGoldenTests {
  @Test("what a teller says has the bytes it has always had")
  func teller() throws { try compare(TellerMessage.samples) }

  @Test("what a teller is told has the bytes it has always had")
  func window() throws { try compare(WindowMessage.samples) }

  @Test("what a client sends has the bytes it has always had")
  func client() throws { try compare(ClientMessage.samples) }

  @Test("what a client is sent has the bytes it has always had")
  func bank() throws { try compare(BankMessage.samples) }

  @Test("every command has the bytes it has always had")
  func commands() throws { try compare(ControlCommand.samples) }

  @Test("every answer has the bytes it has always had")
  func answers() throws { try compare(ControlAnswer.samples) }

  private func compare<Message: Codable & Equatable & Sendable>(_ samples: [Sample<Message>]) throws {
    for sample in samples { try expectGolden(sample.message, sample.name) }
  }

  @Test("every case of every message has a sample of its own")
  func everyCase() {
    #expect(TellerMessage.samples.map(\.message.itsCase) == TellerMessage.Case.allCases)
    #expect(WindowMessage.samples.map(\.message.itsCase) == WindowMessage.Case.allCases)
    #expect(ClientMessage.samples.map(\.message.itsCase) == ClientMessage.Case.allCases)
    #expect(BankMessage.samples.map(\.message.itsCase) == BankMessage.Case.allCases)
    for which in ControlCommand.Case.allCases {
      #expect(ControlCommand.full(which).itsCase == which)
      #expect(ControlCommand.bare(which).map { $0.itsCase == which } ?? true)
    }
    for which in ControlAnswer.Case.allCases {
      #expect(ControlAnswer.full(which).itsCase == which)
      #expect(ControlAnswer.bare(which).map { $0.itsCase == which } ?? true)
    }
  }

  @Test("every value of an enumeration has the number or the name it has always had")
  func values() throws {
    try compareAll([.deposit, .loan] as [BankModel.Service], "values-service")
    try compareAll([.vvip, .vip, .regular] as [BankModel.Grade], "values-grade")
    try compareAll([.waiting, .delayed, .dead, .serving, .done] as [CustomerState], "values-customer-state")
    try compareAll([.served, .cancelled] as [Outcome], "values-outcome")
    try compareAll(
      [.served, .killed, .leaseExpired, .recalled, .failed] as [AttemptEnd], "values-attempt-end")
    try compareAll([.starting, .idle, .serving, .backoff, .stopped] as [WorkerState], "values-worker-state")
    try compareAll([.open, .paused, .draining, .closed] as [BankState], "values-bank-state")
    try compareAll([.korean, .english] as [Language], "values-language")
    try compareAll(
      [.closeDoor, .serveWaiting, .finishServing, .kill] as [DrainStep], "values-drain-step")
    try compareAll(
      [
        .queueFull, .draining, .diskFull, .notOpen, .alreadyOpen, .noSuchTicket, .noSuchDay, .wrongState,
        .badRequest, .badConfiguration, .damaged, .newerSchema, .badHome, .windowsFailed, .system,
      ] as [Failure.Code], "values-failure-code")
    try expectGolden([.teller] as [WorkerRole], "values-worker-role")
    try expectGolden([.client, .teller] as [PeerRole], "values-peer-role")
    try expectGolden(
      [.version, .build, .hello, .malformed, .crowded] as [Refusal.Reason], "values-refusal-reason")
    try expectGolden(
      [.enqueuing, .serving, .finishing, .leaving] as [ProgressReport.Phase], "values-progress-phase")
    try expectGolden(
      [.started, .completed, .interrupted] as [BranchEvent.Happening], "values-branch-happening")
  }

  /// A new value changes no file: it gets one of its own, and this list stays.
  private func compareAll<Value: Codable & Equatable & CaseIterable>(_ values: [Value], _ name: String) throws
  {
    try expectGolden(values, name)
    #expect(Array(Value.allCases) == values, "\(name): a value was added and has no golden file")
  }

  @Test("no golden file is left that nothing reads")
  func noOrphans() throws {
    let names =
      TellerMessage.samples.map(\.name) + WindowMessage.samples.map(\.name)
      + ClientMessage.samples.map(\.name)
      + BankMessage.samples.map(\.name) + ControlCommand.samples.map(\.name)
      + ControlAnswer.samples.map(\.name)
    #expect(Set(names).count == names.count, "two samples share a file")
    let files = try #require(goldenNames()).filter { !$0.hasPrefix("codec-") && !$0.hasPrefix("values-") }
    #expect(Set(files).subtracting(names) == [])
  }

  private func goldenNames() -> [String]? {
    let path = goldenPath("x").split(separator: "/").dropLast().joined(separator: "/")
    guard let directory = opendir("/" + path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".hex") { names.append(String(name.dropLast(4))) }
    }
    return names
  }
}
