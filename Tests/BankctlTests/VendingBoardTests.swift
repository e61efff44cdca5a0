// The two screens of the vending machine without a terminal: requests of keys, effects of news, and a screen
// that fits any terminal.

import Arguments
import BankModel
import Posix
import Testing
import Time
import VendingClient
import Wire

@testable import BankctlCommands

@Suite("The screens of the vending machine")
struct VendingBoardTests {
  private static func purchase(_ sequence: Int64, _ product: String = "top") -> MoneyChange {
    MoneyChange(
      sequence: sequence, kind: .bought, amount: 1_700, balance: 0, product: ItemID(product),
      request: OrderID("r\(sequence)"), at: WallTime(milliseconds: 0))
  }

  private static func picture(
    _ balance: Won = 5_000, stock: Quantity = 3, sales: Int64 = 0, recent: [MoneyChange] = []
  ) -> VendingSnapshot {
    let products = ProductTable.standard.products.enumerated().map { place, product in
      ProductReport(
        product, stock: place.isMultiple(of: 2) ? stock : 0, expired: place == 1 ? 4 : 0,
        lots: [LotReport(dates: LotDates(made: 1, expires: 9), quantity: stock, description: "x")])
    }
    return VendingSnapshot(
      sequence: 9, balance: balance, availableBalance: balance, today: 20, products: products,
      sales: sales > 0 ? [SalesReport(product: ItemID("top"), count: sales)] : [], recent: recent)
  }

  private func customer(_ picture: VendingSnapshot? = VendingBoardTests.picture()) -> CustomerBoard {
    var board = CustomerBoard(MessageCatalog(language: .english))
    board.notice.isConnected = true
    if let picture { board.handle(.snapshot(picture)) }
    return board
  }

  private func manager(_ picture: VendingSnapshot? = VendingBoardTests.picture()) -> AdminBoard {
    var board = AdminBoard(MessageCatalog(language: .english))
    board.notice.isConnected = true
    if let picture { board.handle(.snapshot(picture)) }
    return board
  }

  @Test("1 and 5 put money in, r returns it, a leads to the manager, q leaves")
  func keys() {
    var board = customer()
    #expect(board.press(.character("1")) == .insert(1_000))
    #expect(board.press(.character("5")) == .insert(5_000))
    #expect(board.press(.character("r")) == .giveChange)
    #expect(board.press(.character("a")) == .manage)
    #expect(board.press(.character("q")) == .leave && board.press(.escape) == .leave)
    #expect(board.press(.character("7")) == nil)
  }

  @Test("the arrows choose and stop at the edges, Enter buys what is chosen")
  func choosing() {
    var board = customer()
    board.columns = 5
    #expect(board.press(.enter) == .buy(ItemID("strawberry-milk")))
    _ = board.press(.up)
    _ = board.press(.left)
    #expect(board.chosen == 0)
    _ = board.press(.down)
    #expect(board.press(.enter) == .buy(ItemID("top")))
    _ = board.press(.down)
    #expect(board.chosen == 5)
    _ = board.press(.end)
    _ = board.press(.right)
    #expect(board.press(.character(" ")) == .buy(ItemID("monster")))
  }

  @Test("a machine that is away gets no request for old keys later")
  func away() {
    var board = customer()
    board.notice.isConnected = false
    for key in [Key.character("1"), .enter, .character("r")] {
      #expect(board.press(key) == nil && board.notice.last?.isAlarm == true)
    }
    var unseen = manager(nil)
    #expect(unseen.press(.character("d")) == nil && unseen.notice.last?.isAlarm == true)
    #expect(unseen.press(.character("+")) == nil)
  }

