// Owns drawing over what was drawn before, in place, without clearing what stood on the terminal earlier.
// It must not know what is drawn.
// Invariant: never more lines than the terminal has, or the cursor could not get back to the first.
// Failure: none.
import Arguments
import Posix

/// A place on a terminal that is drawn again and again.
struct Screen {
  private var drawn = 0

  /// What to write so that the new lines stand where the old ones stood (ECMA-48: CUU, EL, ED).
  mutating func redraw(_ lines: [String], size: Terminal.Size?) -> String {
    let rows = size.map { max(1, $0.rows - 1) } ?? lines.count
    let shown = lines.prefix(rows)
    var text = drawn > 0 ? "\u{1B}[\(drawn)A\r" : ""
    for line in shown { text += "\u{1B}[K" + Self.cut(line, to: size?.columns) + "\n" }
    text += "\u{1B}[J"
    drawn = shown.count
    return text
  }

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
}
