// Commands for shared banks, refused by a bank with its own database, and passwords in an address, which are never
// shown, logged or passed to a process.
import Foundation
import Testing

@Suite("Shared-bank commands on a bank with its own database", .serialized)
struct SharedBankRefusalTests {
  @Test("it refuses branches and an end of the whole bank, and continues")
  func refused() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.expectRefusal(5, "requires_shared_bank", of: "branches")
      try branch.expectRefusal(5, "requires_shared_bank", of: "stop", "--bank")
      try branch.expectRefusal(5, "requires_shared_bank", of: "status", "--branch", "1")
      let korean = "'branches' 명령은 데이터베이스를 공유하는 은행에서만 쓸 수 있습니다. 이 은행의 데이터베이스는 홈에 있습니다."
      #expect(try branch.run("branches", language: .ko).err.contains(korean))
      let both = try branch.run("stop", "--bank", "--now")
      #expect(both.code == 2 && both.err.contains("use only one of them"), both.story)
      #expect(try branch.status().state == "open")
      try branch.runSuccessfully("enqueue", "3", "--wait")
      let receipts = try branch.receipts()
      #expect(receipts.count == 3 && receipts.allSatisfy { $0["branch"] == .missing })
      #expect(try branch.json("status")["branch"] == .missing)
    }
  }

  @Test("a password in the address is refused before anything is opened, and is stored nowhere")
  func secrets() throws {
    try withScratchBank { branch in
      let secret = "hunter2"
      let address = "postgres://bank:\(secret)@db.invalid/bank"
      let attempts: [([String], [String: String])] = [
        (["start", "--store", address], [:]), (["start", "--foreground", "--store=\(address)"], [:]),
        (["start"], ["BANK_STORE": address]), (["receipts"], ["BANK_STORE": address]),
        (["config", "show"], ["BANK_STORE": "postgres://db.invalid/bank?password=\(secret)"]),
      ]
      for (arguments, environment) in attempts {
        for outputLanguage in [OutputLanguage.en, .ko] {
          let outcome = try branch.launch(arguments, language: outputLanguage, environment: environment)
            .finish()
          #expect(outcome.code == 2 && outcome.err.contains("~/.pgpass"), outcome.story)
          #expect(!outcome.err.contains(secret) && !outcome.out.contains(secret), outcome.story)
        }
      }
      #expect(!FileManager.default.fileExists(atPath: branch.home), "nothing was created")
      let file = try branch.write("{\n\"store\": {\"url\": \"\(address)\"}}", to: "shared.json")
      for arguments in [["start", "--config", file], ["config", "check", file]] {
        let outcome = try branch.launch(arguments).finish()
        #expect(outcome.code == 2 && outcome.err.contains("\(file):2: \"store.url\""), outcome.story)
        #expect(!outcome.err.contains(secret), outcome.story)
      }
      for log in ["coordinator", "guardian"] { #expect(!branch.log(log).contains(secret)) }
    }
  }

  @Test("an invalid address is a usage error that explains the format")
  func noAddress() throws {
    try withScratchBank { branch in
      for address in ["bank.db", "mysql://db/bank", "postgres://db:five/bank"] {
        let outcome = try branch.run("start", "--store", address)
        #expect(outcome.code == 2 && outcome.err.contains("postgres://USER@HOST"), outcome.story)
      }
    }
  }
}
