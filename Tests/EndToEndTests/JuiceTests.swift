// Juice shop at a terminal and in scripts: the menu, an order, too little fruit, and the stock.
import Glibc
import Testing

@Suite("Juice", .serialized)
struct JuiceTests {
  @Test("a fresh home has too little for a strawberry juice; with sixteen strawberries it is made")
  func firstThing() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      let refused = try branch.order("strawberry")
      #expect(refused.code == 5, refused.story)
      #expect(refused.out == "재료가 모자라요. 재고를 수정할까요?\n", refused.story)
      #expect(
        refused.errorsWithoutProgress
          == "딸기의 재고가 부족합니다. (16개 필요, 10개 있음)\n재고를 채우려면: bankctl stock add strawberry 6\n",
        refused.story)
      #expect(try branch.stock() == Recipes.fresh)
      let english = try branch.order("strawberry", language: .en)
      #expect(
        english.code == 5 && english.out == "There is not enough fruit. Change the stock?\n", english.story)
      #expect(
        try branch.runSuccessfully("stock", "set", "strawberry", "16", language: .ko).out == "딸기 재고: 16개\n")
      let made = try branch.order("strawberry")
      #expect(made.code == 0 && made.errorsWithoutProgress == "", made.story)
      #expect(made.out == "딸기쥬스 나왔습니다! 맛있게 드세요!\n", made.story)
      #expect(try branch.stock() == Recipes.fresh.merging(["strawberry": 0]) { $1 })
      let outcomes = try branch.receipts().map { $0["outcome"].text }
      #expect(outcomes == ["out_of_stock", "out_of_stock", "served"])
      #expect(try branch.receipts().allSatisfy { $0["service"].text == "juice" && $0["debit"] == .null })
      try branch.expectClean()
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("every juice takes exactly the fruit of its recipe, under each of its names")
  func recipes() throws {
    let korean = [
      "딸기쥬스": "strawberry", "바나나쥬스": "banana", "키위쥬스": "kiwi", "파인애플쥬스": "pineapple",
      "딸바쥬스": "strawberry-banana", "망고쥬스": "mango", "망고키위쥬스": "mango-kiwi", "망키쥬스": "mango-kiwi",
      "딸바 주스": "strawberry-banana",
    ]
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      for fruit in Recipes.fresh.keys { try branch.runSuccessfully("stock", "set", fruit, "100") }
      var left = Recipes.fresh.mapValues { _ in 100 }
      for (name, juice) in Recipes.all.keys.map({ ($0, $0) }) + korean.map({ ($0.key, $0.value) }) {
        #expect(try branch.json("juice", "order", name)["juice"].text == juice)
        left.merge(Recipes.all[juice] ?? [:]) { $0 - $1 }
        if left["strawberry"] ?? 0 < 20 { left["strawberry"] = 100 }
        try branch.runSuccessfully("stock", "set", "딸기", "\(left["strawberry"] ?? 0)")
        #expect(try branch.stock() == left, "after \(name)")
      }
      try branch.expectClean()
    }
  }

  @Test("one order is one JSON document, several are one per line; juices made before a shortage stay made")
  func documents() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let made = try branch.json("juice", "order", "banana")
      let oneMade = try JSON(
        parsing: #"{"version":1,"order":"1-1","juice":"banana","outcome":"made","missing":[],"#
          + #""message":"Your banana juice is ready! Enjoy!"}"#)
      #expect(made == oneMade)
      let short = try branch.order("strawberry", "--json")
      #expect(short.code == 5 && short.errorsWithoutProgress == "", short.story)
      let oneShort = try JSON(
        parsing: #"{"version":1,"order":"1-2","juice":"strawberry","outcome":"out_of_stock","#
          + #""missing":[{"item":"strawberry","needed":16,"available":10}],"#
          + #""message":"재료가 모자라요. 재고를 수정할까요?"}"#)
      #expect(try short.json() == oneShort)
      let many = try branch.order("kiwi", "5", "--json")
      #expect(many.code == 5, many.story)
      let lines = try JSON.lines(many.out)
      #expect(lines.map { $0["outcome"].text } == ["made", "made", "made", "out_of_stock", "out_of_stock"])
      #expect(lines.map { $0["order"].text } == (3...7).map { "1-\($0)" })
      #expect(try branch.stock()["kiwi"] == 1)
      let people = try branch.order("mango", "4")
      #expect(people.code == 5, people.story)
      #expect(people.outLines.filter { $0 == "망고쥬스 나왔습니다! 맛있게 드세요!" }.count == 3, people.story)
      #expect(people.lastLine == "재료가 모자라요. 재고를 수정할까요?", people.story)
      // One piece is missing for the four juices, and the next order lacks the same piece.
      let mended = "재고를 채우려면: bankctl stock add mango 2\n"
      #expect(
        people.errorsWithoutProgress == "4잔 중 3잔만 만들었습니다.\n망고의 재고가 부족합니다. (3개 필요, 1개 있음)\n" + mended,
        people.story)
      let two = try branch.order("mango-kiwi", "2")
      #expect(two.code == 5, two.story)
      let line = try #require(two.err.split(separator: "\n").last { $0.hasPrefix("재고를 채우려면: ") })
      for command in line.dropFirst("재고를 채우려면: ".count).split(separator: " && ") {
        let arguments = command.split(separator: " ").map(String.init)
        try branch.runSuccessfully("stock", "add", arguments[3], arguments[4])
      }
      #expect(try branch.order("mango-kiwi", "2").code == 0, "the suggested amount suffices for all")
    }
  }

  @Test("the menu lists all seven juices, and the missing fruit of each that cannot be made")
  func menu() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let menu = try branch.json("juice", "menu")
      #expect(menu["version"].integer == 1)
      let recipes = menu["juices"].items.map { juice -> (String, [String: Int]) in
        guard case .object(let parts) = juice["recipe"] else { return ("", [:]) }
        return (juice["juice"].text ?? "", parts.compactMapValues(\.integer))
      }
      #expect(Dictionary(recipes, uniquingKeysWith: { $1 }) == Recipes.all)
      #expect(
        menu["juices"].items.filter { $0["available"].flag == false }.map { $0["juice"].text } == [
          "strawberry"
        ])
      let missing = try JSON(parsing: #"[{"item":"strawberry","needed":16,"available":10}]"#)
      #expect(menu["juices"].item(where: "juice", is: "strawberry")["missing"] == missing)
      for outputLanguage in OutputLanguage.allCases {
        let people = try branch.runSuccessfully("juice", "menu", language: outputLanguage)
        #expect(
          people.outLines.first
            == (outputLanguage == .ko ? "맛있는 쥬스를 만들어 드려요!" : "We make you delicious juice!"))
        #expect(
          people.out.contains(outputLanguage == .ko ? "재료 부족: 딸기 10/16개" : "missing: strawberry 10 of 16"))
        #expect(
          people.out.matches(of: outputLanguage == .ko ? /주문 가능/ : /can be made/).count == 6, people.story)
        for mark in ["🍓", "🍌", "🍍", "🥝", "🥭"] { #expect(people.out.contains(mark)) }
      }
      try branch.runSuccessfully("stock", "set", "strawberry", "16")
      #expect(try branch.json("juice", "menu")["juices"].items.allSatisfy { $0["available"].flag == true })
    }
  }

  @Test("amounts are set and changed by n, never below zero and never above a million")
  func amounts() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      #expect(
        try branch.json("stock", "add", "kiwi", "5")["items"].item(where: "item", is: "kiwi")["quantity"]
          .integer == 15)
      #expect(try branch.runSuccessfully("stock", "add", "키위", "-15", language: .ko).out == "키위 재고: 0개\n")
      try branch.expectRefusal(5, "out_of_stock", of: "stock", "add", "kiwi", "-1")
      try branch.runSuccessfully("stock", "set", "mango", "1000000")
      try branch.expectRefusal(5, "quantity_limit_exceeded", of: "stock", "add", "mango", "1")
      try branch.expectRefusal(2, "usage", of: "stock", "set", "mango", "1000001")
      try branch.expectRefusal(2, "usage", of: "stock", "set", "mango", "-1")
      try branch.expectRefusal(2, "usage", of: "stock", "add", "mango", "0")
      try branch.expectRefusal(2, "usage", of: "stock", "add", "mango", "1000001")
      try branch.expectRefusal(2, "usage", of: "stock", "set", "mango", "many")
      try branch.expectRefusal(2, "usage", of: "juice", "order", "mango", "0")
      try branch.expectRefusal(2, "usage", of: "juice", "order", "mango", "1001")
      #expect(try branch.stock() == Recipes.fresh.merging(["kiwi": 0, "mango": 1_000_000]) { $1 })
      try branch.expectClean()
    }
  }

  @Test("an unknown fruit or juice gets a suggestion, and nothing is ordered")
  func unknown() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.expectRefusal(4, "no_such_juice", of: "juice", "order", "bannana")
      try branch.expectRefusal(4, "no_such_item", of: "stock", "set", "strawbery", "3")
      try branch.expectRefusal(4, "no_such_item", of: "stock", "add", "durian", "3")
      #expect(try branch.order("bannana").err.contains("혹시 banana인가요?"))
      #expect(try branch.run("stock", "set", "망거", "1").err.contains("Did you mean mango?"))
      #expect(try branch.run("stock", "set", "durian", "1").err.contains("Known names: strawberry, banana"))
      #expect(try branch.status().queue("issued") == 0)
      #expect(try branch.stock() == Recipes.fresh)
    }
  }

  @Test("without an open bank there is neither juice nor stock: exit code 3")
  func closed() throws {
    try withScratchBank { branch in
      try branch.expectRefusal(3, "not_open", of: "juice", "order", "banana")
      try branch.expectRefusal(3, "not_open", of: "juice", "menu")
      try branch.expectRefusal(3, "not_open", of: "stock")
      try branch.expectRefusal(3, "not_open", of: "stock", "watch")
    }
  }

  @Test("a client waits for a silent stock service until its timeout, and then nothing is taken")
  func stockAway() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let pid = try #require(try branch.status().worker("stock")?.pid)
      #expect(branch.processes.signal(pid, SIGSTOP))
      for command in [
        ["juice", "order", "banana"], ["stock"], ["stock", "set", "kiwi", "3"], ["juice", "menu"],
      ] {
        let began = ContinuousClock.now
        let outcome = try branch.launch(command + ["--timeout", "300ms", "--json"]).finish()
        #expect(ContinuousClock.now - began >= .milliseconds(300))
        #expect(outcome.code == 75, outcome.story)
        #expect(try outcome.json()["error"]["code"].text == "stock_unavailable", outcome.story)
      }
      let patient = try branch.launch(["juice", "order", "banana", "--json"])
      #expect(branch.processes.signal(pid, SIGCONT))
      #expect(try patient.finish().json()["outcome"].text == "made")
      let left = try branch.stock()
      #expect(left["banana"] == 8)
      // A slow service may still handle the request that timed out: that is why the message advises a retry.
      #expect(left["kiwi"] == 10 || left["kiwi"] == 3)
      try branch.expectClean()
    }
  }

  @Test("without a working juice station an order is withdrawn after a while, and nothing is taken")
  func stationAway() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max", "--juice", "0")
      for command in [["scale", "juice=0"], ["pause", "juice"]] {
        let steered = try branch.launch(command).finish()
        #expect(steered.code == 0, steered.story)
        let outcome = try branch.orderWithShortTimeout("banana", "2")
        #expect(outcome.code == 75, outcome.story)
        let lines = try JSON.lines(outcome.out)
        #expect(lines.map { $0["outcome"].text } == ["withdrawn", "withdrawn", nil], outcome.story)
        #expect(lines.last?["error"]["code"].text == "juice_station_unavailable", outcome.story)
        try branch.runSuccessfully("scale", "juice=1")
      }
      #expect(
        try branch.receipts().map { $0["outcome"].text } == [
          "cancelled", "cancelled", "cancelled", "cancelled",
        ])
      try branch.runSuccessfully("resume", "juice")
      #expect(try branch.order("banana").code == 0)
      #expect(try branch.stock()["banana"] == 8)
      try branch.expectClean()
    }
  }

  @Test("Ctrl-C withdraws orders that are not in progress yet, and reports it")
  func interrupted() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause", "juice")
      let running = try branch.launch(["juice", "order", "banana", "3"])
      try branch.waitUntil("three orders wait") { try branch.status().queue("waiting") == 3 }
      running.signal(SIGINT)
      #expect(try running.finish().code == 128 + SIGINT)
      #expect(try branch.receipts().map { $0["outcome"].text } == ["cancelled", "cancelled", "cancelled"])
      #expect(try branch.stock() == Recipes.fresh)
      try branch.expectClean()
    }
  }

  @Test("a watcher sees the stock, then each change once and in order over kills; it exits with the bank")
  func watching() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let watcher = try branch.launch(["stock", "watch", "--json"])
      let reader = try branch.launch(["stock", "watch"], language: .ko)
      try branch.waitUntil("both watchers see the stock") {
        watcher.lines.count == 1 && reader.lines.count == 1
      }
      #expect(reader.lines == ["🍓 딸기 10 · 🍌 바나나 10 · 🍍 파인애플 10 · 🥝 키위 10 · 🥭 망고 10"])
      for round in 1...5 {
        try branch.runSuccessfully("stock", "set", "kiwi", "\(10 + round)")
        try branch.kill(worker: "stock")
        try branch.runSuccessfully("juice", "order", "kiwi")
      }
      try branch.runSuccessfully("stock", "add", "mango", "-1")
      try branch.waitUntil("every change is seen") { watcher.lines.count == 12 && reader.lines.count == 12 }
      let seen = try watcher.lines.map { try JSON(parsing: $0) }
      let first = try #require(seen[0]["sequence"].integer)
      #expect(seen.dropFirst().map { $0["sequence"].integer } == (first + 1...first + 11).map { $0 })
      #expect(seen.last?["quantity"].integer == 9 && seen.last?["kind"].text == "removed")
      #expect(reader.lines.last?.hasSuffix("망고 10 → 9 (뺌)") == true)
      try branch.runSuccessfully("stop")
      #expect(try watcher.finish().code == 0)
      #expect(try reader.finish().code == 0)
    }
  }

  @Test("a branch may sell other products")
  func otherAssortment() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max", "--juice", "1")
      try branch.runSuccessfully("stop")
      try branch.assortment(
        """
        {"fruits": [{"id": "apple", "ko": "사과", "en": "apple", "emoji": "🍎", "initial": 4}],
         "juices": [{"id": "apple", "ko": "사과쥬스", "en": "apple juice", "recipe": {"apple": 3}}]}
        """)
      try branch.start("--speed", "max")
      #expect(try branch.order("사과").out == "사과쥬스 나왔습니다! 맛있게 드세요!\n")
      #expect(try branch.order("사과").code == 5)
      #expect(try branch.stock()["apple"] == 1)
      #expect(try branch.order("strawberry").code == 4)
      try branch.expectClean()
    }
  }

  @Test(
    "with an invalid file of juices the bank serves its customers, and an order of juice reports the error"
  )
  func wrongAssortment() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("stop")
      try branch.assortment(
        """
        {"fruits": [{"id": "apple", "ko": "사과", "en": "apple", "emoji": "🍎", "initial": 4}],
         "juices": [{"id": "apple", "ko": "사과쥬스", "en": "apple juice", "recipe": {"pear": 3}}]}
        """)
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "5", "--wait")
      let refused = try branch.order("apple", "--timeout", "300ms")
      #expect(refused.code == 75 && refused.err.contains("pear"), refused.story)
      try branch.runSuccessfully("stop")
    }
  }

  @Test("reload makes the branch sell by a changed file, and refuses an invalid one")
  func reload() throws {
    func file(_ kiwis: Int) -> String {
      """
      {"fruits": [{"id": "kiwi", "ko": "키위", "en": "kiwi", "emoji": "🥝", "initial": 4}],
       "juices": [{"id": "kiwi", "ko": "키위쥬스", "en": "kiwi juice", "recipe": {"kiwi": \(kiwis)}}]}
      """
    }
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      #expect(try branch.order("kiwi").code == 0)
      let first = try #require(try branch.status().worker("stock"))
      try branch.runSuccessfully("reload")
      #expect(try branch.status().worker("stock")?.pid == first.pid, "nothing has changed")
      let watcher = try branch.launch(["stock", "watch", "--json"])
      try branch.waitUntil("the watcher sees the stock") { watcher.lines.count == 1 }
      for kiwis in [1, 2] {
        try branch.assortment(file(kiwis))
        let reloaded = Status(try branch.json("reload"))
        #expect(reloaded.worker("stock")?.state == "idle", "the stock is back when reload returns")
        let before = try branch.stock()["kiwi"] ?? 0
        #expect(try branch.order("kiwi").code == 0)
        #expect(try branch.stock()["kiwi"] == before - kiwis, "the new recipe is used")
      }
      #expect(try branch.json("juice", "menu")["juices"].items.count == 1)
      #expect(try branch.order("banana").code == 4)
      let second = try #require(try branch.status().worker("stock"))
      #expect(second.generation == first.generation + 2)
      try branch.assortment(file(0))
      let refused = try branch.run("reload", language: .ko)
      #expect(refused.code == 2 && refused.err.contains("stock.json"), refused.story)
      #expect(try branch.status().worker("stock")?.pid == second.pid && branch.order("kiwi").code == 0)
      try branch.waitUntil("the watcher has seen every change") { watcher.lines.count == 4 }
      try branch.assortment("")
      try branch.expectRefusal(2, "bad_configuration", of: "reload")
      try branch.runSuccessfully("stop")
      #expect(try watcher.finish().code == 0)
    }
  }
}
