// Fitting lines to a terminal: cutting, wrapping, and showing a part with a mark for the rest.
// Invariant: lines that fit are unchanged. Cut or hidden text has a mark if there is room for it.
import Arguments
import Posix

/// Functions that fit text to the width and height of a terminal.
enum Screen {
  /// A line that does not wrap, with `…` where it was cut. Escape sequences take no column and are not cut.
  static func cut(_ line: String, to columns: Int?) -> String {
    // A character takes at most as many columns as bytes.
    guard let columns, line.utf8.count > columns, width(of: line) > columns else { return line }
    var text = ""
    var width = 0
    var isEscape = false
    var isCut = false
    for character in line {
      if character == "\u{1B}" { isEscape = true }
      if isEscape {
        text.append(character)
        if character.isLetter { isEscape = false }
        continue
      }
      guard !isCut else { continue }
      width += DisplayWidth.of(character)
      isCut = width > columns - 1
      if !isCut { text.append(character) } else if columns > 0 { text.append("…") }
    }
    return text
  }

  /// Columns of a line. Escape sequences take none.
  static func width(of line: String) -> Int {
    var (width, isEscape) = (0, false)
    for character in line {
      if character == "\u{1B}" { isEscape = true }
      if !isEscape { width += DisplayWidth.of(character) }
      if isEscape, character.isLetter { isEscape = false }
    }
    return width
  }

  /// A name and its amount in one line. If the line is too narrow for both, the name is cut and the amount is
  /// not.
  static func row(_ name: String, _ amount: String, columns: Int) -> String {
    cut(name, to: max(0, columns - DisplayWidth.of(amount) - 1)) + " " + amount
  }

  /// The lines that fit the terminal. If some are hidden, the last of several rows contains their number.
  static func fit(_ lines: [String], to size: Terminal.Size?, _ messages: MessageCatalog) -> [String] {
    guard let size else { return lines }
    var shown = lines
    // Empty rows are dropped first.
    if shown.count > size.rows { shown.removeAll(where: \.isEmpty) }
    if shown.count > size.rows, size.rows > 1 {
      shown = shown.prefix(size.rows - 1) + [messages.moreRows(shown.count - size.rows + 1)]
    }
    return shown.prefix(size.rows).map { cut($0, to: size.columns) }
  }

  /// The entries around the chosen one that fit, and the numbers of hidden ones above and below. An entry
  /// may have several rows and is shown completely or not at all, but the chosen one is cut if it alone is too
  /// long. The chosen one takes precedence over the marks.
  static func window(
    _ entries: [[String]], around chosen: Int, room: Int, _ messages: MessageCatalog,
    _ palette: Palette = .none
  ) -> [String] {
    guard entries.indices.contains(chosen), entries.reduce(0, { $0 + $1.count }) > room else {
      return Array(entries.flatMap { $0 }.prefix(room))
    }
    var (shown, rows) = (chosen..<chosen + 1, entries[chosen].count)
    /// Number of rows for the marks about hidden entries.
    func marks(_ range: Range<Int>) -> Int {
      (range.lowerBound > 0 ? 1 : 0) + (range.upperBound < entries.count ? 1 : 0)
    }
    guard rows + marks(shown) <= room else {
      let mark = entries.count > 1 ? [palette.paint("↕ " + messages.more(entries.count - 1), .quiet)] : []
      return Array((entries[chosen].prefix(room) + mark).prefix(room))
    }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      let above = max(0, shown.lowerBound - 1)..<shown.upperBound
      let below = shown.lowerBound..<min(entries.count, shown.upperBound + 1)
      // Grow above and below alternately, so that the chosen entry stays in the middle.
      for wider in [above, below] {
        let range = min(shown.lowerBound, wider.lowerBound)..<max(shown.upperBound, wider.upperBound)
        let added = range.reduce(0) { $0 + (shown.contains($1) ? 0 : entries[$1].count) }
        guard added > 0, rows + added + marks(range) <= room else { continue }
        (shown, rows, isGrowing) = (range, rows + added, true)
      }
    }
    let above = shown.lowerBound > 0 ? ["↑ " + messages.more(shown.lowerBound)] : []
    let below =
      shown.upperBound < entries.count ? ["↓ " + messages.more(entries.count - shown.upperBound)] : []
    return above.map { palette.paint($0, .quiet) } + entries[shown].flatMap { $0 }
      + below.map { palette.paint($0, .quiet) }
  }

  /// Hints such as `q quits · r returns`, in several lines if they do not fit in one, broken between two hints.
  static func hints(_ text: String, columns: Int?) -> [String] {
    flow(text.split(separator: " · ").map { String($0) }, separator: " · ", columns: columns)
  }

  /// Parts in one line, broken between them on a narrow terminal, and within a part only if the part does not
  /// fit.
  static func flow(_ parts: [String], separator: String, columns: Int?) -> [String] {
    let text = parts.joined(separator: separator)
    guard let columns, DisplayWidth.of(text) > columns else { return [text] }
    var lines: [String] = []
    for part in parts {
      let joined = (lines.last ?? "") + separator + part
      if !lines.isEmpty, DisplayWidth.of(joined) <= columns {
        lines[lines.count - 1] = joined
      } else {
        lines += DisplayWidth.wrapped(part, columns: columns)
      }
    }
    return lines
  }

  /// A line in scrolling output, broken at its spaces so that no number is split; continuation lines are
  /// indented. A word wider than the terminal stays whole, so that a user can copy it.
  static func folded(_ line: String, columns: Int?) -> [String] {
    guard let columns, width(of: line) > columns else { return [line] }
    let margin = line.prefix { $0 == " " }.count + 2
    let indent = String(repeating: " ", count: margin < columns / 2 ? margin : 0)
    var lines: [String] = []
    var (text, used, gap) = ("", 0, 0)
    for word in line.split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
      let wide = width(of: word)
      if used > 0, wide > 0, used + gap + wide > columns {
        lines.append(text)
        (text, used) = (indent + word, indent.count + wide)
      } else if !word.isEmpty {
        text += String(repeating: " ", count: gap) + word
        used += wide > 0 ? gap + wide : 0
      }
      gap = word.isEmpty ? gap + 1 : 1
    }
    return lines + [text]
  }

  /// A sentence, broken at its spaces on a narrow terminal.
  static func sentence(_ text: String, columns: Int?) -> [String] {
    guard let columns, DisplayWidth.of(text) > columns else { return [text] }
    return DisplayWidth.wrapped(text, columns: columns)
  }
}

/// Rows above and below the content of a full screen. Without enough room they are dropped, the least useful
/// first: empty rows, extra rows, keys, title, notice.
struct ScreenFrame {
  var title: [String]
  var extra: [String] = []
  var notice: [String]
  var keys: [String]
  /// True if the extra rows are above the notice.
  var isExtraFirst = true

  /// Rows above and below that leave at least `least` rows to the content if possible.
  func fitted(rows: Int, leaving least: Int) -> (head: [String], foot: [String]) {
    let foot = isExtraFirst ? extra + notice : notice + extra
    let choices: [([String], [String])] = [
      (title + [""], [""] + foot + keys), (title, foot + keys), (title, notice + keys), (title, notice),
      ([], notice),
    ]
    for (head, foot) in choices where head.count + least + foot.count <= rows { return (head, foot) }
    return ([], [])
  }
}
