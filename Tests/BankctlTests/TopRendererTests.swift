// The dashboard on any terminal, in both languages: golden lines, and rules for every size.
import Arguments
import BankModel
import Posix
import StockClient
import Testing
import Time
import VendingClient
import Wire

@testable import BankctlCommands

@Suite("The screen of the dashboard") struct TopRendererTests {
  private func lines(
    _ model: TopModel, _ columns: Int, _ rows: Int, after milliseconds: Int64 = 0, _ palette: Palette = .none
  ) -> [String] {
    TopRenderer(model: model, now: TopFixture.later(milliseconds), palette: palette)
      .lines(size: Terminal.Size(columns: columns, rows: rows)).lines
  }

  // MARK: Golden lines

  private static let narrow: [Language: [String]] = [
    .english: [
      "open · day 3 · Business time - 01:02:781", "waiting 7 · serving 3 · served 1,265",
      "served/s 12  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁", "[1 Windows]  2  3 (1)  4  5  6",
      "  window     state         ticket", "▸ deposit-1  serving      1 · 40%",
      "  deposit-2  serving         2 +2", "  loan-1     idle               -",
      "  juice-1    backing off        -", "", "", "? help · q quits · ⏎ customer · p pause",
    ],
    .korean: [
      "영업 중 · 영업 3일차 · 01:02:781", "대기중 7 · 업무중 3 · 완료 1,265", "초당 완료 12  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁",
      "[1 창구]  2  3 (1)  4  5  6", "  창구       상태             번호", "▸ deposit-1  업무중        1 · 40%",
      "  deposit-2  업무중           2 +2", "  loan-1     쉬는 중             -",
      "  juice-1    재시작 대기         -", "", "", "? 도움말 · q 나가기 · ⏎ 고객 · p 중지",
    ],
  ]

  private static let usual: [Language: [String]] = [
    .english: [
      "open · day 3 · Business time - 01:02:781 · pid 4958, generation 2",
      "issued 1,276 = waiting 7 + serving 3 + served 1,265 + delayed 1 + dead 1",
      "served/s 12 · 10 s 9.9 · 10 min 1.5  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁",
      "[1 Windows]  2 Lines  3 Dead letters (1)  4 Stock  5 Vending  6 Log", "",
      "  window      pid  gen  state         ticket      ms  served  restarts  5 s",
      "▸ deposit-1  4961    1  serving      1 · 40%   1,400      12         0  ▁▁▁▁▁",
      "  deposit-2  4962    3  serving         2 +2      90   1,250         2  ▁▁▁▁▁",
      "  loan-1     4963    1  idle               -       -       3         0  ▁▁▁▁▁",
      "  juice-1       -    2  backing off        -       -       0         1  ▁▁▁▁▁",
    ],
    .korean: [
      "영업 중 · 영업 3일차 · 업무시간 - 01:02:781 · pid 4958, 2세대", "발급 1,276 = 대기중 7 + 업무중 3 + 완료 1,265 + 예약 1 + 보류 1",
      "초당 완료 12 · 10초 9.9 · 10분 1.5  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁",
      "[1 창구]  2 대기열  3 보류 (1)  4 재고  5 자판기  6 로그", "",
      "  창구        pid  세대  상태             번호      ms   완료  재시작  5초",
      "▸ deposit-1  4961     1  업무중        1 · 40%   1,400     12       0  ▁▁▁▁▁",
      "  deposit-2  4962     3  업무중           2 +2      90  1,250       2  ▁▁▁▁▁",
      "  loan-1     4963     1  쉬는 중             -       -      3       0  ▁▁▁▁▁",
      "  juice-1       -     2  재시작 대기         -       -      0       1  ▁▁▁▁▁",
    ],
  ]

  private static let wide: [Language: [String]] = [
    .english: [
      "  window     service   pid  gen  state         ticket      ms  served  restarts  memory  5 s",
      "▸ deposit-1  deposit  4961    1  serving      1 · 40%   1,400      12         0  7.6 MB  ▁▁▁▁▁",
      "  deposit-2  deposit  4962    3  serving         2 +2      90   1,250         2  7.9 MB  ▁▁▁▁▁",
      "  loan-1     loan     4963    1  idle               -       -       3         0  7.8 MB  ▁▁▁▁▁",
      "  juice-1    juice       -    2  backing off        -       -       0         1       -  ▁▁▁▁▁",
    ],
    .korean: [
      "  창구       업무   pid  세대  상태             번호      ms   완료  재시작  메모리  5초",
      "▸ deposit-1  예금  4961     1  업무중        1 · 40%   1,400     12       0  7.6 MB  ▁▁▁▁▁",
      "  deposit-2  예금  4962     3  업무중           2 +2      90  1,250       2  7.9 MB  ▁▁▁▁▁",
      "  loan-1     대출  4963     1  쉬는 중             -       -      3       0  7.8 MB  ▁▁▁▁▁",
      "  juice-1    쥬스     -     2  재시작 대기         -       -      0       1       -  ▁▁▁▁▁",
    ],
  ]