  @Test("news change the display, and a refusal is shown until the next key")
  func news() {
    var board = customer()
    var product = Self.picture().products[0]
    product.stock = 2
    board.handle(
      .news(
        VendingChanges(
          sequence: 10, balance: 4_100, availableBalance: 4_100, today: 20, products: [product],
          purchases: [Self.purchase(10)])))
    #expect(board.picture?.balance == 4_100 && board.picture?.products[0].stock == 2)
    #expect(
      board.picture?.sales == [SalesReport(product: ItemID("top"), count: 1)] && board.purchases.count == 1)
    board.handle(.success(.failure(VendingFailure(.soldOut, subject: "coke"))))
    #expect(board.notice.last?.text == "It is sold out.")
    _ = board.press(.right)
    #expect(board.notice.last == nil)
  }

  @Test("the strip scrolls as far as there are purchases, and requests those that it does not have")
  func strip() {
    let recent = (101...200 as ClosedRange<Int64>).map { Self.purchase($0) }
    var board = customer(Self.picture(sales: 200, recent: recent))
    var wishes: [CustomerBoard.UserCommand] = []
    for _ in 0..<150 { if let userCommand = board.press(.character(",")) { wishes.append(userCommand) } }
    #expect(board.scrollOffset == 99 && wishes.contains(.older(before: 101)))
    board.handle(older: (1...100 as ClosedRange<Int64>).map { Self.purchase($0, "coke") })
    for _ in 0..<150 { _ = board.press(.character(",")) }
    #expect(board.scrollOffset == 199 && board.purchases.count == 200)
    let lines = CustomerBoardRenderer(board: board, palette: .none).lines(size: nil)
    #expect(lines.contains { $0.contains("Purchases 200 │ 🥤 … │") }, "\(lines)")
    for _ in 0..<300 { _ = board.press(.character(".")) }
    #expect(board.scrollOffset == 0)
  }

  @Test("the manager restocks, takes out, lists the expired and throws them away; Close leads back")
  func managing() {
    var board = manager()
    #expect(board.press(.character("+")) == .add(ItemID("strawberry-milk"), 1))
    #expect(board.press(.character("0")) == .add(ItemID("strawberry-milk"), 10))
    #expect(board.press(.character("-")) == .remove(ItemID("strawberry-milk"), 1))
    #expect(board.press(.character("d")) == .discardExpired)
    #expect(board.press(.enter) == nil)
    _ = board.press(.character("e"))
    #expect(board.products.map(\.id.name) == ["chocolate-milk"])
    #expect(board.press(.character("-")) == .remove(ItemID("chocolate-milk"), 1))
    _ = board.press(.end)
    #expect(board.isCloseSelected && board.press(.enter) == .close)
  }

  @Test("the notice that the machine is away disappears when it is back")
  func backAgain() {
    var boards = (customer(), manager())
    (boards.0.notice.isConnected, boards.1.notice.isConnected) = (false, false)
    _ = (boards.0.press(.enter), boards.1.press(.character("+")))
    #expect(boards.0.notice.last?.isAlarm == true && boards.1.notice.last?.isAlarm == true)
    (boards.0.notice.isConnected, boards.1.notice.isConnected) = (true, true)
    #expect(boards.0.notice.last == nil && boards.1.notice.last == nil)
    boards.0.handle(.failure(.tryLater(detail: "d", isInDoubt: false)))
    boards.1.handle(.failure(.tryLater(detail: "d", isInDoubt: false)), .discardExpired)
    #expect(boards.0.notice.last != nil && boards.1.notice.last != nil)
    boards.0.handle(.snapshot(Self.picture()))
    boards.1.handle(.snapshot(Self.picture()))
    #expect(boards.0.notice.last == nil && boards.1.notice.last == nil)
  }

  @Test("the arrows to the side choose no line of the manager's")
  func sideways() {
    var board = manager()
    _ = board.press(.down)
    _ = board.press(.right)
    _ = board.press(.left)
    #expect(board.chosen == 1)
  }

  @Test(
    "the hints fit 80 columns, and are broken between them if there are fewer",
    arguments: [
      Language.korean, .english,
    ])
  func hints(language: Language) {
    let messages = MessageCatalog(language: language)
    #expect(messages.customerKeys.contains(" , . "), "the keys that scroll the purchases are named")
    for hint in [messages.customerKeys, messages.managerKeys, messages.editorKeys] {
      #expect(DisplayWidth.of(hint) <= 80, "\(DisplayWidth.of(hint)): \(hint)")
      for columns in [20, 40, 80] {
        let lines = Screen.hints(hint, columns: columns)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= columns }, "\(lines)")
        let whole = hint.split(separator: " · ").filter { DisplayWidth.of(String($0)) <= columns }
        #expect(whole.allSatisfy { part in lines.contains { $0.contains(part) } }, "\(lines)")
      }
    }
  }

  @Test(
    "no name, price or amount is cut if there is room, also on a narrow terminal",
    arguments: [
      Language.korean, .english,
    ])
  func names(language: Language) {
    var boards = (
      CustomerBoard(MessageCatalog(language: language)), AdminBoard(MessageCatalog(language: language))
    )
    (boards.0.notice.isConnected, boards.1.notice.isConnected) = (true, true)
    boards.0.handle(.snapshot(Self.picture()))
    boards.1.handle(.snapshot(Self.picture()))
    let balance = MessageCatalog(language: language).balance(5_000)
    for columns in [20, 40, 80, 100, 200] {
      let size = Terminal.Size(columns: columns, rows: 60)
      boards.0.columns = CustomerBoardRenderer.columns(size: size, of: boards.0)
      let customer = CustomerBoardRenderer(board: boards.0, palette: .none).lines(size: size)
      let manager = AdminBoardRenderer(board: boards.1, palette: .none).lines(size: size)
      #expect(customer.contains { $0.contains(balance) }, "\(columns): \(customer)")
      for product in Self.picture().products {
        let name = product.name(in: language)
        #expect(customer.contains { $0.contains(name) }, "\(name) at \(columns): \(customer)")
        #expect(manager.contains { $0.contains(name) }, "\(name) at \(columns): \(manager)")
        #expect(
          customer.contains { $0.contains("\(MessageCatalog.grouped(product.price)) ×\(product.stock)") })
      }
      let expired = MessageCatalog(language: language).expiredPieces(4)
      #expect(manager.contains { $0.contains(expired) }, "\(columns): \(manager)")
    }
  }

  /// A machine whose products have more lots, sales and amounts than a narrow terminal has room for.
  private static func crowded() -> VendingSnapshot {
    var picture = picture(5_000, stock: 1_000)
    for place in picture.products.indices {
      picture.products[place].expired = place.isMultiple(of: 3) ? 1_000_000 : 0
      picture.products[place].lots = (0..<5).map { lot in
        LotReport(dates: LotDates(made: lot, expires: lot + 7), quantity: 12_345, description: "x")
      }
    }
    picture.sales = picture.products.map { SalesReport(product: $0.id, count: 3_000) }
    return picture
  }

  @Test(
    "all that is cut or hidden has a mark; no amount, price or share is cut on small terminals",
    arguments: [Language.korean, .english])
  func marks(language: Language) {
    let (messages, machine) = (MessageCatalog(language: language), Self.crowded())
    var boards = (CustomerBoard(messages), AdminBoard(messages))
    (boards.0.notice.isConnected, boards.1.notice.isConnected) = (true, true)
    boards.0.handle(.snapshot(machine))
    boards.1.handle(.snapshot(machine))
    for (columns, rows) in [20, 40, 80, 120].flatMap({ columns in [8, 10, 16, 24, 60].map { (columns, $0) } })
    {
      let size = Terminal.Size(columns: columns, rows: rows)
      boards.0.columns = CustomerBoardRenderer.columns(size: size, of: boards.0)
      for key in [Key.home, .down, .down, .end] {
        (_, _) = (boards.0.press(key), boards.1.press(key))
        let customer = CustomerBoardRenderer(board: boards.0, palette: .none).lines(size: size)
        let manager = AdminBoardRenderer(board: boards.1, palette: .none).lines(size: size)
        expectMarks(customer, machine, 10, messages) {
          "\(MessageCatalog.grouped($0.price)) ×\(MessageCatalog.grouped($0.stock))"
        }
        expectMarks(left(of: manager, columns), machine, 11, messages) { messages.pieces($0.stock) }
        // A lot and a share are whole or not there.
        for line in manager {
          if line.contains("1970-") { #expect(line.contains(" ×12,345"), "\(size): \(manager)") }
          if line.contains("3,000 (") { #expect(line.contains("(10.0%)"), "\(size): \(manager)") }
        }
        let shares = manager.count { $0.contains("(10.0%)") }
        let hidden = shares > 0 && shares < 10
        #expect(
          !hidden || manager.contains { $0.hasSuffix(messages.more(10 - shares)) }, "\(size): \(manager)")
        let lots = manager.count { $0.contains("1970-") }
        #expect(
          lots == 0 || manager.contains { line in (2...4).contains { line.contains(messages.more($0)) } },
          "\(size): \(manager)")
      }
    }
  }

  /// The manager's products, without the shares beside them.
  private func left(of lines: [String], _ columns: Int) -> [String] {
    guard columns >= 100 else { return lines }
    return lines.map { line in
      let products = line.prefix(60)
      return String(products.prefix(60 - products.reversed().prefix { $0 == " " }.count))
    }
  }

  /// Every product is listed with its amount, or counted as hidden.
  private func expectMarks(
    _ lines: [String], _ machine: VendingSnapshot, _ total: Int, _ messages: MessageCatalog,
    _ amount: (ProductReport) -> String
  ) {
    let signs = machine.products.count { product in lines.contains { $0.contains(product.emoji) } }
    let counted = lines.reduce(0) { sum, line in
      ["↑", "↓", "↕"].contains { line.contains($0 + " ") }
        ? sum + line.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }.reduce(0, +) : sum
    }
    let close = lines.contains { $0.hasSuffix(messages.phrases.close) } ? 1 : 0
    #expect(signs + close + counted == total, "\(signs) + \(close) + \(counted): \(lines)")
    for product in machine.products where product.stock > 0 {
      for line in lines where line.contains(amount(product).prefix(4)) && line.contains(product.emoji) {
        #expect(line.contains(amount(product)), "\(lines)")
      }
    }
  }

  @Test("shares add up to a hundred percent")
  func shares() {
    #expect(SharePie.shares(of: [1, 1, 1], in: 1_000) == [334, 333, 333])
    #expect(SharePie.shares(of: [2, 1], in: 1_000) == [667, 333])
    #expect(SharePie.shares(of: [], in: 1_000) == [] && SharePie.shares(of: [0], in: 1_000) == [0])
    #expect(SharePie.shares(of: [.max / 2, .max / 2, 1], in: 1_000) == [500, 500, 0])
    let seed = RandomSeed.fromSystem()
    print("seed \(seed)")
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let counts = (0..<chance.draw(1...12)).map { _ in chance.draw(1...10_000) }
      let shares = SharePie.shares(of: counts, in: 1_000)
      #expect(shares.reduce(0, +) == 1_000, "\(counts)")
      #expect(zip(counts, shares).allSatisfy { $1 >= $0 * 1_000 / counts.reduce(0, +) }, "\(counts)")
    }
    var picture = Self.picture()
    picture.sales = ["top", "coke", "hot6"].map { SalesReport(product: ItemID($0), count: 1) }
    let legend = SharePie(picture, MessageCatalog(language: .english)).legend(rows: 9)
    #expect(
      legend.count == 3 && legend.count { $0.hasSuffix("(33.3%)") } == 2 && legend[0].hasSuffix("(33.4%)"))
  }

  @Test("a screen never has more lines than the terminal, and none wider")
  func sizes() {
    let purchases = (1...120 as ClosedRange<Int64>).map { Self.purchase($0, $0 % 3 == 0 ? "coke" : "top") }
    var boards = (customer(Self.picture(sales: 120, recent: purchases)), manager(Self.picture(sales: 120)))
    for rows in [1, 2, 3, 5, 8, 13, 14, 20, 24, 50] {
      for columns in [1, 7, 20, 31, 32, 40, 79, 80, 120, 200] {
        let size = Terminal.Size(columns: columns, rows: rows)
        boards.0.columns = CustomerBoardRenderer.columns(size: size, of: boards.0)
        for key in [Key.down, .right, .end, .home] {
          (_, _) = (boards.0.press(key), boards.1.press(key))
          for lines in [
            CustomerBoardRenderer(board: boards.0, palette: .none).lines(size: size),
            AdminBoardRenderer(board: boards.1, palette: .none).lines(size: size),
          ] {
            #expect(lines.count <= rows, "\(rows)×\(columns)")
            let widest = lines.map { DisplayWidth.of($0) }.max() ?? 0
            #expect(widest <= columns, "\(rows)×\(columns): \(lines)")
          }
        }
      }
    }
  }

  @Test(
    "every product has a picture of three lines, what can be bought is marked, and what is sold out is not")
  func drawings() {
    for product in Self.picture().products {
      let drawing = ProductDrawing.lines(product)
      #expect(drawing.count == 3 && drawing.allSatisfy { DisplayWidth.of($0) <= 12 })
      #expect(drawing[1].contains(product.emoji))
    }
    let text = CustomerBoardRenderer(board: customer(), palette: .none).lines(size: nil).joined(
      separator: "\n")
    #expect(text.contains("●strawberry m") && !text.contains("●chocolate"), "\(text)")
  }

  @Test("the pie gives each product its share of the purchases")
  func pie() {
    var picture = Self.picture()
    picture.sales = [
      SalesReport(product: ItemID("top"), count: 3), SalesReport(product: ItemID("coke"), count: 1),
    ]
    let pie = SharePie(picture, MessageCatalog(language: .english))
    #expect(pie.legend(rows: 9) == ["█ Maxim T.O.P 3 (75.0%)", "▓ Coca-Cola 1 (25.0%)"])
    let places = pie.lines().dropFirst().prefix(9).joined()
    let (large, small) = (places.count { $0 == "█" }, places.count { $0 == "▓" })
    let share = Double(large) / Double(large + small)
    #expect(share > 0.68 && share < 0.82, "\(share)")
    #expect(SharePie(Self.picture(), MessageCatalog(language: .korean)).lines() == ["구매 비율", "없습니다."])
  }
}
