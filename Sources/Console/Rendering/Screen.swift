// Owns how lines are made to fit a terminal: cut, wrapped, a part of them shown, and a word about what is hidden.
// Invariant: what fits no wider than the columns and no higher than the rows comes back as it was; what was cut or hidden
// has a mark, unless there is one row for everything.
import Arguments
import Posix

enum Screen {
  /// A line that does not wrap, with `…` where it was cut. Escape sequences take no place and are never cut.
  static func cut(_ line: String, to columns: Int?) -> String {
    // No character takes more places than bytes.
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

  /// The places that a line takes. Escape sequences take none.
  static func width(of line: String) -> Int {
    var (width, isEscape) = (0, false)
    for character in line {
      if character == "\u{1B}" { isEscape = true }
      if !isEscape { width += DisplayWidth.of(character) }
      if isEscape, character.isLetter { isEscape = false }
    }
    return width
  }

  /// A name and its amount in one line. Where it is too narrow for both, the name is cut and the amount is not.
  static func row(_ name: String, _ amount: String, columns: Int) -> String {
    cut(name, to: max(0, columns - DisplayWidth.of(amount) - 1)) + " " + amount
  }

  /// The lines that the terminal has room for. Where some are hidden, the last row says how many.
  static func fit(_ lines: [String], to size: Terminal.Size?, _ words: MessageCatalog) -> [String] {
    guard let size else { return lines }
    var shown = lines
    // Empty rows help least.
    if shown.count > size.rows { shown.removeAll(where: \.isEmpty) }
    if shown.count > size.rows, size.rows > 1 {
      shown = shown.prefix(size.rows - 1) + [words.moreRows(shown.count - size.rows + 1)]
    }
    return shown.prefix(size.rows).map { cut($0, to: size.columns) }
  }

  /// The entries around the chosen one, as many as there is room for, and how many are hidden above and below; an entry
  /// may be of several rows, and is shown whole or not at all. The chosen one goes before the marks.
  static func window(
    _ entries: [[String]], around chosen: Int, room: Int, _ words: MessageCatalog, _ palette: Palette = .none
  ) -> [String] {
    guard entries.indices.contains(chosen), entries.reduce(0, { $0 + $1.count }) > room else {
      return Array(entries.flatMap { $0 }.prefix(room))
    }
    var (shown, rows) = (chosen..<chosen + 1, entries[chosen].count)
    func marks(_ range: Range<Int>) -> Int {
      (range.lowerBound > 0 ? 1 : 0) + (range.upperBound < entries.count ? 1 : 0)
    }
    guard rows + marks(shown) <= room else {
      let mark = entries.count > 1 ? [palette.paint("↕ " + words.more(entries.count - 1), .quiet)] : []
      return Array((entries[chosen].prefix(room) + mark).prefix(room))
    }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      let above = max(0, shown.lowerBound - 1)..<shown.upperBound
      let below = shown.lowerBound..<min(entries.count, shown.upperBound + 1)
      // In turns, so that the chosen entry stays in the middle.
      for wider in [above, below] {
        let range = min(shown.lowerBound, wider.lowerBound)..<max(shown.upperBound, wider.upperBound)
        let added = range.reduce(0) { $0 + (shown.contains($1) ? 0 : entries[$1].count) }
        guard added > 0, rows + added + marks(range) <= room else { continue }
        (shown, rows, isGrowing) = (range, rows + added, true)
      }
    }
    let above = shown.lowerBound > 0 ? ["↑ " + words.more(shown.lowerBound)] : []
    let below = shown.upperBound < entries.count ? ["↓ " + words.more(entries.count - shown.upperBound)] : []
    return above.map { palette.paint($0, .quiet) } + entries[shown].flatMap { $0 }
      + below.map { palette.paint($0, .quiet) }
  }

  /// Hints such as `q leaves · r change back`, broken between them.
  static func hints(_ text: String, columns: Int?) -> [String] {
    flow(text.split(separator: " · ").map { String($0) }, separator: " · ", columns: columns)
  }

  /// Parts in one line, broken between them where the terminal is narrower, and within them only where it must be.
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

  /// A line for a terminal that goes on below, broken at its spaces where it is wider, so that no number is torn; what
  /// follows is set in. A word that is wider than the terminal stays whole, because somebody may want to copy it.
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

  /// A sentence, broken at its spaces where the terminal is narrower.
  static func sentence(_ text: String, columns: Int?) -> [String] {
    guard let columns, DisplayWidth.of(text) > columns else { return [text] }
    return DisplayWidth.wrapped(text, columns: columns)
  }
}

/// What stands around the middle of a full screen. What helps least goes first where there is no room: the empty rows,
/// what is extra, the keys, the title, the notice.
struct ScreenFrame {
  var title: [String]
  var extra: [String] = []
  var notice: [String]
  var keys: [String]
  /// Whether what is extra stands above the notice.
  var isExtraFirst = true

  /// The rows above and below, which leave at least so many to the middle where that is possible.
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
