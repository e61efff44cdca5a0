// Vending machine on the command line: the scenario of the original from the first coin to a kill of all processes, and
// output, JSON and exit codes of each command.
import Foundation
import Glibc
import Testing

@Suite("The vending machine", .serialized)
struct VendingTests {
  @Test(
    "the original scenario: add, insert, buyable, buy, balance, history; unchanged after a kill and a start"
  )
  func scenario() throws {
    try withScratchBank { branch in
      try branch.start()
      // Every product is out of stock.
      let empty = try branch.json("vending")
      #expect(empty["balance"].integer == 0 && empty["products"].items.count == 10)
      #expect(empty["products"].items.allSatisfy { $0["stock"].integer == 0 && $0["buyable"].flag == false })
      #expect(try branch.lines("vending", "history").isEmpty)
      for (product, count) in [("top", "2"), ("coke", "1"), ("strawberry-milk", "3")] {
        try branch.runSuccessfully("vending", "admin", "add", product, count)
      }
      #expect(try branch.json("vending", "insert", "1000")["balance"].integer == 1_000)
      #expect(try branch.json("vending", "insert", "5000")["balance"].integer == 6_000)
      #expect(try branch.products("vending", "buyable") == ["strawberry-milk", "coke", "top"])
      let bought = try branch.json("vending", "buy", "top")
      #expect(bought["balance"].integer == 4_300 && bought["price"].integer == 1_700)
      try branch.runSuccessfully("vending", "buy", "coke")
      #expect(try branch.json("vending", "balance")["balance"].integer == 800)
      #expect(try branch.products("vending", "buyable") == [])
      #expect(try branch.history() == ["top", "coke"])
      let before = try branch.json("vending")
      try branch.killCoordinator()
      try branch.start()
      #expect(try branch.json("vending") == before)
      #expect(try branch.history() == ["top", "coke"])
      #expect(try branch.json("vending", "return")["returned"].integer == 800)
      #expect(try branch.json("vending", "balance")["balance"].integer == 0)
      try branch.expectClean()
      try branch.runSuccessfully("stop")
    }
  }

