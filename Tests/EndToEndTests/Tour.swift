// Console blocks of the README: the commands, the output the README shows for each, and the comparison with a terminal.
// A run may differ from the README in these points and in no other:
//   - a time of day, a timer, a duration (`2.7 s`) and an amount of memory may have any value;
//   - a process id may be any number, but one process keeps one number throughout the README;
//   - which of the windows `run-1`, `run-2` … serves, and in which generation, depends on which is free;
//   - the number of spaces between words depends on the table;
//   - a line `…` stands for any number of lines, and a word `…` inside a line for any number of words.
import Foundation

struct Tour {
  /// Command typed at the shell's prompt, and its expected output.
  struct Step {
    /// Line of the README, from 1.
    let line: Int
    /// Heading above the command.
    let section: String
    var command: String
    var shown: [String]
  }

  /// Block between two fences.
  struct Block {
    let language: String
    /// Line of the opening fence, from 1.
    let line: Int
    let section: String
    let text: [String]
    /// Line before the fence that ends the paragraph above.
    let introduction: String
  }

  /// Section whose commands need a PostgreSQL server.
  static let severalMachines = "Several machines"

  let blocks: [Block]

  init(markdown: String) {
    var blocks: [Block] = []
    var open: (language: String, line: Int, introduction: String)?
    var (section, text, paragraph) = ("", [String](), "")
    for (offset, line) in markdown.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("```") {
        if let block = open {
          blocks.append(
            Block(
              language: block.language, line: block.line, section: section, text: text,
              introduction: block.introduction))
          (open, paragraph) = (nil, "")
        } else {
          (open, text) = ((String(line.dropFirst(3)), offset + 1, paragraph), [])
        }
      } else if open != nil {
        text.append(String(line))
      } else {
        if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
        if !line.isEmpty { paragraph = String(line) }
      }
    }
    self.blocks = blocks
  }

  /// README of the checkout from which this test was compiled.
  static func ofReadme() throws -> Tour {
    Tour(markdown: try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8))
  }

  /// Directory of the checkout.
  static let root: URL = {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    return root
  }()

  /// Commands of all console blocks, in order.
  var steps: [Step] { blocks.flatMap(\.steps) }
}

extension Tour.Block {
  /// Commands of a console block; a line that starts with `$ ` is typed.
  var steps: [Tour.Step] {
    guard language == "console" else { return [] }
    var steps: [Tour.Step] = []
    for (offset, line) in text.enumerated() {
      if line.hasPrefix("$ ") {
        let command = String(line.dropFirst(2))
        steps.append(Tour.Step(line: self.line + offset + 1, section: section, command: command, shown: []))
      } else if !steps.isEmpty {
        steps[steps.count - 1].shown.append(line)
      }
    }
    return steps
  }

  /// File as which the README asks to save this block: a name and a directory below the user's home.
  var file: (name: String, directory: String)? {
    introduction.firstMatch(of: /`([a-z]+\.json)` in the home of the bank, `~\/([^`]+)`/).map {
      (String($0.1), String($0.2))
    }
  }
}

/// Process ids of a run by those of the README.
struct TourProcesses {
  private(set) var seen: [String: String] = [:]
  private var shown: [String: String] = [:]

  /// Pairs a process of the README with one of this run; false if either is paired with another one.
  mutating func bind(shown one: String, seen other: String) -> Bool {
    if let known = seen[one] { return known == other }
    guard shown[other] == nil else { return false }
    seen[one] = other
    shown[other] = one
    return true
  }

  /// Command with the process ids of this run.
  func typed(_ command: String) -> String {
    command.split(separator: " ", omittingEmptySubsequences: false).map { seen[String($0)] ?? String($0) }
      .joined(separator: " ")
  }

  /// Known processes if a terminal that shows `seen` matches the README; nil if it does not.
  func matching(shown: [String], seen: [String]) -> TourProcesses? {
    Self.matched(Self.words(shown)[...], Self.words(seen)[...], self)
  }

  private static func matched(
    _ shown: ArraySlice<[String]>, _ seen: ArraySlice<[String]>, _ processes: TourProcesses
  ) -> TourProcesses? {
    guard let first = shown.first else { return seen.isEmpty ? processes : nil }
    if first == [anything] {
      for skipped in 0...seen.count {
        if let bound = matched(shown.dropFirst(), seen.dropFirst(skipped), processes) { return bound }
      }
      return nil
    }
    guard let other = seen.first else { return nil }
    guard let bound = matchedWords(first[...], other[...], processes) else { return nil }
    return matched(shown.dropFirst(), seen.dropFirst(), bound)
  }

  private static func matchedWords(
    _ shown: ArraySlice<String>, _ seen: ArraySlice<String>, _ processes: TourProcesses
  ) -> TourProcesses? {
    guard let one = shown.first else { return seen.isEmpty ? processes : nil }
    if one == anything {
      for skipped in 0...seen.count {
        if let bound = matchedWords(shown.dropFirst(), seen.dropFirst(skipped), processes) { return bound }
      }
      return nil
    }
    guard let two = seen.first else { return nil }
    var processes = processes
    if one.hasPrefix(mark), two.hasPrefix(mark) {
      let ids = (String(one.dropFirst(mark.count)), String(two.dropFirst(mark.count)))
      guard processes.bind(shown: ids.0, seen: ids.1) else { return nil }
    } else if one != two {
      return nil
    }
    return matchedWords(shown.dropFirst(), seen.dropFirst(), processes)
  }
}

extension TourProcesses {
  private static let mark = "pid:"
  private static let anything = "…"

  /// Words of each line, with a common placeholder for what differs from run to run, and process ids marked.
  private static func words(_ lines: [String]) -> [[String]] {
    // A table with a column for process ids has them in every row, until an empty line ends it.
    var column: Int?
    return lines.map { line in
      var words = plain(line).split(separator: " ").map(String.init)
      if words.isEmpty { column = nil }
      if words.contains("pid"), words.contains("state") {
        column = words.firstIndex(of: "pid")
      } else if let column, words.count > column, words[column].allSatisfy(\.isNumber) {
        words[column] = mark + words[column]
      }
      return words
    }
  }

  private static func plain(_ line: String) -> String {
    line.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/, with: "TIME")
      .replacing(/\d\d+:\d\d:\d{3}/, with: "TIMER")
      .replacing(/\d+\.\d+ seconds/, with: "SPAN seconds")
      .replacing(/took_ms=\d+/, with: "took_ms=SPAN")
      .replacing(/\d+(\.\d+)? (MB|GB|kB)/, with: "MEMORY")
      .replacing(/(\d+(\.\d+)? (h|min|s|ms)\b ?)+/, with: "SPAN ")
      .replacing(/\d+\.\d+초/, with: "SPAN초")
      .replacing(/\brun-\d+, generation \d+/, with: "run-N, generation N")
      .replacing(/\brun-\d+\b/, with: "run-N")
      .replacing(/(pid|coordinator)([ =])(\d+)/) { "\($0.1)\($0.2 == "=" ? "=" : "") \(mark)\($0.3)" }
      .replacing(/pid:\d+,/) { "\($0.0.dropLast()) ," }
  }
}
