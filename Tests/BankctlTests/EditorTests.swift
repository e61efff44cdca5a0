// The stock editor without a terminal: keys from bytes, the requests of keys, and the screen at any size.
import Arguments
import BankModel
import Posix
import StockClient
import Testing
import Time
import Wire

@testable import BankctlCommands

@Suite("The stock editor") struct EditorTests {
  private static let english = MessageCatalog(language: .english)

  private func editor(_ quantities: [String: Quantity] = [:], language: Language = .english) -> StockEditor {
    var editor = StockEditor(.standard, MessageCatalog(language: language))
    editor.notice.isConnected = true
    editor.handle(.snapshot(shelves(quantities)))
    return editor
  }

  // MARK: Keys

  private static let keys: [([UInt8], [Key])] = [
    (Array("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D".utf8), [.up, .down, .right, .left]),
    (Array("\u{1B}OA\u{1B}OB".utf8), [.up, .down]),
    (Array("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~".utf8), [.home, .end, .home, .end]),
    (Array("+-=_".utf8), "+-=_".map(Key.character)), ([0x0D, 0x0A], [.enter, .enter]),
    (Array("−ㅂ가🍓".utf8), "−ㅂ가🍓".map(Key.character)),
    ([3, 4, 26], [.control("c"), .control("d"), .control("z")]),
    (Array("\u{1B}\u{3}\u{1B}[1;\u{1A}A".utf8), [.control("c"), .control("z"), .character("A")]),
    ([0xEA, 0xB0, 3], [.control("c")]),
    (Array("\u{1B}[1;5A\u{1B}[3~\u{1B}[15~q".utf8), [.up, .character("q")]),
    (Array("+\u{1B}[200~b5\r\u{1B}[A\u{1A}".utf8), [.character("+"), .control("z")]),
    (Array("\u{1B}[200~b5\r\u{1B}[A가\u{1B}[201~+".utf8), [.paste, .character("+")]),
    (Array("\u{1B}[200~\u{1B}[201~\u{1B}[200~1\u{3}+".utf8), [.paste, .control("c"), .character("+")]),
    (Array("\u{1B}\u{1B}".utf8), [.escape]), (Array("\u{1B}\u{1B}[A".utf8), [.escape, .up]),
    (Array("\u{1B}xq".utf8), [.character("q")]), ([0xFF, 0x80, 0xC3, 0x28, 0x71], [.character("q")]),
    ([0, 0x1C], []), ([0x7F], [.backspace]),
    (Array("\u{1B}[5~\u{1B}[6~\u{1B}[Z".utf8), [.pageUp, .pageDown, .backTab]),
    (Array("\u{1B}Om\u{1B}Ok\u{1B}OM".utf8), [.character("-"), .character("+"), .enter]),
  ]

  @Test("bytes become keys, in portions of any size", arguments: keys)
  func decoding(bytes: [UInt8], keys: [Key]) {
    var whole = KeyDecoder()
    #expect(whole.take(bytes) == keys)
    var single = KeyDecoder()
    #expect(bytes.flatMap { single.take([$0]) } == keys)
  }

  @Test("an escape without a continuation is the key Esc; half a sequence is none")
  func loneEscape() {
    var keys = KeyDecoder()
    #expect(keys.take([0x1B]) == [] && keys.isWaiting)
    #expect(keys.settle() == .escape && !keys.isWaiting)
    #expect(keys.take([0x1B, 0x1B]) == [.escape] && keys.settle() == .escape, "the key was pressed twice")
    #expect(keys.take(Array("\u{1B}[1;".utf8)) == [] && keys.isWaiting)
    #expect(keys.settle() == nil && !keys.isWaiting)
    #expect(keys.take(Array("A".utf8)) == [.character("A")])
  }

