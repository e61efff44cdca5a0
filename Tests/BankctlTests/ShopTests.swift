// The juice shop in text and JSON: names, the menu, changes, and all refusals of the stock.
import Arguments
import BankModel
import ControlClient
import Dispatch
import Posix
import StockClient
import Synchronization
import Testing
import Time
import Transport
import VendingClient
import Wire

@testable import BankctlCommands

private let english = MessageCatalog(language: .english)
private let korean = MessageCatalog(language: .korean)

private func hasHangul(_ text: String) -> Bool {
  text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
}

@Suite("The juice shop") struct ShopTests {
  @Test(
    "a juice is known by its name in commands, in Korean and in English, in any spelling",
    arguments: [
      ("strawberry", "strawberry"), ("딸기쥬스", "strawberry"), ("딸기 주스", "strawberry"), ("딸기", "strawberry"),
      ("Strawberry Juice", "strawberry"), ("STRAWBERRY", "strawberry"), ("딸바", "strawberry-banana"),
      ("딸바쥬스", "strawberry-banana"), ("망키쥬스", "mango-kiwi"), ("망키", "mango-kiwi"), ("망고키위쥬스", "mango-kiwi"),
      ("mango", "mango"), ("망고", "mango"),
    ])
  func juiceNames(name: String, juice: String) {
    #expect(ItemNames.juice(named: name, in: .standard)?.id.name == juice)
  }

  @Test(
    "an unknown juice is refused, and similar names are suggested",
    arguments: [
      ("bananna", ["banana"]), ("kiwwi", ["kiwi"]), ("딸바쥬수", ["strawberry-banana"]), ("망거", []), ("", []),
      ("tea", []),
    ])
  func noJuice(name: String, near: [String]) {
    #expect(ItemNames.juice(named: name, in: .standard) == nil)
    let known = Assortment.standard.juices.map { ($0.id, $0.korean) }
    #expect(ItemNames.suggestions(for: name, among: known) == near)
  }