  @Test("the windows at 40 × 12, 80 × 24 and 200 × 50", arguments: [Language.english, .korean])
  func windows(language: Language) {
    let model = TopFixture.model(language)
    #expect(lines(model, 40, 12) == Self.narrow[language])
    let usual = lines(model, 80, 24)
    #expect(Array(usual.prefix(10)) == Self.usual[language])
    #expect(usual.count == 24 && usual.last?.hasPrefix(language == .korean ? "? 도움말" : "? help") == true)
    let wide = lines(model, 200, 50)
    #expect(Array(wide[5..<10]) == Self.wide[language] && wide.count == 50)
  }

  @Test(
    "a long text costs no column: state and ticket at 40 columns, every reason at 80, dead counted",
    arguments: [Language.english, .korean])
  func longTexts(language: Language) {
    let messages = MessageCatalog(language: language)
    let name = "averyveryveryverylongservicename_for_layout.tests-of-the-top"
    var frame = TopFixture.frame()
    frame.windows[2].window = name + "-1"
    frame.services[1].pauseReason = String(repeating: "y", count: 200)
    if let service = ServiceName(name) { frame.services[0].service = service }
    let model = TopFixture.model(language, frame)
    let narrow = lines(model, 40, 12)
    #expect(narrow.contains { $0.contains(messages.state(.idle)) }, "\(narrow)")
    #expect(
      narrow.contains { $0.contains("1 · 40%") } && narrow.contains { $0.contains("3 (1)") }, "\(narrow)")
    #expect(
      narrow.contains { $0.hasPrefix("  averyv") && $0.contains("…") && $0.contains("top-1 ") }, "\(narrow)")
    #expect(narrow.contains { $0.contains("deposit-1") }, "a name with enough room is whole")
    var services = model
    services.press("2")
    for columns in [40, 80] {
      let lines = lines(services, columns, 24)
      #expect(
        lines.contains { $0.contains(messages.paused) } && lines.contains { $0.contains("avery") }, "\(lines)"
      )
    }
    var dead = model
    let letters = ["short reason", String(repeating: "x", count: 160)].enumerated().map { place, reason in
      TopFixture.letter(Int64(place + 1), reason)
    }
    dead.press("3")
    dead.handle(.tickets(letters), to: .tickets(TicketQuery(state: .dead)), more: false)
    for columns in [40, 80] {
      let lines = lines(dead, columns, 24)
      let isWide = columns == 80
      #expect(
        lines.contains { $0.contains(messages.reasonHeading) } && lines.contains { $0.contains("…") },
        "\(lines)")
      #expect(lines.contains { $0.contains("short reason") } || !isWide, "\(lines)")
    }
  }

  @Test("g and G lead to the first and the last row, on every page and in every text")
  func ends() {
    var long = TopFixture.frame()
    long.windows = (1...300).map { BoardWindow(window: "deposit-\($0)", service: .deposit, state: .idle) }
    var model = TopFixture.model(.english, long)
    model.press("G")
    #expect(model.selected(at: TopFixture.begin)?.key == "deposit-300")
    model.press("g")
    #expect(model.selected(at: TopFixture.begin)?.key == "deposit-1")
    model.press("Gㅎ")
    #expect(model.selected(at: TopFixture.begin)?.key == "deposit-1", "the same key of a Korean keyboard")
    model.press("?")
    #expect(lines(model, 100, 40).contains { $0.hasPrefix("g G ") })
  }

  @Test("the lines: waiting by service and grade, pauses with reasons, and the first waiting")
  func services() {
    var model = TopFixture.model()
    model.press("2")
    let lines = lines(model, 120, 30)
    #expect(
      lines.contains(
        "▸ deposit  open          2        5        3        0     0       1.5  VVIP 1 · regular 4"))
    #expect(
      lines.contains(
        "  juice    paused        1        2        0        0     1       0.0  others 2 · no blender"))
    #expect(lines.contains("  7        deposit  VVIP") && lines.contains("  8        juice    regular"))
    var frame = TopFixture.frame()
    frame.hidden.waiting = 1_234
    model.handle(frame, at: TopFixture.begin)
    #expect(self.lines(model, 120, 30).contains("+1234 more"))
  }

  @Test(
    "the log, with a death and its signal, and a range of tickets", arguments: [Language.english, .korean])
  func log(language: Language) {
    var model = TopFixture.model(language)
    model.press("6")
    let lines = lines(model, 90, 20)
    let wanted =
      language == .english
      ? [
        "  03:15:41.500  tickets 1–10 issued", "  03:15:42.100  1 started · deposit-1",
        "▸ 03:15:42.800  process died while serving 2 · deposit-2 · SIGKILL  deposit  pid 4951",
      ]
      : [
        "  03:15:41.500  1–10번 번호표 발급", "  03:15:42.100  1번 업무 시작 · deposit-1",
        "▸ 03:15:42.800  2번 업무중 프로세스 종료 · deposit-2 · SIGKILL  예금  pid 4951",
      ]
    for line in wanted { #expect(lines.contains { $0.hasPrefix(line) }, "\(lines)") }
  }

  // MARK: Changes without a frame

  @Test("the timer and the milliseconds of a customer run by themselves, and the plots by the second")
  func time() {
    var model = TopFixture.model()
    #expect(model.pace(at: TopFixture.begin) == .milliseconds(100))
    let later = lines(model, 80, 24, after: 219)
    #expect(later[0].contains("01:03:000") && later.contains { $0.contains("1 · 40%   1,619") })
    var frame = TopFixture.frame(served: 1_275, after: 400)
    frame.windows[0].served += 10
    frame.isBusinessTimeRunning = false
    model.handle(frame, at: TopFixture.later(400))
    // The second in which they were served is over at 500 ms.
    #expect(lines(model, 200, 24, after: 499)[2].hasSuffix("▁▁"))
    #expect(lines(model, 200, 24, after: 500)[2].hasSuffix("▁█"))
    #expect(lines(model, 200, 24, after: 2_500)[2].hasSuffix("▁█▁▁"))
    #expect(lines(model, 200, 24, after: 500).contains { $0.contains("deposit-1") && $0.hasSuffix("▁▁▁▁█") })
    #expect(
      lines(model, 200, 24, after: 9_000)[0].contains("01:03:181"), "no customer is served, so it stops")
    #expect(model.pace(at: TopFixture.later(9_000)) == .seconds(1))
    #expect(model.pace(at: TopFixture.later(70_000)) == nil, "nothing more will change")
  }

  // MARK: At every size

  /// The models of every page and every mode.
  private func everything(_ language: Language) -> [(String, TopModel)] {
    var models: [(String, TopModel)] = []
    for keys in [
      "1", "2", "3", "4", "5", "6", "?", "1/loan", "1/xyz\r", "2jjjx", "1K", "1Ky", "1\r", "1z", "1>>>",
    ] {
      var model = TopFixture.model(language)
      let stock = StockSnapshot(
        ledger: 1, sequence: 0,
        items: Assortment.standard.fruits.map {
          ItemStock(item: $0.id, lots: [Lot(dates: nil, quantity: 10)])
        })
      model.shop.assortment = .standard
      model.shop.handle(.snapshot(stock))
      model.press(keys)
      models.append((keys, model))
    }
    models.append(("nothing", TopFixture.model(language, nil)))
    var long = TopFixture.frame()
    long.waiting = (1...200).map { BoardWaiting(ticket: $0, service: .loan, priority: .vip) }
    long.windows = (1...300).map { BoardWindow(window: "deposit-\($0)", service: .deposit, state: .idle) }
    (long.counts.served, long.counts.issued) = (.max, .max)
    long.businessTime = .milliseconds(.max / 2_000_000)
    for keys in ["1", "2", "2j", "1G"] {
      var model = TopFixture.model(language, long)
      model.press(keys)
      if keys == "1G" { _ = model.press(.end, at: TopFixture.begin) }
      models.append(("long " + keys, model))
    }
    return models
  }

  @Test(
    "it fills the terminal and never more, at any size, on any page, in any language",
    arguments: [Language.english, .korean])
  func sizes(language: Language) {
    for (keys, model) in everything(language) {
      for columns in [1, 7, 20, 40, 80, 200] {
        for rows in [1, 3, 5, 8, 12, 50] {
          let lines = lines(model, columns, rows, after: 0, Palette(isOn: rows > 3))
          #expect(lines.count == rows, "\(keys) at \(columns)×\(rows)")
          let widest = lines.map { Screen.width(of: $0) }.max() ?? 0
          #expect(widest <= columns, "\(keys) at \(columns)×\(rows): \(lines)")
        }
      }
    }
  }

  @Test("from 40 × 12 on the selected row is shown, and hidden rows are counted")
  func selected() {
    var long = TopFixture.frame()
    long.windows = (1...300).map { BoardWindow(window: "deposit-\($0)", service: .deposit, state: .idle) }
    for size in [(40, 12), (80, 24), (200, 50)] {
      for step in [0, 1, 150, 299] {
        var model = TopFixture.model(.english, long)
        for _ in 0..<step { model.press("j") }
        let lines = lines(model, size.0, size.1)
        #expect(lines.contains { $0.hasPrefix("▸ deposit-\(step + 1) ") }, "\(lines)")
        let shown = lines.count { $0.contains("deposit-") }
        let hidden = lines.filter { $0.hasPrefix("↑") || $0.hasPrefix("↓") }
          .compactMap { Int($0.filter(\.isNumber)) }.reduce(0, +)
        #expect(shown + hidden == 300, "\(lines)")
      }
    }
  }

  // MARK: Questions and notices

  @Test("a text longer than the screen is scrolled by the same keys, to its end and no further")
  func pushing() {
    var model = TopFixture.model()
    model.press("?")
    func look() -> [String] {
      let picture = TopRenderer(model: model, now: TopFixture.begin, palette: .none)
      let (lines, room) = picture.lines(size: Terminal.Size(columns: 100, rows: 12))
      model.room = room
      return lines
    }
    #expect(look().contains { $0.hasPrefix("↓ ") })
    for _ in 0..<100 { model.press("j") }
    #expect(look().contains { $0.hasPrefix("q ") } && look().contains { $0.hasPrefix("↑ ") })
    model.press("k")
    #expect(!look().contains { $0.hasPrefix("q ") }, "presses beyond the end need not be undone")
  }

  @Test("a question is above the keys; the filter is shown while it is typed and while it holds")
  func asking() {
    var model = TopFixture.model()
    model.press("K")
    #expect(
      lines(model, 100, 24).contains("Kill deposit-1, generation 1, pid 4961, customer 1? [y/N]"))
    model.press("n/loan")
    #expect(lines(model, 100, 24).contains { $0.hasPrefix("Filter: loan▏") })
    model.press("\r")
    #expect(lines(model, 100, 24).contains("Filter: loan"))
    model.notice.isConnected = false
    #expect(lines(model, 100, 24).contains(model.messages.bankWaits))
  }

  @Test("a window that was given up, and text from outside, are shown safely")
  func trouble() {
    var frame = TopFixture.frame()
    frame.windows[3].isFailed = true
    frame.windows[2].window = "loan\u{1B}[2J-1"
    frame.services[2].pauseReason = "no\u{7}blender"
    (frame.time, frame.rates.servedSecond, frame.windows[0].since) = (.max, .min, .min)
    var model = TopFixture.model(.english, frame)
    for keys in ["1", "2", "6"] {
      model.press(keys)
      for line in lines(model, 200, 50) {
        #expect(!line.unicodeScalars.contains { $0.value < 0x20 }, "\(line)")
      }
    }
    model.press("1")
    #expect(lines(model, 100, 24).contains { $0.contains("juice-1") && $0.contains("failed") })
  }

  @Test("every key with an effect is in the help, K only if processes may be killed")
  func help() {
    for isChaos in [true, false] {
      var model = TopFixture.model(isChaos: isChaos)
      model.press("?")
      let lines = lines(model, 100, 40)
      for key in ["⏎", "/", "< >", "p", "+ −", "r", "x", "z", "Esc", "q", "Tab 1–6"] {
        #expect(lines.contains { $0.hasPrefix(key + " ") }, "\(key)")
      }
      #expect(lines.contains { $0.hasPrefix("K ") } == isChaos)
      model.press("q")
      #expect(self.lines(model, 200, 40).last?.contains("K kill") == isChaos)
    }
  }

  @Test("a service of the shop that is away is marked as awaited, and its last contents stay")
  func shop() {
    var model = TopFixture.model()
    model.press("4")
    #expect(lines(model, 100, 30).contains(model.messages.editorWaits))
    model.shop.assortment = .standard
    model.shop.handle(.snapshot(StockSnapshot(ledger: 1, sequence: 0, items: [])))
    model.shop.isStockThere = true
    #expect(lines(model, 100, 30).contains { $0.contains("strawberry") })
    #expect(!lines(model, 100, 30).contains(model.messages.editorWaits))
    model.shop.isStockThere = false
    #expect(lines(model, 100, 30).contains(model.messages.editorWaits))
    #expect(lines(model, 100, 30).contains { $0.contains("strawberry") })
    model.press("5")
    #expect(lines(model, 100, 30).contains(model.messages.machineWaits))
  }
}