  @Test("a sequence without an end is dropped, and any bytes at all are harmless")
  func noise() {
    var keys = KeyDecoder()
    _ = keys.take(Array("\u{1B}[".utf8) + [UInt8](repeating: UInt8(ascii: "1"), count: 1_000))
    #expect(keys.take([UInt8(ascii: "q")]) == [], "the end of the sequence")
    #expect(keys.take([UInt8(ascii: "q")]) == [.character("q")])
    let seed = RandomSeed.fromSystem()
    print("seed \(seed)")
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      _ = keys.take((0..<100).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
      #expect(keys.settle() == nil || !keys.isWaiting)
    }
  }

  @Test("a notice about an absent service goes with its return, and what was appended to it stays")
  func absence() {
    var notice = ServiceNotice(absence: "away", refusedKey: "ignored")
    notice.say("away")
    notice.isConnected = true
    #expect(notice.last == nil)
    for text in ["away", "ignored"] {
      notice.isConnected = false
      notice.say(text)
      notice.add("2 keys ignored")
      notice.isConnected = true
      #expect(notice.last?.text == "2 keys ignored")
    }
    notice.say("done")
    notice.isConnected = true
    #expect(notice.last?.text == "done")
  }

  // MARK: Requests of keys

  @Test("the arrows choose a fruit and stop at both ends; − and + change the chosen one")
  func choosing() {
    var editor = editor()
    #expect(editor.press(.character("+")) == .change("strawberry", 1))
    #expect(editor.press(.up) == nil && editor.chosen == 0)
    #expect(editor.press(.down) == nil && editor.press(.down) == nil && editor.chosen == 2)
    #expect(
      editor.press(.right) == nil && editor.press(.left) == nil && editor.chosen == 2, "sideways is not down")
    #expect(editor.press(.character("-")) == .change("pineapple", -1))
    #expect(editor.press(.character("\u{2212}")) == .change("pineapple", -1))
    #expect(editor.press(.end) == nil && editor.lines[editor.chosen] == .close)
    #expect(editor.press(.down) == nil && editor.lines[editor.chosen] == .close)
    #expect(editor.press(.character("+")) == nil, "there is nothing to change in Close")
    #expect(editor.press(.enter) == .close)
    #expect(editor.press(.home) == nil && editor.press(.enter) == nil && editor.chosen == 0)
  }

  @Test(
    "it closes by every key that people try",
    arguments: [.escape, .control("d"), .character("q"), .character("ㅂ")] as [Key])
  func closing(key: Key) {
    var editor = editor()
    #expect(editor.press(key) == .close)
  }

  @Test("no amount goes below 0: at 0 no request is sent, and a lost race changes nothing")
  func neverBelowZero() {
    var editor = editor(["strawberry": 1])
    #expect(editor.press(.character("-")) == .change("strawberry", -1))
    editor.handle(.changes([change(1, "strawberry", -1, to: 0)]))
    #expect(editor.press(.character("-")) == nil && editor.notice.last == nil)
    editor.handle(.success(.short([Shortage(item: "strawberry", needed: 1, available: 0)])))
    #expect(editor.notice.last == nil)
    guard case .fruit(_, let quantity) = editor.lines[0] else {
      Issue.record("no fruit")
      return
    }
    #expect(quantity == 0)
  }

  @Test("it shows the stock's changes from any source, and a notice while the stock is away")
  func news() {
    var editor = editor()
    editor.handle(.changes([change(1, "kiwi", 5, to: 15)]))
    #expect(editor.picture?.quantity(of: "kiwi") == 15)
    editor.handle(.snapshot(shelves(["kiwi": 3])))
    #expect(editor.picture?.quantity(of: "kiwi") == 3)
    editor.notice.isConnected = false
    #expect(editor.press(.character("+")) == nil && editor.notice.last?.text == Self.english.editorIgnoredKey)
    #expect(editor.press(.down) == nil && editor.notice.last == nil, "a notice stays until the next key")
    editor.handle(.failure(.tryLater(detail: "d", isInDoubt: false)))
    #expect(editor.notice.last?.text == Self.english.editorWaits)
    editor.handle(.success(.failure(StockFailure(.overflow, subject: "kiwi"))))
    #expect(editor.notice.last?.text.contains("kiwi") == true)
  }

  @Test("the notice that the stock is away disappears when it is back")
  func backAgain() {
    for isPicture in [false, true] {
      var editor = editor()
      editor.notice.isConnected = false
      _ = editor.press(.character("+"))
      #expect(editor.notice.last?.text == Self.english.editorIgnoredKey)
      editor.notice.isConnected = true
      #expect(editor.notice.last == nil)
      // The failure of a request is reported late, when the stock may have been back for long.
      editor.handle(.failure(.tryLater(detail: "d", isInDoubt: false)))
      editor.handle(isPicture ? .snapshot(shelves([:])) : .changes([change(1, "kiwi", 5, to: 15)]))
      #expect(editor.notice.last == nil)
    }
  }

  // MARK: The screen

  @Test(
    "every amount and the chosen line are on a terminal of any size", arguments: [Language.korean, .english])
  func anySize(language: Language) {
    for rows in 1...14 {
      for columns in [10, 14, 20, 30, 80] {
        for chosen in 0...5 {
          var editor = editor(["strawberry": 1_000_000], language: language)
          for _ in 0..<chosen { _ = editor.press(.down) }
          let lines = StockEditorRenderer(editor: editor, palette: .none).lines(
            size: Terminal.Size(columns: columns, rows: rows))
          #expect(lines.count <= rows)
          #expect(lines.allSatisfy { DisplayWidth.of($0) <= columns }, "\(columns): \(lines)")
          #expect(lines.count { $0.hasPrefix("▸") } == 1, "\(rows)×\(columns) at \(chosen): \(lines)")
          let names = Assortment.standard.fruits.map { $0.name(in: language) }
          if rows >= 12, columns >= 30 {
            #expect(
              names.allSatisfy { name in lines.contains { $0.contains(name) } }, "no name is cut: \(lines)")
          }
          if chosen == 0, columns >= 10 { #expect(lines.contains { $0.contains("1000000") }, "\(lines)") }
        }
      }
    }
  }

  @Test("on a terminal with room it has a title, the fruits, Close, and the keys")
  func roomy() {
    let lines = StockEditorRenderer(editor: editor(language: .korean), palette: .none).lines(size: nil)
    #expect(lines.first == "재고 추가")
    #expect(lines.contains("▸ 🍓 딸기      −     10  +"), "\(lines)")
    #expect(lines.contains("  닫기"))
    #expect(lines.last == MessageCatalog(language: .korean).editorKeys)
    var waiting = StockEditor(.standard, Self.english)
    #expect(
      StockEditorRenderer(editor: waiting, palette: .none).lines(size: nil).contains(Self.english.editorWaits)
    )
    waiting.notice.isConnected = true
    waiting.handle(.snapshot(shelves([:])))
    #expect(
      !StockEditorRenderer(editor: waiting, palette: .none).lines(size: nil).contains(
        Self.english.editorWaits)
    )
  }
}

/// Ten of each fruit, except these.
func shelves(_ quantities: [String: Quantity]) -> StockSnapshot {
  StockSnapshot(
    ledger: 1, sequence: 0,
    items: Assortment.standard.fruits.map { fruit in
      let quantity = quantities[fruit.id.name] ?? fruit.initial
      return ItemStock(item: fruit.id, lots: quantity == 0 ? [] : [Lot(dates: nil, quantity: quantity)])
    })
}

func change(
  _ sequence: Int64, _ item: ItemID, _ difference: Quantity, to present: Quantity,
  _ kind: StockChange.Kind = .set, order: OrderID? = nil
) -> StockChange {
  StockChange(
    sequence: sequence, item: item, kind: kind, dates: nil, difference: difference, lot: present,
    present: present,
    order: order, at: WallTime(milliseconds: 1_795_248_000_000))
}

extension ItemID: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}
