// The tour of the README: what is typed, what is shown, and whether a terminal shows the same.
// Owns: the rules by which what is shown and what is seen are the same. A run differs from the README in these, and in
// nothing else:
//   - a time of day, a timer, a span (`2.7 s`) and an amount of memory are any of their kind;
//   - a process id is any number, but the same process has the same number all through the tour;
//   - spaces between words are as many as a table needs;
//   - a line `…` stands for any number of lines.
// It must not know a terminal, nor how something is typed.
import Foundation

struct Tour {
  /// Something that is typed at the shell's prompt, and what is shown then.
  struct Step {
    /// The line of the README, from 1.
    let line: Int
    let command: String
    let shown: [String]
  }

  let steps: [Step]

  /// Takes the blocks between "```console" and "```" apart; a line that begins with `$ ` is typed.
  init(markdown: String) {
    var steps: [Step] = []
    var isInside = false
    for (offset, line) in markdown.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("```") {
        isInside = line == "```console"
      } else if isInside, line.hasPrefix("$ ") {
        steps.append(Step(line: offset + 1, command: String(line.dropFirst(2)), shown: []))
      } else if isInside, let step = steps.popLast() {
        steps.append(Step(line: step.line, command: step.command, shown: step.shown + [String(line)]))
      }
    }
    self.steps = steps
  }

  /// The README of the checkout that this test was compiled from.
  static func ofReadme() throws -> Tour {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    return Tour(markdown: try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8))
  }
}

/// Which process of a run is which of the README's.
struct TourProcesses {
  private(set) var seen: [String: String] = [:]
  private var shown: [String: String] = [:]

  /// Whether these two can be the same process; they are it from now on.
  mutating func bind(shown one: String, seen other: String) -> Bool {
    if let known = seen[one] { return known == other }
    guard shown[other] == nil else { return false }
    seen[one] = other
    shown[other] = one
    return true
  }

  /// What a person types who reads this in the README: the process ids of this run.
  func typed(_ command: String) -> String {
    command.split(separator: " ", omittingEmptySubsequences: false).map { seen[String($0)] ?? String($0) }
      .joined(separator: " ")
  }

  /// The processes that are known when a terminal that shows `seen` shows what the README does; nil where it does not.
  func matching(shown: [String], seen: [String]) -> TourProcesses? {
    Self.matched(Self.words(shown)[...], Self.words(seen)[...], self)
  }

  private static func matched(
    _ shown: ArraySlice<[String]>, _ seen: ArraySlice<[String]>, _ processes: TourProcesses
  ) -> TourProcesses? {
    guard let first = shown.first else { return seen.isEmpty ? processes : nil }
    if first == ["…"] {
      for skipped in 0...seen.count {
        if let bound = matched(shown.dropFirst(), seen.dropFirst(skipped), processes) { return bound }
      }
      return nil
    }
    guard let other = seen.first, first.count == other.count else { return nil }
    var processes = processes
    for (one, two) in zip(first, other) {
      if one.hasPrefix(mark), two.hasPrefix(mark) {
        let ids = (String(one.dropFirst(mark.count)), String(two.dropFirst(mark.count)))
        guard processes.bind(shown: ids.0, seen: ids.1) else { return nil }
      } else if one != two {
        return nil
      }
    }
    return matched(shown.dropFirst(), seen.dropFirst(), processes)
  }
}

extension TourProcesses {
  private static let mark = "pid:"

  /// The words of each line, with what differs from run to run under a common name and process ids marked.
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
      .replacing(/took_ms=\d+/, with: "took_ms=SPAN")
      .replacing(/\d+(\.\d+)? (MB|GB|kB)/, with: "MEMORY")
      .replacing(/(\d+(\.\d+)? (h|min|s|ms)\b ?)+/, with: "SPAN ")
      .replacing(/\d+\.\d+초/, with: "SPAN초")
      .replacing(/(pid|coordinator)([ =])(\d+)/) { "\($0.1)\($0.2 == "=" ? "=" : "") \(mark)\($0.3)" }
      .replacing(/pid:\d+,/) { "\($0.0.dropLast()) ," }
  }
}
