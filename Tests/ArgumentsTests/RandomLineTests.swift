// Any list of words is parsed or refused, without a trap: seeded random lines of words that touch the rules.
// A failure prints the seed and the command that repeat the same lines.

import Arguments
import Testing

@Suite("Random lines")
struct RandomLineTests {
  @Test("parsing never traps, and every refusal has a sentence in both languages")
  func neverTraps() {
    var random = SeededRandom.announced("RandomLineTests")
    let table = CommandTable.sample
    var accepted = 0
    for _ in 0..<20_000 {
      let line = (0..<Int.random(in: 0...6, using: &random)).map { _ in Self.word(&random) }
      _ = table.globalValues(inPossiblyInvalid: line)
      #expect(table.withoutCommand(line).count <= line.count)
      do {
        switch try table.parse(line) {
        case .run(let invocation):
          #expect(table.command(named: invocation.name) == invocation.command)
        case .help(let path):
          #expect(!table.help(for: path, language: .korean).isEmpty)
        case .version:
          break
        }
        accepted += 1
      } catch {
        let (english, korean) = (error.message(in: .english), error.message(in: .korean))
        #expect(english.hasSuffix("See '\(error.helpCommand)'."), "\(line)")
        #expect(korean.hasSuffix("'\(error.helpCommand)' 명령으로 사용법을 볼 수 있습니다."), "\(line)")
        #expect(!(english + korean).unicodeScalars.contains { $0.value < 0x20 }, "\(line)")
      }
    }
    #expect(accepted > 100)
  }

  @Test("a line stays the same line when its options are moved to the front")
  func optionsMove() throws {
    let words = [["put", "3"], ["follow", "a", "b"], ["shelf", "add", "apple", "-3"], ["close"]]
    let options = [
      "put": [["--wait"], ["--weight", "5"], ["--label=x"], ["--json"]],
      "follow": [["-f"], ["-n", "5"], ["-q"], ["--lang", "ko"]], "shelf": [["--json"], ["--home=x"]],
      "close": [["--timeout", "5s"], ["--json"]],
    ]
    var random = SeededRandom.announced("RandomLineTests")
    for _ in 0..<500 {
      guard let line = words.randomElement(using: &random), let all = options[line[0]] else { continue }
      let chosen = all.filter { _ in Bool.random(using: &random) }
      let front = try CommandTable.sample.parse(chosen.flatMap { $0 } + line)
      let back = try CommandTable.sample.parse(line + chosen.shuffled(using: &random).flatMap { $0 })
      #expect(front == back, "\(chosen) \(line)")
    }
  }

  /// A word that is likely to touch a rule: real names, dashes, numbers, odd characters.
  private static func word(_ random: inout SeededRandom) -> String {
    let pool = [
      "put", "close", "shelf", "add", "admin", "resize", "hold", "follow", "show", "secret", "help", "--",
      "-", "",
      "--json", "--lang", "ko", "--home", "--home=", "--kind", "letter", "--kind=letter", "--weight", "5",
      "-5",
      "0", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "-n", "-n5", "-fn", "-fqx",
      "-=", "--=", "--=x", "-f=", "left=1", "left=", "=", "=1", "apple", "사과", "--help", "-h", "--version",
      "--timeout", "5s", "-5s", "1.5h", "--speed", "max", "0.5", "--day", "all", "--from", "--label",
      "--made",
      "2026-02-29", "\u{0}", "\u{1B}[2J", "🍓", "e\u{301}", "\r\n",
    ]
    if Int.random(in: 0..<8, using: &random) > 0, let word = pool.randomElement(using: &random) {
      return word
    }
    let alphabet: [Character] = [
      "-", "=", "a", "n", "0", "9", ".", "s", "m", "h", "딸", " ", "'", "\n", "\u{7F}",
    ]
    return String(
      (0..<Int.random(in: 0...12, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "-" })
  }
}