  @Test("a fruit is known by its three names; a name that fits two things fits none")
  func fruitNames() {
    for fruit in Assortment.standard.fruits {
      for name in [fruit.id.name, fruit.korean, fruit.english, " \(fruit.korean) "] {
        #expect(ItemNames.fruit(named: name, in: .standard) == fruit)
      }
    }
    #expect(
      ItemNames.suggestions(for: "망거", among: Assortment.standard.fruits.map { ($0.id, $0.korean) }) == [
        "mango"
      ])
    var doubtful = Assortment.standard
    doubtful.fruits[1].korean = "딸기"
    #expect(ItemNames.fruit(named: "딸기", in: doubtful) == nil)
    #expect(ItemNames.fruit(named: "strawberry", in: doubtful)?.id.name == "strawberry")
  }

  @Test("the menu greys what cannot be made and names what is missing, also without colours")
  func menu() {
    let picture = shelves(["strawberry": 9, "banana": 0])
    let plain = MenuRenderer(assortment: .standard, picture: picture, messages: english, palette: .none).lines
    #expect(plain.first == "We make you delicious juice!")
    #expect(
      plain.contains {
        $0.contains("strawberry-banana juice") && $0.hasSuffix("missing: strawberry 9 of 10, banana 0 of 1")
      })
    #expect(plain.contains { $0.contains("kiwi juice") && $0.hasSuffix("can be made") })
    let coloured = MenuRenderer(
      assortment: .standard, picture: picture, messages: korean, palette: Palette(isOn: true)
    ).lines
    #expect(coloured.contains { $0.contains("\u{1B}[2m딸바쥬스") && $0.contains("재료 부족: 딸기 9/10개, 바나나 0/1개") })
    #expect(coloured.contains { $0.hasPrefix("키위쥬스") && $0.contains("주문 가능") })
  }

  @Test("an item of the stock that is in no file any more is still shown")
  func forgottenItem() {
    var picture = shelves([:])
    picture.items.append(ItemStock(item: "durian", lots: [Lot(dates: nil, quantity: 3)]))
    let menu = MenuRenderer(assortment: .standard, picture: picture, messages: english, palette: .none)
    #expect(menu.shelves.last?.contains("durian") == true)
    #expect(menu.shelvesInOneLine.hasSuffix("durian 3"))
  }

  @Test("the documents have the shapes of the contract")
  func documents() {
    #expect(
      JSONValue.stock(shelves(["kiwi": 3])).text
        == #"{"version":1,"items":[{"item":"strawberry","quantity":10},{"item":"banana","quantity":10},"#
        + #"{"item":"pineapple","quantity":10},{"item":"kiwi","quantity":3},{"item":"mango","quantity":10}]}"#
    )
    let juice = Assortment.standard.juices[1]
    let order = OrderID(day: 3, ticket: 17)
    #expect(
      JSONValue.juice(
        order, juice, "out_of_stock", [Shortage(item: "banana", needed: 2, available: 1)], message: "m"
      ).text
        == #"{"version":1,"order":"3-17","juice":"banana","outcome":"out_of_stock","#
        + #""missing":[{"item":"banana","needed":2,"available":1}],"message":"m"}"#)
    #expect(
      JSONValue.change(change(4, "kiwi", -3, to: 7, .taken, order: order)).text
        == #"{"event":"change","sequence":4,"item":"kiwi","kind":"taken","difference":-3,"quantity":7,"order":"3-17","#
        + #""at":"2026-11-21T08:00:00.000Z"}"#)
    #expect(
      JSONValue.picture(shelves([:])).text.hasPrefix(
        #"{"version":1,"event":"snapshot","ledger":1,"sequence":0,"#))
    #expect(JSONValue.menu(.standard, shelves([:])).text.contains(#""recipe":{"strawberry":10,"banana":1}"#))
  }

  @Test("the alerts are those of the original, to the letter")
  func alerts() {
    #expect(korean.phrases.juiceReady("딸기쥬스") == "딸기쥬스 나왔습니다! 맛있게 드세요!")
    #expect(korean.phrases.tooLittleFruit == "재료가 모자라요. 재고를 수정할까요?")
    #expect(korean.phrases.outOfStock("딸기") == "딸기의 재고가 부족합니다.")
    #expect([korean.phrases.yes, korean.phrases.no, korean.phrases.close] == ["예", "아니오", "닫기"])
    #expect(korean.phrases.stockEditorTitle == "재고 추가")
    #expect(korean.phrases.juiceTitle == "맛있는 쥬스를 만들어 드려요!")
    let shortage = Shortage(item: "strawberry", needed: 16, available: 10)
    #expect(korean.shortageSentence(shortage, of: "딸기") == "딸기의 재고가 부족합니다. (16개 필요, 10개 있음)")
  }

  @Test("people answer a question in many ways, and only a yes is a yes")
  func answers() {
    for yes in ["예", " 예 ", "네", "y", "YES", "Yes"] { #expect(korean.parseYesNo(of: yes) == true, "\(yes)") }
    for no in ["아니오", "아니요", "n", "No"] { #expect(english.parseYesNo(of: no) == false, "\(no)") }
    for neither in ["", "maybe", "예아니오", "1"] {
      #expect(english.parseYesNo(of: neither) == nil, "\(neither)")
    }
  }

  @Test(
    "a change is one line with both amounts and its owner", arguments: StockChange.Kind.allCases)
  func changes(kind: StockChange.Kind) {
    let one = change(1, "kiwi", -3, to: 1_007, kind, order: OrderID("1-9"))
    let line = korean.changed(one, "키위")
    #expect(
      line.hasPrefix("키위 1,010 → 1,007 (") && hasHangul(korean.kind(kind)) && !hasHangul(english.kind(kind)))
    #expect(line.contains("1-9") == [.taken, .returned].contains(kind), "only tickets are named: \(line)")
  }

  @Test(
    "every refusal of the stock has an exit code and a sentence in both languages",
    arguments: StockFailure.Code.allCases)
  func refusals(code: StockFailure.Code) {
    let expected: [StockFailure.Code: Int32] = [
      .unknownItem: 4, .badRequest: 2, .orderConflict: 5, .wasReturned: 5, .overflow: 5, .itemHasDates: 5,
      .tooManyLots: 5,
      .diskFull: 75, .crowded: 75, .slowConsumer: 1,
    ]
    for messages in [english, korean] {
      let commandFailure = messages.commandFailure(about: StockFailure(code, subject: "kiwi", detail: "why"))
      #expect(commandFailure.code == code.name && commandFailure.exit.rawValue == expected[code])
      #expect(
        !commandFailure.message.contains("\n")
          && hasHangul(commandFailure.message) == (messages.language == .korean))
    }
  }

  @Test("one condition has one code, whichever part of the bank refuses")
  func sharedCodes() {
    let conflict = Failure.Code.keyConflict.name
    #expect(
      StockFailure.Code.orderConflict.name == conflict && VendingFailure.Code.orderConflict.name == conflict)
    #expect(StockFailure.Code.unknownItem.name == "no_such_item")
    #expect(VendingFailure.Code.unknownProduct.name == "no_such_product")
    #expect(StockFailure.Code.diskFull.name == Failure.Code.diskFull.name)
    let slow = Failure.Code.slowConsumer.name
    #expect(StockFailure.Code.slowConsumer.name == slow && VendingFailure.Code.slowConsumer.name == slow)
    #expect(StockFailure.Code.crowded.name == VendingFailure.Code.crowded.name)
    // The texts of the messages stay.
    #expect(StockFailure.Code.unknownItem.rawValue == "unknown_item")
  }

  @Test("a service that is away is reported with its reason, and with exit code 75")
  func away() {
    tellAbsence(StockCommand.self, "stock_unavailable")
    tellAbsence(VendingCommand.self, "vending_unavailable")
  }

  @Test(
    "a change sent to a stock that fell silent is not reported as undone; a question is safe"
  )
  func inDoubt() throws {
    let branch = try FakeBranch { _, _ in [.answer(.status(picture()))] }
    defer { branch.end() }
    let stock = try SilentStock(StockClient.socket(inHome: branch.home.path))
    defer { stock.end() }
    let change = try run(["stock", "set", "kiwi", "3", "--timeout", "1s", "--json"], home: branch.home)
    #expect(change.exit == .later && change.output.contains("not known whether the change was made"))
    #expect(!change.output.contains("Nothing was changed"), "\(change.output)")
    let look = try run(["stock", "--timeout", "100ms", "--json"], home: branch.home)
    #expect(look.exit == .later && look.output.contains("Nothing was changed"), "\(look.output)")
  }

  @Test("an order of juice has one connection to the bank, reads no status, and asks for recipes once")
  func order() throws {
    let conversations = Mutex<Set<Int>>([])
    let branch = try FakeBranch { command, conversation in
      conversations.withLock { _ = $0.insert(conversation) }
      switch command {
      case .enqueue(let order):
        let report = EnqueuedReport(day: 1, first: 1, last: order.count, count: order.count)
        return [.answer(.enqueued(report))]
      case .ticket(let number, _): return [.answer(.ticket(.juice(number)))]
      case .awaitTickets: return [.answer(.ended(AwaitedTicketsReport(dead: 0)))]
      default: return [.answer(.status(picture()))]
      }
    }
    defer { branch.end() }
    let stock = try SilentStock(StockClient.socket(inHome: branch.home.path))
    defer { stock.end() }
    let ran = try run(["juice", "order", "banana", "2"], home: branch.home)
    #expect(ran.exit == .done && ran.lines.count == 2, "\(ran.output)")
    #expect(branch.conversations == 1 && conversations.withLock { $0.count } == 1)
    #expect(!branch.heard.contains(.status))
    #expect(stock.heard == [.assortment])
  }

  private func tellAbsence<Command: PresentableCommand>(_: Command.Type, _ code: String) {
    for messages in [english, korean] {
      let error = ServiceClientError<Command>.tryLater(detail: "no listener", isInDoubt: false)
      guard case .commandFailure(let commandFailure) = messages.refusal(error, trouble: "SIGKILL") else {
        Issue.record("no complaint")
        continue
      }
      #expect(commandFailure.exit == .later && commandFailure.code == code)
      #expect(commandFailure.message.contains("SIGKILL") && !commandFailure.message.contains("no listener"))
      #expect(hasHangul(commandFailure.message) == (messages.language == .korean))
    }
    let locked = ServiceClientError<Command>.notPermitted(socket: "/s")
    #expect(english.refusal(locked, trouble: nil) == .control(.notPermitted(socket: "/s")))
  }

  @Test("an order that was not made gives its reason in both languages, for any reason")
  func notMade() {
    let juice = Assortment.standard.juices[0]
    let troubles: [StationTrouble?] = [nil, .stock("why"), .paused, .noStation, .failed]
    let fates: [JuiceOrderTracker.OrderOutcome] = [.cancelled, .withdrawn, .failed, .unfinished]
    for messages in [english, korean] {
      var sentences: Set<String> = []
      for outcome in fates {
        for trouble in troubles {
          for count in [1, 3] {
            let sentence = messages.notMade(
              juice, outcome, OrderID("1-7"), undone: count, of: count + 1, trouble: trouble)
            #expect(sentence.contains("1-7") && !sentence.contains("\n"))
            #expect(hasHangul(sentence) == (messages.language == .korean))
            sentences.insert(sentence)
          }
        }
      }
      #expect(sentences.count == 2 * (3 + troubles.count))
    }
  }

  @Test(
    "without an open bank every command of the shop is exit code 3, in JSON with its code",
    arguments: [
      ["juice", "menu"], ["juice", "order", "kiwi"], ["stock"], ["stock", "set", "kiwi", "1"],
      ["stock", "add", "kiwi", "1"],
      ["stock", "watch"],
    ])
  func closed(messages: [String]) throws {
    let ran = try run(messages + ["--json"], home: BankHome(path: "/nonexistent/home"))
    #expect(ran.exit == .notOpen && ran.output.contains(#""code":"not_open""#))
  }
}

