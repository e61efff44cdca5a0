// Layout of help pages for a terminal: headings, paragraphs, lists of terms with explanations, wrapping, colour.
// Invariant: lines break at spaces, and a word that is too wide stays whole. Colour does not change the layout,
// because escape sequences are added after the columns were counted.

/// A help page in the making: the lines so far, wrapped to a width.
struct PageLayout {
  /// One element of a list: a term with its explanation.
  struct Entry {
    let term: String
    let explanation: String
  }

  private(set) var lines: [String] = []
  private let width: Int
  private let colour: Bool
  /// Minimum width of an explanation beside its term, in columns, unless the terms take at most a quarter of the page.
  private static let minExplanationWidth = 24

  /// A page of `width` columns, clamped to 20…120.
  init(width: Int, colour: Bool) {
    self.width = min(max(width, 20), 120)
    self.colour = colour
  }

  /// The page, ending in a newline.
  var text: String { lines.joined(separator: "\n") + "\n" }

  /// Adds a heading, after an empty line unless the page is still empty.
  mutating func heading(_ title: String) {
    if !lines.isEmpty { lines.append("") }
    lines += wrapped(title).map(bold)
  }

  /// Adds a wrapped text, indented by this number of columns.
  mutating func paragraph(_ text: String, indent: Int = 0) {
    let margin = Self.spaces(indent)
    lines += wrapped(text, indent: indent).map { $0.isEmpty ? "" : margin + $0 }
  }

  /// Adds a command that the reader can copy; a long one is continued with backslashes.
  mutating func verbatim(_ line: String, indent: Int) {
    var (text, used, margin) = ("", 0, indent)
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    for (place, word) in words.enumerated() {
      // Every word but the last needs room for the backslash after it.
      let mark = place == words.count - 1 ? 0 : 2
      if used > 0, margin + used + 1 + DisplayWidth.of(String(word)) + mark > width {
        lines.append(Self.spaces(margin) + bold(text + " \\"))
        (text, used, margin) = ("", 0, indent + 4)
      }
      text += used > 0 ? " " + word : String(word)
      used = DisplayWidth.of(text)
    }
    lines.append(Self.spaces(margin) + bold(text))
  }

  mutating func blankLine() { lines.append("") }

  /// Adds an indented synopsis, broken between its parts. A part is broken only if it is wider than a line.
  mutating func synopsis(_ parts: [String]) {
    let (first, further) = (2, 6)
    var line = ""
    for part in parts {
      let isWide = further + DisplayWidth.of(part) > width
      for word in isWide ? part.split(separator: " ").map(String.init) : [part] {
        if line.isEmpty {
          line = Self.spaces(first) + word
        } else if DisplayWidth.of(line) + 1 + DisplayWidth.of(word) <= width {
          line += " " + word
        } else {
          lines.append(line)
          line = Self.spaces(further) + word
        }
      }
    }
    lines.append(line)
  }

  /// Adds a list under a heading, or nothing if the list is empty.
  mutating func section(_ title: String, _ entries: [Entry]) {
    guard !entries.isEmpty else { return }
    heading(title)
    list(entries)
  }

  /// Adds a list in two columns. If a term is too wide, its explanation starts on the next line. If the page
  /// is too narrow for two columns, every explanation starts on the next line.
  private mutating func list(_ entries: [Entry]) {
    let limit = width * 2 / 5
    let widths = entries.map { DisplayWidth.of($0.term) }
    let column = widths.filter { $0 <= limit }.max() ?? limit
    guard width - column - 4 >= Self.minExplanationWidth || column <= width / 4 else { return stack(entries) }
    for entry in entries {
      let explanation = wrapped(entry.explanation, indent: column + 4)
      let margin = Self.spaces(column + 4)
      var rest = explanation[...]
      append(term: entry.term)
      // A word that is wider than its column starts a line of its own.
      let missing = column - DisplayWidth.of(entry.term)
      if missing >= 0, let first = rest.first, DisplayWidth.of(first) <= width - column - 4 {
        rest.removeFirst()
        if !first.isEmpty { lines[lines.count - 1] += Self.spaces(missing + 2) + first }
      }
      for line in rest where !line.isEmpty { lines.append(margin + line) }
    }
  }

  /// Adds a list in one column: each explanation starts on the line after its term.
  private mutating func stack(_ entries: [Entry]) {
    for entry in entries {
      append(term: entry.term)
      paragraph(entry.explanation, indent: 6)
    }
  }

  /// Adds the lines of a term; the second and later ones are indented further.
  private mutating func append(term: String) {
    for (place, part) in wrapped(term, indent: 4).enumerated() {
      lines.append(Self.spaces(place == 0 ? 2 : 4) + bold(part))
    }
  }

  /// The lines of a text that fit beside an indentation; a word that is too wide stays whole.
  private func wrapped(_ text: String, indent: Int = 0) -> [String] {
    DisplayWidth.wrapped(text, columns: width - indent, cutting: false)
  }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
  /// The text in bold if the page is in colour; unchanged if not.
  private func bold(_ text: String) -> String { colour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
}
