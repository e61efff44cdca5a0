// How a page of help is put together for a terminal.
// Owns: headings, paragraphs, lists of terms with explanations, wrapping, colour. Must not know any command.
// Invariant: with a width of 40 columns or more no line is wider than that, except a command to be copied, which is
// never broken. Colour never changes the layout: it is added after the columns were counted.

/// A page while it is being written.
struct PageLayout {
  /// A term and what it means.
  struct Entry {
    let term: String
    let explanation: String
  }

  private(set) var lines: [String] = []
  private let width: Int
  private let colour: Bool

  /// A page of `width` columns, held between 40 and 120.
  init(width: Int, colour: Bool) {
    self.width = min(max(width, 40), 120)
    self.colour = colour
  }

  /// The page, ending in a newline.
  var text: String { lines.joined(separator: "\n") + "\n" }

  /// A heading, parted from what stands before it.
  mutating func heading(_ title: String) {
    if !lines.isEmpty { lines.append("") }
    lines.append(bold(title))
  }

  /// Paragraphs, indented.
  mutating func paragraph(_ text: String, indent: Int = 0) {
    let margin = String(repeating: " ", count: indent)
    for line in DisplayWidth.wrapped(text, columns: width - indent) {
      lines.append(line.isEmpty ? "" : margin + line)
    }
  }

  /// A line that is not broken, because it is there to be copied.
  mutating func verbatim(_ line: String, indent: Int) {
    lines.append(String(repeating: " ", count: indent) + bold(line))
  }

  /// An empty line.
  mutating func gap() { lines.append("") }

  /// A synopsis, broken between its parts and continued further in.
  mutating func synopsis(_ parts: [String]) {
    var line = "  " + (parts.first ?? "")
    for part in parts.dropFirst() {
      if DisplayWidth.of(line) + 1 + DisplayWidth.of(part) <= width {
        line += " " + part
      } else {
        lines.append(line)
        line = "      " + part
      }
    }
    lines.append(line)
  }

  /// A list in two columns. A term too wide for its column has its explanation on the next line.
  mutating func list(_ entries: [Entry]) {
    let limit = width * 2 / 5
    let widths = entries.map { DisplayWidth.of($0.term) }
    let column = widths.filter { $0 <= limit }.max() ?? limit
    for entry in entries {
      let explanation = DisplayWidth.wrapped(entry.explanation, columns: width - column - 4)
      let margin = String(repeating: " ", count: column + 4)
      var rest = explanation[...]
      var line = "  " + bold(entry.term)
      if DisplayWidth.of(entry.term) <= column, let first = rest.popFirst(), !first.isEmpty {
        let missing = column - DisplayWidth.of(entry.term)
        line += String(repeating: " ", count: missing + 2) + first
      }
      lines.append(line)
      for line in rest where !line.isEmpty { lines.append(margin + line) }
    }
  }

  private func bold(_ text: String) -> String {
    colour ? "\u{1B}[1m\(text)\u{1B}[0m" : text
  }
}
