// Owns how lines are made to fit a terminal: cut, wrapped, a part of them shown, and a word about what is hidden.
// It must not know what the lines say, nor how they come to the terminal.
// Invariant: what fits no wider than the columns and no higher than the rows comes back as it was.
// Failure: none.
import Arguments
import Posix

/// Lines on a terminal of some size.
enum Screen {
  /// A line that does not wrap. Escape sequences take no place and are never cut.
  static func cut(_ line: String, to columns: Int?) -> String {
    guard let columns else { return line }
    var text = ""
    var width = 0
    var isEscape = false
    for character in line {
      if character == "\u{1B}" { isEscape = true }
      if isEscape {
        text.append(character)
        if character.isLetter { isEscape = false }
        continue
      }
      width += DisplayWidth.of(character)
      if width <= columns { text.append(character) }
    }
    return text
  }

  /// The lines that the terminal has room for. Where some are hidden, the last row says how many.
  static func fit(_ lines: [String], to size: Terminal.Size?, _ words: Words) -> [String] {
    guard let size else { return lines }
    var shown = lines
    // Empty rows help least.
    if shown.count > size.rows { shown.removeAll(where: \.isEmpty) }
    if shown.count > size.rows, size.rows > 1 {
      shown = shown.prefix(size.rows - 1) + [words.moreRows(shown.count - size.rows + 1)]
    }
    return shown.prefix(size.rows).map { cut($0, to: size.columns) }
  }

  /// The rows around the chosen entry, as many as there is room for; entries may be of several rows.
  static func window(_ entries: [[String]], around chosen: Int, room: Int) -> [String] {
    let rows = entries.flatMap { $0 }
    guard entries.indices.contains(chosen), rows.count > room else { return Array(rows.prefix(room)) }
    let place = entries[..<chosen].reduce(0) { $0 + $1.count }
    let spare = max(0, room - entries[chosen].count)
    let first = min(max(0, place - spare / 2), rows.count - room)
    return Array(rows[first..<first + room])
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
