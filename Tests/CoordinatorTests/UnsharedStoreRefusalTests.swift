// Requests for a bank with several branches, sent to a bank of one, and the sources of the database's
// address.

import Configuration
import Testing
import Wire

@testable import Coordinator

@Suite("A bank with its database in its home") struct UnsharedStoreRefusalTests {
  @Test("it refuses requests for a bank with several branches, and continues")
  func refused() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    for (command, subject) in [
      (ControlCommand.branches, "branches"),
      (.stop(StopParameters(now: false, timeoutMilliseconds: nil, closesWholeBank: true)), "stop --bank"),
    ] {
      let number = client.ask(command, bank.coordinator)
      let answers = try client.answers(to: number, bank.coordinator)
      #expect(answers == [.failure(Failure(.requiresSharedStore, subject: subject))])
    }
    #expect(bank.coordinator.context.exitCode == nil)
    let number = client.ask(.status, bank.coordinator)
    guard case .status(let report) = try client.answers(to: number, bank.coordinator).first else {
      Issue.record("no status")
      return
    }
    #expect(report.branch == nil && report.bank == nil && report.state != .draining)
  }

  @Test("the address on the command line precedes that of the file, and lasts over restarts")
  func options() throws {
    let options = try CoordinatorOptions(["--home", "/h", "--store", "postgres://bank@db/bank", "--recover"])
    #expect(options.store == "postgres://bank@db/bank")
    #expect(options.persistentArguments == ["--home", "/h", "--store", "postgres://bank@db/bank"])
    #expect(try options.configuration().store.address?.description == "postgres://bank@db/bank")
    #expect(try CoordinatorOptions(["--home", "/h"]).configuration().store.address == nil)
  }

  @Test("an address with a password is refused and shown nowhere")
  func secret() throws {
    let options = try CoordinatorOptions(["--home", "/h", "--store", "postgres://bank:hunter2@db/bank"])
    let failure = try #require(throws: Failure.self) { _ = try options.configuration() }
    #expect(failure.code == .badRequest && !"\(failure)".contains("hunter2"))
  }
}