  @Test("the machine lists its products with price, stock and a mark on what can be bought")
  func listing() throws {
    try withScratchBank { branch in
      try branch.start()
      try branch.runSuccessfully("vending", "admin", "add", "top", "3")
      try branch.runSuccessfully("vending", "insert", "1000000")
      let document = try branch.json("vending")
      let top = document["products"].item(where: "product", is: "top")
      #expect(top["name"].text == "맥심TOP" && top["brand"].text == "맥심" && top["volume_ml"].integer == 275)
      #expect(top["price"].integer == 1_700 && top["stock"].integer == 3)
      #expect(top["buyable"].flag == true && top["hot"].flag == true)
      #expect(
        document["products"].items.map { $0["product"].text } == [
          "strawberry-milk", "chocolate-milk", "banana-milk", "coke", "sprite", "top", "cantata", "georgia",
          "hot6",
          "monster",
        ])
      let korean = try branch.runSuccessfully("vending", language: .ko).out
      #expect(korean.contains("음료 자판기") && korean.contains("잔액: 1,000,000원") && korean.contains("● 살 수 있음"))
      let english = try branch.runSuccessfully("vending").out
      #expect(
        english.contains("Maxim T.O.P") && english.contains("● can be bought") && english.contains("sold out")
      )
    }
  }

  @Test("money: any whole amount from 1 to 1,000,000 won, and nothing else")
  func money() throws {
    try withScratchBank { branch in
      try branch.start()
      #expect(try branch.json("vending", "insert", "1")["balance"].integer == 1)
      #expect(try branch.json("vending", "insert", "1000000")["balance"].integer == 1_000_001)
      for amount in ["0", "-1", "1000001", "many", "1.5", "", "99999999999999999999"] {
        let outcome = try branch.run("vending", "insert", amount)
        #expect(outcome.code == 2 && !outcome.err.isEmpty, outcome.story)
      }
      #expect(try branch.json("vending", "balance")["balance"].integer == 1_000_001)
      let back = try branch.runSuccessfully("vending", "return", language: .ko).out
      #expect(back.contains("1,000,001원") && back.contains("잔액: 0원"))
      #expect(try branch.json("vending", "return")["returned"].integer == 0)
    }
  }

  @Test("low balance, sold out and expired have different messages, exit code 5, and change nothing")
  func refusals() throws {
    try withScratchBank { branch in
      try branch.start()
      try branch.runSuccessfully("vending", "admin", "add", "top", "1")
      try branch.runSuccessfully(
        "vending", "admin", "add", "hot6", "1", "--made", "2020-01-01", "--expires", "2020-01-08")
      try branch.runSuccessfully("vending", "insert", "1600")
      let before = try branch.json("vending")
      let cases = [
        ("top", "insufficient_balance", "잔액이 부족합니다."), ("coke", "insufficient_balance", "잔액이 부족합니다."),
        ("monster", "sold_out", "재고가 부족합니다."), ("hot6", "product_expired", "유통기한이 지났습니다."),
      ]
      for (product, code, arguments) in cases {
        let outcome = try branch.run("vending", "buy", product, language: .ko)
        #expect(outcome.code == 5 && outcome.err.contains(arguments), outcome.story)
        let json = try branch.run("vending", "buy", product, "--json")
        #expect(json.code == 5)
        #expect(try json.json()["error"]["code"].text == code, json.story)
      }
      #expect(try branch.json("vending") == before)
      #expect(try branch.history() == [])
    }
  }

  @Test("an unknown product gets a suggestion and exit code 4; Korean and English names work")
  func names() throws {
    try withScratchBank { branch in
      try branch.start()
      for arguments in [["buy", "topp"], ["admin", "add", "topp", "1"], ["admin", "remove", "topp", "1"]] {
        let outcome = try branch.launch(["vending"] + arguments).finish()
        #expect(outcome.code == 4 && outcome.err.contains("top?"), outcome.story)
        let json = try branch.launch(["vending"] + arguments + ["--json"]).finish()
        #expect(try json.code == 4 && json.json()["error"]["code"].text == "no_such_product", json.story)
      }
      try branch.runSuccessfully("vending", "admin", "add", "딸기맛 우유", "1")
      try branch.runSuccessfully("vending", "admin", "add", "Coca-Cola", "1")
      try branch.runSuccessfully("vending", "insert", "10000")
      #expect(try branch.json("vending", "buy", "딸기맛우유")["product"].text == "strawberry-milk")
      #expect(try branch.json("vending", "buy", "코카콜라")["product"].text == "coke")
      #expect(try branch.history() == ["strawberry-milk", "coke"])
    }
  }

  @Test("hot drinks are the coffees above a threshold, 30 degrees by default")
  func hot() throws {
    try withScratchBank { branch in
      try branch.start()
      #expect(try branch.products("vending", "hot") == ["top", "cantata", "georgia"])
      #expect(try branch.products("vending", "hot", "--above", "64") == ["top", "cantata", "georgia"])
      #expect(try branch.products("vending", "hot", "--above", "65") == [])
      #expect(try branch.run("vending", "hot", "--above", "warm").code == 2)
      #expect(try branch.runSuccessfully("vending", "hot", language: .ko).out.contains("맥심TOP"))
    }
  }

  @Test("the manager adds, removes, lists by kind, lists expired drinks and discards them")
  func manager() throws {
    try withScratchBank { branch in
      try branch.start()
      let added = try branch.json("vending", "admin", "add", "top", "5")
      #expect(added["present"].integer == 5 && added["difference"].integer == 5)
      try branch.runSuccessfully("vending", "admin", "add", "top", "2", "--made", "2020-01-01")
      try branch.runSuccessfully(
        "vending", "admin", "add", "coke", "1", "--made", "20200101", "--expires", "20200301")
      let stock = try branch.json("vending", "admin", "stock")["products"]
      let top = stock.item(where: "product", is: "top")
      #expect(top["stock"].integer == 5 && top["expired"].integer == 2)
      #expect(top["lots"].items.map { $0["expired"].flag } == [true, false])
      #expect(top["lots"][0]["description"].text == "맥심, 275ml, 1700원, 맥심TOP, 20200101, 20200108, 100mg")
      let korean = try branch.runSuccessfully("vending", "admin", "stock", language: .ko).out
      for kind in ["우유", "탄산음료", "커피", "에너지음료"] { #expect(korean.contains(kind)) }
      #expect(try branch.products("vending", "admin", "expired") == ["coke", "top"])
      #expect(try branch.json("vending", "admin", "remove", "top", "3")["present"].integer == 4)
      #expect(try branch.products("vending", "admin", "expired") == ["coke"])
      #expect(try branch.json("vending", "admin", "discard-expired")["discarded"].integer == 1)
      #expect(try branch.json("vending", "admin", "discard-expired")["discarded"].integer == 0)
      #expect(try branch.products("vending", "admin", "expired") == [])
      #expect(try branch.run("vending", "admin", "remove", "top", "5").code == 5)
      #expect(try branch.json("vending")["products"].item(where: "product", is: "top")["stock"].integer == 4)
      try branch.expectClean()
    }
  }

  @Test("invalid dates and amounts are refused with exit code 2, and nothing is changed")
  func nonsense() throws {
    try withScratchBank { branch in
      try branch.start()
      let cases = [
        ["top", "0"], ["top", "-1"], ["top", "1000001"], ["top", "x"], ["top", "1", "--made", "2026-02-30"],
        ["top", "1", "--expires", "soon"], ["top", "1", "--made", "2026-03-02", "--expires", "2026-03-01"],
        ["top", "1", "--expires", "2020-01-01"], ["top", "1", "--made", "1969-12-31"], ["top"],
      ]
      for arguments in cases {
        let outcome = try branch.launch(["vending", "admin", "add"] + arguments).finish()
        #expect(outcome.code == 2, outcome.story)
      }
      #expect(try branch.json("vending")["products"].items.allSatisfy { $0["stock"].integer == 0 })
    }
  }

  @Test("drinks are in the machine and not among the fruit, and the stock watch still reports them")
  func apart() throws {
    try withScratchBank { branch in
      try branch.start()
      try branch.runSuccessfully("vending", "admin", "add", "top", "2")
      #expect(try branch.stock() == Recipes.fresh)
      #expect(try branch.run("stock", "set", "top", "5").code == 4)
      let watcher = try branch.launch(["stock", "watch", "--json"])
      try branch.waitUntil("the watcher sees the stock") { watcher.lines.count == 1 }
      try branch.runSuccessfully("vending", "insert", "5000")
      try branch.runSuccessfully("vending", "buy", "top")
      try branch.waitUntil("the watcher sees the purchase") { watcher.lines.count == 2 }
      let change = try JSON(parsing: watcher.lines[1])
      #expect(
        change["item"].text == "top" && change["kind"].text == "taken" && change["quantity"].integer == 1)
    }
  }

  @Test("a file alone adds a product of an existing class and changes prices; reload reads it again")
  func products() throws {
    try withScratchBank { branch in
      try branch.start()
      #expect(try branch.json("vending")["products"].items.count == 10)
      let text = """
        {"products": [
          {"id": "letsbe", "class": "Top", "brand": "롯데", "ml": 175, "price": 800, "ko": "레쓰비", "en": "Let's Be",
           "emoji": "☕", "caffeine_mg": 80, "degrees": 55, "black": false}]}
        """
      let file = "home/vending.json"
      _ = try branch.write(text.replacing("800", with: "0"), to: file)
      #expect(try branch.run("reload").code == 2)
      _ = try branch.write(text, to: file)
      try branch.runSuccessfully("reload")
      try branch.waitUntil("the machine sells the other products") {
        try branch.json("vending")["products"].items.count == 1
      }
      try branch.runSuccessfully("vending", "admin", "add", "레쓰비", "1")
      try branch.runSuccessfully("vending", "insert", "1000")
      #expect(try branch.json("vending", "buy", "letsbe")["balance"].integer == 200)
    }
  }

  @Test("a damaged database is reported, left unchanged, and quarantined only by the operator's command")
  func damage() throws {
    try withScratchBank { branch in
      try branch.start()
      try branch.runSuccessfully("vending", "insert", "5000")
      let whole = try branch.run("vending", "admin", "quarantine", "--json")
      #expect(try whole.code == 5 && whole.json()["error"]["code"].text == "database_in_use", whole.story)
      try branch.runSuccessfully("stop")
      #expect(try branch.run("vending", "admin", "quarantine").code == 5)
      let wreck = String(repeating: "no database ", count: 1_000)
      _ = try branch.write(wreck, to: "home/vending.db")
      try branch.expectDamageMessage(to: "vending.db", ["bankctl vending admin quarantine"])
      for command in [["vending"], ["vending", "balance"]] {
        let away = try branch.launch(command).finish()
        #expect(away.code == 75 && away.err.contains("vending.db"), away.story)
        #expect(away.err.contains("bankctl vending admin quarantine"), away.story)
      }
      // The rest of the bank continues.
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--wait")
      #expect(try branch.run("juice", "order", "banana").code == 0)
      try branch.runSuccessfully("stop")
      try branch.start()
      #expect(try read(branch.home + "/vending.db") == wreck)
      let aside = try branch.json("vending", "admin", "quarantine")
      #expect(try read(#require(aside["quarantined"].text)) == wreck)
      // The machine is open when the command returns: no further wait is needed.
      #expect(try branch.status().worker("vending")?.state == "idle")
      #expect(try branch.json("vending", "balance")["balance"].integer == 0)
    }
  }

  @Test("a damaged stock is reported at the start, with a remedy that works")
  func damagedStock() throws {
    try withScratchBank { branch in
      try branch.start()
      try branch.runSuccessfully("stop")
      let path = "\(branch.home)/stock.db"
      let wreck = String(repeating: "no database ", count: 1_000)
      _ = try branch.write(wreck, to: "home/stock.db")
      try branch.expectDamageMessage(to: "stock.db", ["stock.db-wal", "bankctl reload"])
      let away = try branch.run("stock")
      #expect(away.code == 75 && away.err.contains("bankctl reload"), away.story)
      for suffix in ["", "-wal"] { rename(path + suffix, branch.path("aside\(suffix)")) }
      try branch.runSuccessfully("reload")
      #expect(try branch.stock()["kiwi"] == 10)
      #expect(try !branch.runSuccessfully("status").out.contains("stock.db"))
    }
  }

  @Test(
    "an older copy of the machine is reported by start and audit, and dispenses no drink without taking stock"
  )
  func olderCopy() throws {
    try withScratchBank { branch in
      func left() throws -> Int64? {
        try branch.json("vending")["products"].item(where: "product", is: "top")["stock"].integer.map {
          Int64($0)
        }
      }
      let paths = ["\(branch.home)/vending.db", branch.path("older")]
      try branch.start()
      try branch.runSuccessfully("vending", "admin", "add", "top", "3")
      try branch.runSuccessfully("vending", "insert", "10000")
      try branch.runSuccessfully("vending", "buy", "top")
      try branch.runSuccessfully("stop")
      try FileManager.default.copyItem(atPath: paths[0], toPath: paths[1])
      try branch.start()
      try branch.runSuccessfully("vending", "buy", "top")
      #expect(try left() == 1)
      try branch.runSuccessfully("stop")
      unlink(paths[0])
      try FileManager.default.moveItem(atPath: paths[1], toPath: paths[0])
      #expect(try branch.runSuccessfully("start").err.contains("vending.db is older than bank.db"))
      // The older copy reuses the number of its second purchase.
      try branch.runSuccessfully("vending", "buy", "top")
      #expect(try left() == 0)
      #expect(try branch.run("vending", "buy", "top").code == 5)
      for isOpen in [true, false] {
        if !isOpen { try branch.runSuccessfully("stop") }
        let problems = try branch.run("audit", "--json").json()["problems"].items.compactMap(\.text)
        #expect(problems.contains("vending.db is older than bank.db beside it"), "\(problems)")
      }
    }
  }

  private func read(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw TestFailure("there is no \(path)") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  @Test("a killed machine is restarted; on a closed bank the machine is reported as closed")
  func killed() throws {
    try withScratchBank { branch in
      #expect(try branch.run("vending").code == 3)
      #expect(try branch.run("vending", "buy", "top").code == 3)
      try branch.start()
      try branch.runSuccessfully("vending", "insert", "1000")
      for round in 2...4 {
        try branch.kill(worker: "vending")
        #expect(try branch.json("vending", "insert", "1000")["balance"].integer == round * 1_000)
      }
      let worker = try #require(try branch.status().worker("vending"))
      #expect(worker.role == "vending" && worker.generation == 4)
      try branch.expectClean()
    }
  }
}

