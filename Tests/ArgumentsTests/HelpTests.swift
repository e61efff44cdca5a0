// The help pages: whole pages word for word in both languages, and rules for every page at every width. A
// page that changes on purpose is edited here, so that a person has read it.

import Arguments
import Testing

@Suite("Help")
struct HelpTests {
  private let table = CommandTable.sample

  @Test(
    "a command's page shows examples first, then usage, operands, options with ranges and defaults, exit codes"
  )
  func commandPage() {
    let page = table.help(for: ["put"], language: .english, width: 80)
    #expect(
      page == """
        Examples
          depot put 10 --kind parcel --wait
              Ten parcels; wait.
          seq 3 | DEPOT_HOME=/tmp/d depot put --from -
              From a pipe.

        Usage
          depot put N [OPTIONS]
          depot put --from FILE [OPTIONS]

        Description
          Put N parcels away.

          Returns when they are on the shelf. The weight is drawn at random where none
          is given.

        Arguments
          N  How many parcels. (1 to 10,000,000)

        Options
          --kind parcel|letter  The kind.
          --weight GRAM         The weight. (1 to 5,000; default: drawn at random)
          --shift N             The shift. (-10 to 10)
          --label TEXT          A label. (may be repeated)
          --from FILE           Read parcels from a file.
          --wait                Wait for the end.
          --speed SPEED         The speed. (such as 10, 0.5 or max; default: 1)

        Global options
          --home DIR    The depot's directory. (default: ~/.depot; environment:
                        DEPOT_HOME)
          --lang ko|en  The language.
          --json        One JSON document.
          -h, --help    Show this help.
          --version     Show the version.

        Exit codes
          0  Done.
          2  Usage.

        """)
  }

  @Test("the Korean page lines up although its characters are wide")
  func koreanPage() {
    let page = table.help(for: ["shelf", "add"], language: .korean, width: 60)
    #expect(
      page == """
        예
          depot shelf add apple -3
              세 개를 뺍니다.

        사용법
          depot shelf add ITEM N

        설명
          선반에 더합니다.

        인수
          ITEM  무엇을. (apple, pear 중 하나)
          N     몇 개. (-1,000부터 1,000까지)

        공통 옵션
          --home DIR    보관소의 디렉터리. (기본값: ~/.depot; 환경
                        변수: DEPOT_HOME)
          --lang ko|en  언어.
          --json        JSON 문서 하나.
          -h, --help    이 도움말을 보여 줍니다.
          --version     버전을 보여 줍니다.

        종료 코드
          0  끝났습니다.
          2  잘못 썼습니다.

        """)
  }

  @Test("the overview lists every visible command under its group")
  func overview() {
    let page = table.help(language: .english, width: 80)
    #expect(page.hasPrefix("depot: a depot for parcels.\n\nExamples\n  depot put 10\n"))
    #expect(page.contains("\nStoring\n  put N                  Put N parcels away.\n"))
    #expect(page.contains("\nLooking\n  follow [WORKER …]  Show the log.\n"))
    #expect(page.contains("See 'depot COMMAND --help' for one command.\n"))
    #expect(!page.contains("secret"))
  }

  @Test("words that only start commands have a page that lists them")
  func groupPage() {
    let page = table.help(for: ["shelf", "admin"], language: .english)
    #expect(page.contains("depot shelf admin COMMAND [OPTIONS]"))
    #expect(page.contains("shelf admin add [ROW]  Add a row."))
  }

  @Test("examples are first on every page that has any", arguments: TextLanguage.allCases)
  func examplesFirst(language: TextLanguage) {
    let heading = language == .korean ? "예\n" : "Examples\n"
    for command in table.commands where !command.examples.isEmpty {
      for length in 1...command.path.count {
        let path = Array(command.path.prefix(length))
        if let other = table.command(at: path), other.examples.isEmpty { continue }
        #expect(table.help(for: path, language: language).hasPrefix(heading), "\(path)")
      }
    }
  }

  @Test("a command with longer ones lists them, and unknown words give the overview")
  func furtherCommands() {
    #expect(table.help(for: ["shelf"], language: .english).contains("shelf add ITEM N"))
    #expect(table.help(for: ["nothing"], language: .english) == table.help(language: .english))
  }

  @Test("the other notes are there: words beside a number, dates, exclusions")
  func notes() {
    #expect(table.help(for: ["show"], language: .english).contains("Which day. (1 or more, or all)"))
    #expect(table.help(for: ["close"], language: .english).contains("At once. (conflicts with: --timeout)"))
    #expect(table.help(for: ["close"], language: .korean).contains("(예: 700ms, 1.1s, 5m)"))
    #expect(table.help(for: ["shelf", "admin", "add"], language: .english).contains("(such as 2026-07-01)"))
    #expect(
      table.help(for: ["follow"], language: .english).contains("-n, --lines N  How many lines. (0 to 1,000)"))
  }

  /// The words of a page, without its line breaks.
  private func words(of page: String) -> [Substring] {
    page.split { $0 == " " || $0 == "\n" }.filter { $0 != "\\" }
  }

  @Test(
    "no line is wider than the terminal, in either language, unless it is one word",
    arguments: [20, 30, 40, 60, 80, 100], TextLanguage.allCases)
  func width(columns: Int, language: TextLanguage) {
    for path in [[]] + table.commands.map(\.path) {
      let page = table.help(for: path, language: language, width: columns)
      for line in page.split(separator: "\n") where DisplayWidth.of(String(line)) > columns {
        // In a continued command the backslash is after the word.
        #expect(words(of: String(line)).count == 1, "\(line)")
      }
      #expect(words(of: page) == words(of: table.help(for: path, language: language, width: 120)), "\(path)")
    }
  }

  @Test("a command wider than the terminal continues after a backslash, as a shell reads it")
  func continued() {
    let page = table.help(for: ["put"], language: .english, width: 20)
    #expect(page.hasPrefix("Examples\n  depot put 10 \\\n      --kind \\\n      parcel --wait\n"))
    let joined = page.replacing("\\\n", with: "").split { $0 == " " }.joined(separator: " ")
    #expect(joined.contains("depot put 10 --kind parcel --wait\n"))
  }

  @Test(
    "without room for two columns a description is below its term, and short terms keep theirs")
  func stacked() {
    let page = table.help(for: ["put"], language: .english, width: 20)
    #expect(page.contains("\n  --wait\n      Wait for the\n      end.\n"))
    #expect(page.contains("\n  0  Done.\n  2  Usage.\n"))
    #expect(page.contains("\nUsage\n  depot put N\n      [OPTIONS]\n"))
  }

  @Test("an absurd width is limited to 20 to 120", arguments: [Int.min, -1, 0, Int.max])
  func absurdWidth(columns: Int) {
    let narrow = table.help(language: .english, width: 20)
    let wide = table.help(language: .english, width: 120)
    #expect(table.help(language: .english, width: columns) == (columns > 20 ? wide : narrow))
  }

  @Test("an example whose names are of the reader's language is shown, and checked, in both")
  func examplesInBothLanguages() {
    var table = table
    let line = Text("depot put 3", "depot put 4")
    table.commands[0].examples = [Example(line, Text("Some.", "조금."))]
    #expect(table.help(for: ["put"], language: .english).hasPrefix("Examples\n  depot put 3\n"))
    #expect(table.help(for: ["put"], language: .korean).hasPrefix("예\n  depot put 4\n"))
    #expect(table.faults() == [])
    table.commands[0].examples[0].line.korean = "depot put 0"
    #expect(table.faults().count == 1)
  }

  @Test("colour changes nothing but the bold of headings and terms")
  func colour() {
    let plain = table.help(for: ["put"], language: .korean, colour: false)
    let bold = table.help(for: ["put"], language: .korean, colour: true)
    #expect(!plain.contains("\u{1B}"))
    #expect(bold.contains("\u{1B}[1m--wait\u{1B}[0m"))
    var stripped = ""
    for part in bold.split(separator: "\u{1B}", omittingEmptySubsequences: false).enumerated() {
      stripped += part.offset == 0 ? part.element : part.element.drop { $0 != "m" }.dropFirst()
    }
    #expect(stripped == plain)
  }
}
