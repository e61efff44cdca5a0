// Every sentence about a wrong line, word for word in both languages. The texts are behaviour: a change of
// one is a change here. `ParsingTests` covers which lines are accepted. Invariant under test: each sentence
// names what failed and what to do, and ends with the help page.

import Arguments
import Testing

@Suite("Usage errors")
struct UsageErrorTests {
  private func expect(
    _ words: String..., says english: String, _ korean: String, help: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    do {
      _ = try CommandTable.sample.parse(words)
    } catch {
      let englishHint = " See '\(help) --help'."
      let koreanHint = " '\(help) --help' 명령으로 사용법을 볼 수 있습니다."
      #expect(error.message(in: .english) == english + englishHint, sourceLocation: sourceLocation)
      #expect(error.message(in: .korean) == korean + koreanHint, sourceLocation: sourceLocation)
      return
    }
    Issue.record("\(words) was accepted", sourceLocation: sourceLocation)
  }

  @Test("no command")
  func missingCommand() throws {
    try expect(says: "'depot' needs a command.", "'depot' 뒤에 명령이 없습니다.", help: "depot")
  }

  @Test("half a command names the words that can follow")
  func missingSubcommand() throws {
    try expect(
      "shelf", "admin", says: "'depot shelf admin' needs one more word: add.",
      "'depot shelf admin' 뒤에 하위 명령이 필요합니다: add.", help: "depot shelf admin")
  }

  @Test("an unknown command gets a suggestion")
  func unknownCommand() throws {
    try expect(
      "folow", says: "Unknown command 'folow'. Did you mean 'follow'?",
      "알 수 없는 명령입니다: 'folow'. 혹시 'follow'인가요?", help: "depot")
    try expect(
      "frobnicate", says: "Unknown command 'frobnicate'.", "알 수 없는 명령입니다: 'frobnicate'.", help: "depot")
  }

  @Test("an unknown word after a command gets a suggestion with the whole name")
  func unknownSubcommand() throws {
    try expect(
      "shelf", "ad", says: "Unknown command 'shelf ad'. Did you mean 'shelf add'?",
      "알 수 없는 명령입니다: 'shelf ad'. 혹시 'shelf add'인가요?", help: "depot shelf")
  }

  @Test("the last word of a longer command alone gets the whole name")
  func lastWordAlone() throws {
    try expect(
      "add", "apple", says: "Unknown command 'add'. Did you mean 'shelf add' or 'shelf admin add'?",
      "알 수 없는 명령입니다: 'add'. 혹시 'shelf add' 또는 'shelf admin add'인가요?", help: "depot")
  }

  @Test("an unknown option names the command and gets a suggestion")
  func unknownOption() throws {
    try expect(
      "put", "3", "--wieght", "5",
      says: "Unknown option '--wieght' for 'depot put'. Did you mean '--weight'?",
      "'depot put' 명령에 없는 옵션입니다: '--wieght'. 혹시 '--weight'인가요?", help: "depot put")
    try expect(
      "shelf", "--nonsense", "5", says: "Unknown option '--nonsense' for 'depot shelf'.",
      "'depot shelf' 명령에 없는 옵션입니다: '--nonsense'.", help: "depot shelf")
  }

  @Test("an option of another command is unknown here")
  func optionOfAnotherCommand() throws {
    try expect(
      "--weight", "5", "shelf", says: "Unknown option '--weight' for 'depot shelf'.",
      "'depot shelf' 명령에 없는 옵션입니다: '--weight'.", help: "depot shelf")
  }

  @Test("one dash before a long name gets the name with two")
  func singleDash() throws {
    try expect(
      "shelf", "-json", says: "Unknown option '-json' for 'depot shelf'. Did you mean '--json'?",
      "'depot shelf' 명령에 없는 옵션입니다: '-json'. 혹시 '--json'인가요?", help: "depot shelf")
    try expect(
      "follow", "-fx", says: "Unknown option '-x' for 'depot follow'.", "'depot follow' 명령에 없는 옵션입니다: '-x'.",
      help: "depot follow")
  }