extension ScratchBank {
  /// Expects that start and status report a damaged database and the command to type, in both languages.
  fileprivate func expectDamageMessage(
    to name: String, _ ways: [String], at location: SourceLocation = #_sourceLocation
  ) throws {
    for language in OutputLanguage.allCases {
      let start = try run("start", "--speed", "max", language: language, at: location)
      #expect(start.code == 0, start.story, sourceLocation: location)
      #expect(!start.out.contains("pid 0"), start.story, sourceLocation: location)
      let status = try run("status", language: language, at: location)
      for word in ["\(home)/\(name)", language == .ko ? "손상" : "damaged"] + ways {
        #expect(start.err.contains(word), start.story, sourceLocation: location)
        #expect(status.out.contains(word), status.story, sourceLocation: location)
      }
      if language != OutputLanguage.allCases.last { try runSuccessfully("stop", at: location) }
    }
  }

  /// Names of the products that a command lists.
  func products(_ arguments: String..., at location: SourceLocation = #_sourceLocation) throws -> [String] {
    let outcome = try launch(arguments + ["--json"]).finish(at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    return try outcome.json()["products"].items.compactMap { $0["product"].text }
  }

  /// Products that were bought, oldest first.
  func history(at location: SourceLocation = #_sourceLocation) throws -> [String] {
    try lines("vending", "history", at: location).compactMap { $0["product"].text }
  }
}
