// The files that a bank uses, and the error for a bad one.

import BankModel
import Foundation
import Testing

@testable import Configuration

@Suite("The files of a bank") struct BankFilesTests {
  private func withPlaces(_ test: (_ home: String, _ beside: String) throws -> Void) throws {
    let place = FileManager.default.temporaryDirectory.path + "/bank-files-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    for name in ["home", "beside"] {
      try FileManager.default.createDirectory(
        atPath: "\(place)/\(name)", withIntermediateDirectories: true)
    }
    try test(place + "/home", place + "/beside")
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func refusal(_ files: BankFiles) -> ConfigurationError? {
    do throws(ConfigurationError) {
      _ = try files.readAll()
      return nil
    } catch {
      return error
    }
  }

  @Test("without any file all values are built in") func none() throws {
    try withPlaces { home, _ in
      let files = BankFiles(home: home, configuration: nil)
      #expect(files.assortment == nil && files.products == nil)
      let read = try files.readAll()
      #expect(read.configuration == LoadedConfiguration())
      #expect(read.assortment == .standard && read.products == .standard)
    }
  }

  @Test("fruits and drinks are in the home's own files, or else in those beside the configuration")
  func places() throws {
    try withPlaces { home, beside in
      let files = BankFiles(home: home, configuration: beside + "/bank.json")
      #expect(files.assortment == nil)
      for name in ["stock.json", "vending.json"] { try write("{}", to: "\(beside)/\(name)") }
      #expect(files.assortment == beside + "/stock.json" && files.products == beside + "/vending.json")
      try write("{}", to: home + "/stock.json")
      #expect(files.assortment == home + "/stock.json" && files.products == beside + "/vending.json")
      #expect(BankFiles(home: home, configuration: nil).products == nil)
    }
  }

  @Test("the first bad file is refused with its own name: the configuration, the fruits, the drinks")
  func refused()
    throws
  {
    try withPlaces { home, beside in
      let files = BankFiles(home: home, configuration: beside + "/bank.json")
      #expect(refusal(files) == ConfigurationError(path: beside + "/bank.json", reason: .notFound))
      for name in ["bank.json", "stock.json", "vending.json"] { try write("[]", to: "\(beside)/\(name)") }
      #expect(refusal(files)?.path == beside + "/bank.json")
      try write("{}", to: beside + "/bank.json")
      #expect(refusal(files)?.path == beside + "/stock.json")
      try FileManager.default.createDirectory(
        atPath: home + "/stock.json", withIntermediateDirectories: true)
      guard case .unreadable? = refusal(files)?.reason else {
        Issue.record("a directory is not a file of fruits: \(String(describing: refusal(files)))")
        return
      }
      try FileManager.default.removeItem(atPath: beside + "/stock.json")
      try FileManager.default.removeItem(atPath: home + "/stock.json")
      #expect(refusal(files)?.path == beside + "/vending.json")
    }
  }

  @Test("a bank needs the programs of its own windows, and those of the services for them") func programs() {
    let programs = ProgramPaths(in: "/p")
    var configuration = BankConfiguration()
    #expect(
      programs.needed(by: configuration)
        == [
          "/p/bankd", "/p/bank-teller", "/p/bank-juice", "/p/bank-runner", "/p/bank-stockd",
          "/p/bank-vending",
        ])
    configuration.windows = PerService(deposit: 0, loan: 0, juice: 0)
    configuration.windows[.run] = 0
    #expect(programs.needed(by: configuration) == ["/p/bankd", "/p/bank-stockd", "/p/bank-vending"])
    #expect(ProgramPaths.isProgram("/bin/sh"))
    for path in ["/", "/etc/passwd", "/no/such/program"] { #expect(!ProgramPaths.isProgram(path)) }
  }
}