  @Test("a missing value is reported with what to write")
  func missingValue() throws {
    try expect(
      "put", "3", "--kind", says: "Option --kind needs a value: write '--kind parcel|letter'.",
      "--kind 옵션에는 값이 필요합니다: '--kind parcel|letter' 형식으로 쓰세요.", help: "depot put")
    try expect(
      "follow", "-n", "--json", says: "Option -n needs a value: write '-n N'.",
      "-n 옵션에는 값이 필요합니다: '-n N' 형식으로 쓰세요.", help: "depot follow")
  }

  @Test("a value for a flag is refused")
  func valueForFlag() throws {
    try expect(
      "put", "3", "--wait=yes",
      says: "Option --wait takes no value, but was given 'yes': use '--wait' alone.",
      "--wait 옵션은 값을 받지 않습니다 (받은 값: 'yes'). '--wait'만 쓰세요.", help: "depot put")
  }

  @Test("an option given twice is refused")
  func repeatedOption() throws {
    try expect(
      "put", "3", "--wait", "--wait", says: "Option --wait was given more than once: use it once.",
      "--wait 옵션이 두 번 이상 쓰였습니다. 한 번만 쓰세요.", help: "depot put")
  }

  @Test("options that exclude each other are refused in either order")
  func conflictingOptions() throws {
    try expect(
      "close", "--now", "--timeout", "5s",
      says: "Options --now and --timeout conflict: use only one of them.",
      "--now 옵션과 --timeout 옵션은 함께 쓸 수 없습니다. 하나만 쓰세요.", help: "depot close")
    #expect(
      try refusal("close", "--timeout", "5s", "--now").reason == .conflictingOptions("--timeout", "--now"))
  }

  @Test("a missing operand is explained")
  func missingOperand() throws {
    try expect(
      "put", says: "'depot put' needs N (how many parcels).", "'depot put' 명령에 N 인수가 필요합니다(소포의 수).",
      help: "depot put")
    try expect(
      "resize", says: "'depot resize' needs SHELF=N (a shelf and its size).",
      "'depot resize' 명령에 SHELF=N 인수가 필요합니다(선반과 크기).", help: "depot resize")
    try expect(
      "shelf", "add", says: "'depot shelf add' needs ITEM (apple or pear).",
      "'depot shelf add' 명령에 ITEM 인수가 필요합니다(apple, pear).", help: "depot shelf add")
  }

  @Test("an operand too many is reported with the allowed number")
  func unexpectedOperand() throws {
    try expect(
      "put", "3", "4", says: "'4' is one argument too many: 'depot put' takes only one.",
      "'4'는 필요 없는 인수입니다. 'depot put' 명령의 인수는 1개까지입니다.", help: "depot put")
    try expect(
      "close", "4", says: "'4' is one argument too many: 'depot close' takes none.",
      "'4'는 필요 없는 인수입니다. 'depot close' 명령은 인수를 받지 않습니다.", help: "depot close")
    try expect(
      "shelf", "add", "pear", "3", "x",
      says: "'x' is one argument too many: 'depot shelf add' takes only 2.",
      "'x'는 필요 없는 인수입니다. 'depot shelf add' 명령의 인수는 2개까지입니다.", help: "depot shelf add")
  }

  @Test("an operand together with the option that replaces it is refused")
  func operandWithOption() throws {
    try expect(
      "put", "3", "--from", "x", says: "N ('3') and --from conflict: use only one of them.",
      "N 인수('3')와 --from 옵션은 함께 쓸 수 없습니다. 하나만 쓰세요.", help: "depot put")
  }

  @Test("a number out of range is reported with the range")
  func outOfRange() throws {
    try expect(
      "put", "0", says: "N must be between 1 and 10,000,000, not 0.",
      "N 값은 1 이상 10,000,000 이하의 정수여야 합니다 (받은 값: 0).", help: "depot put")
    try expect(
      "put", "-5", says: "N must be between 1 and 10,000,000, not -5.",
      "N 값은 1 이상 10,000,000 이하의 정수여야 합니다 (받은 값: -5).", help: "depot put")
    try expect(
      "put", "99999999999999999999", says: "N must be between 1 and 10,000,000, not 99999999999999999999.",
      "N 값은 1 이상 10,000,000 이하의 정수여야 합니다 (받은 값: 99999999999999999999).", help: "depot put")
    try expect(
      "shelf", "admin", "add", "-1", says: "ROW must be at least 0, not -1.",
      "ROW 값은 0 이상의 정수여야 합니다 (받은 값: -1).", help: "depot shelf admin add")
  }

  @Test(
    "a word instead of a number is reported",
    arguments: ["abc", "1.5", "1e3", "0x10", "１", "1 ", "+", "--5"])
  func notANumber(word: String) throws {
    try expect(
      "put", "3", "--weight=\(word)",
      says: "--weight '\(word)' is not a number. Write a whole number between 1 and 5,000.",
      "--weight 값이 숫자가 아닙니다: '\(word)'. 1 이상 5,000 이하의 정수를 쓰세요.", help: "depot put")
  }

  @Test("an empty value is refused")
  func empty() throws {
    try expect(
      "put", "3", "--label=", says: "--label must not be empty.", "--label 값은 비어 있을 수 없습니다.",
      help: "depot put")
    try expect(
      "put", "", says: "N must not be empty.", "N 값은 비어 있을 수 없습니다.", help: "depot put")
  }

  @Test("a wrong choice lists the choices and suggests the nearest")
  func notAChoice() throws {
    try expect(
      "put", "3", "--kind", "leter",
      says: "--kind must be one of parcel, letter, not 'leter'. Did you mean 'letter'?",
      "--kind 값은 다음 중 하나여야 합니다: parcel, letter (받은 값: 'leter'). 혹시 'letter'인가요?",
      help: "depot put")
    try expect(
      "shelf", "add", "stone", "3", says: "ITEM must be one of apple, pear, not 'stone'.",
      "ITEM 값은 다음 중 하나여야 합니다: apple, pear (받은 값: 'stone').", help: "depot shelf add")
  }

  @Test("a value that is neither number nor word is reported with both forms")
  func neitherNumberNorWord() throws {
    try expect(
      "show", "--day", "some", says: "--day must be a whole number at least 1 or all, not 'some'.",
      "--day 값은 1 이상의 정수이거나 다음 중 하나여야 합니다: all (받은 값: 'some').", help: "depot show")
  }

  @Test(
    "a wrong day is refused", arguments: ["2026-02-29", "2026-13-01", "2026-7-1", "tomorrow", "2026-01-00"])
  func notADate(day: String) throws {
    try expect(
      "shelf", "admin", "add", "--made", day,
      says: "--made '\(day)' is not a date. Write a day that exists, such as 2026-07-01.",
      "--made 값이 날짜가 아닙니다: '\(day)'. 2026-07-01처럼 실제로 있는 날짜를 쓰세요.", help: "depot shelf admin add")
  }

  @Test("a wrong assignment is reported with its wrong part")
  func assignments() throws {
    try expect(
      "resize", "left",
      says: "SHELF=N 'left' is not of the form NAME=N. Write a name, '=' and a whole number.",
      "SHELF=N 값이 NAME=N 형식이 아닙니다: 'left'. 이름, '=', 정수를 붙여 쓰세요.", help: "depot resize")
    try expect(
      "resize", "left=99", says: "left must be between 0 and 64, not 99.",
      "left 값은 0 이상 64 이하의 정수여야 합니다 (받은 값: 99).", help: "depot resize")
    try expect(
      "resize", "left=x", says: "left 'x' is not a number. Write a whole number between 0 and 64.",
      "left 값이 숫자가 아닙니다: 'x'. 0 이상 64 이하의 정수를 쓰세요.", help: "depot resize")
    try expect(
      "resize", "left=", says: "left must not be empty.", "left 값은 비어 있을 수 없습니다.", help: "depot resize")
    try expect(
      "resize", "lefd=1", says: "SHELF=N must be one of left, right, not 'lefd'. Did you mean 'left'?",
      "SHELF=N 값은 다음 중 하나여야 합니다: left, right (받은 값: 'lefd'). 혹시 'left'인가요?", help: "depot resize")
  }

  @Test("a wrong duration is reported with what to write")
  func durations() throws {
    let cases: [(String, String, String)] = [
      ("5", "The unit is missing; write 5s or 700ms.", "단위가 없습니다. 5s 또는 700ms처럼 쓰세요."),
      ("-5s", "A duration cannot be negative; write 0s or more.", "시간은 음수일 수 없습니다. 0s 이상을 쓰세요."),
      (
        "soon", "Write a number with its unit, such as 700ms, 1.1s, 5m or 1m30s.",
        "700ms, 1.1s, 5m, 1m30s처럼 숫자와 단위를 쓰세요."
      ),
      (
        "5w", "There is no unit 'w'; the units are d, h, m, s, ms, us and ns.",
        "'w' 단위는 없습니다. 단위는 d, h, m, s, ms, us, ns 입니다."
      ),
      (
        "30s1m", "Units go from large to small and appear once, as in 1m30s.",
        "단위는 1m30s처럼 큰 것부터 한 번씩만 쓰세요."
      ),
      (
        "0.1ns", "Nothing finer than a nanosecond is measured; write fewer digits.",
        "나노초보다 작은 시간은 다루지 않습니다. 자릿수를 줄이세요."
      ),
      (
        "999999999h", "The longest duration is about 292 years; write a shorter one.",
        "가장 긴 시간은 약 292년입니다. 더 짧게 쓰세요."
      ),
    ]
    for (text, english, korean) in cases {
      try expect(
        "close", "--timeout", text, says: "--timeout '\(text)' is not a duration. \(english)",
        "--timeout 값이 시간이 아닙니다: '\(text)'. \(korean)", help: "depot close")
    }
  }

  @Test("a wrong speed is reported with what to write")
  func speeds() throws {
    let cases: [(String, String, String)] = [
      ("fast", "Write a number above 0, such as 10 or 0.5, or max.", "10, 0.5처럼 0보다 큰 수나 max를 쓰세요."),
      (
        "-1", "A speed cannot be negative; write a number above 0, or max.",
        "속도는 음수일 수 없습니다. 0보다 큰 수나 max를 쓰세요."
      ),
      (
        "0", "At speed 0 nothing would ever end; write a number above 0, or max for no waiting at all.",
        "속도가 0이면 아무것도 끝나지 않습니다. 0보다 큰 수를 쓰거나, 기다리지 않으려면 max를 쓰세요."
      ),
      (
        "0.0001", "A speed has at most three digits after the point.", "속도는 소수점 아래 세 자리까지만 쓸 수 있습니다."
      ),
      (
        "1000000001", "The largest speed is 1,000,000,000; write max for no waiting at all.",
        "가장 큰 속도는 1,000,000,000입니다. 기다리지 않으려면 max를 쓰세요."
      ),
    ]
    for (text, english, korean) in cases {
      try expect(
        "put", "3", "--speed", text, says: "--speed '\(text)' is not a speed. \(english)",
        "--speed 값이 속도가 아닙니다: '\(text)'. \(korean)", help: "depot put")
    }
  }

  @Test("the given text is shown without control characters and at limited length")
  func echoedInput() throws {
    #expect(
      try refusal("\u{1B}[31mput\n").message(in: .english)
        == "Unknown command '\\u{1b}[31mput\\u{a}'. See 'depot --help'.")
    let long = String(repeating: "x", count: 100_000)
    #expect(try refusal("put", "--\(long)").message(in: .english).count < 150)
    let digits = String(repeating: "9", count: 100_000)
    #expect(try refusal("put", digits).message(in: .korean).count < 200)
  }

  @Test("of several mistakes the first option is reported before operands")
  func order() throws {
    #expect(try refusal("put", "--nonsense", "0").reason == .unknownOption("--nonsense", suggestions: []))
    #expect(try refusal("--nonsense", "nothing").reason == .unknownOption("--nonsense", suggestions: []))
  }
}