/// A stock that lists its contents, and never answers a change.
private final class SilentStock: Sendable {
  private let isEnded = Mutex(false)
  private let heardCommands = Mutex<[StockCommand]>([])
  private let finished = DispatchSemaphore(value: 0)

  /// All requests received.
  var heard: [StockCommand] { heardCommands.withLock { $0 } }

  init(_ path: String) throws {
    let begun = DispatchSemaphore(value: 0)
    DispatchQueue(label: "stock").async { [self] in
      defer { finished.signal() }
      guard let loop = try? EventLoop() else {
        begun.signal()
        return
      }
      let socket = ServiceSocket<StockRequest, StockResult>(loop: loop)
      socket.onRequest = { [unowned self, unowned socket] session, request in
        heardCommands.withLock { $0.append(request.command) }
        if request.command == .assortment { socket.answer(session, request.number, .assortment(.standard)) }
      }
      try? socket.listen(at: path)
      begun.signal()
      while !isEnded.withLock({ $0 }) {
        _ = try? loop.runOnce(until: SystemClock.monotonic() + .milliseconds(10))
        socket.flush()
      }
      socket.stopListening()
    }
    begun.wait()
  }

  func end() {
    isEnded.withLock { $0 = true }
    finished.wait()
  }
}

extension TicketReport {
  /// A juice that was made.
  fileprivate static func juice(_ number: Int64) -> TicketReport {
    var ticket = waiting(number, service: .juice)
    ticket.state = .done
    ticket.servedOfService = number
    ticket.receipt = ReceiptReport(
      Receipt(
        sequence: number, day: 1, ticket: number, service: .juice, priority: .regular, outcome: .served,
        window: nil, generation: 1, pid: 1, attempts: 1, amount: 0, account: 0,
        issuedAt: WallTime(milliseconds: 0), startedAt: nil, finishedAt: WallTime(milliseconds: 1)),
      ServiceDirectory())
    return ticket
  }
}
