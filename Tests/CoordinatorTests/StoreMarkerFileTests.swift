// The record of the database that a bank has opened, as the next coordinator reads it after a crash: all of
// one moment, or nothing. A file that was edited meanwhile does not lead it to another bank.
import Configuration
import Foundation
import Testing
import Time
import Wire

@testable import Coordinator

@Suite struct StoreMarkerFileTests {
  private func store(_ address: String?, page: Int32 = 100, branch: String? = nil) throws
    -> BankConfiguration.Store
  {
    var store = BankConfiguration.Store()
    (store.address, store.page, store.branch) = (try address.map { try StoreAddress($0) }, page, branch)
    return store
  }

  @Test("a stored record is read as the same, also for the bank's own database")
  func kept() throws {
    let path = NSTemporaryDirectory() + "/store-\(UUID().uuidString)"
    defer { unlink(path) }
    #expect(StoreMarkerFile.read(from: path) == nil)
    for store in [
      try store(nil), try store("postgres://bank@db/bank"),
      try store("postgres://bank@db1,db2:5433/bank?sslmode=verify-full", page: 1, branch: "서울 1"),
    ] {
      StoreMarkerFile.write(store, at: path)
      #expect(StoreMarkerFile.read(from: path) == store)
    }
  }

  @Test(
    "a damaged record is not read",
    arguments: [
      "", "\n100\n\nend", "\n100\n\n", "\n0\n\nend\n", "\nmany\n\nend\n", "bank.db\n100\n\nend\n",
      "postgres://bank:hunter2@db/bank\n100\n\nend\n", "\n100\n\nend\nmore\n",
    ])
  func refused(text: String) { #expect(StoreMarkerFile.parse(text) == nil) }

  @Test("after a crash the database is the one that was open, whatever the file contains by then")
  func recovery() throws {
    let directory = NSTemporaryDirectory() + "/store-home-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let home = BankHome(directory)
    try FileManager.default.createDirectory(atPath: home.run, withIntermediateDirectories: true)
    let file = directory + "/bank.json"
    try Data(#"{"store": "postgres://other@db/other", "lease": "7s"}"#.utf8).write(
      to: URL(fileURLWithPath: file))
    func configuration(_ words: String...) throws -> BankConfiguration {
      let options = try CoordinatorOptions(["--home", directory, "--config", file] + words)
      var fileError: Failure?
      return try RecoveryMarkerFile.configuration(of: options, home, fileError: &fileError)
    }
    #expect(
      try configuration("--recover").store == store("postgres://other@db/other"), "nothing was recorded")
    for mine in [try store("postgres://bank@db/bank", page: 7, branch: "seoul"), try store(nil)] {
      StoreMarkerFile.write(mine, at: home.storeMarkerFile)
      #expect(try configuration("--recover").store == mine)
      #expect(try configuration("--recover").lease == .seconds(7), "all other settings are those of the file")
      #expect(try configuration().store == store("postgres://other@db/other"), "a new start uses the file")
    }
  }
}
