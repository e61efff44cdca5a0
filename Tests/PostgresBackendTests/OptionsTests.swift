// The address of a store on the coordinator's command line.

import BankModel
import Testing
import Wire

@testable import Coordinator

@Suite("The address of a store")
struct OptionsTests {
  @Test(
    "a database with an address is read without a home, and its bank has a home all the same"
  )
  func store() throws {
    let address = "postgres:///bank"
    let reader = try CoordinatorOptions(["--inspect", "--store", address])
    #expect(reader.store == address && reader.isInspection)
    #expect(throws: Failure.self) { try CoordinatorOptions(["--store", address]) }
    #expect(throws: Failure.self) { try CoordinatorOptions(["--inspect"]) }
    let branch = try CoordinatorOptions(["--home", "/h", "--store", address])
    #expect(
      branch.persistentArguments == ["--home", "/h", "--store", address],
      "every coordinator of this branch gets it")
  }
}
