// Owns what is written to a terminal so that other lines stand there than before.
// Invariant: where the lines before are known, only those that differ are written, each at its place; else all of them. A line
// that is written has nothing of the former one left.
import Posix

enum ScreenUpdate {
  /// - Parameters:
  ///   - before: what stands there; nil where nobody knows.
  ///   - size: of the terminal; nil where it does not say, and then everything is written.
  static func text(from before: [String]?, to lines: [String], _ size: Terminal.Size?) -> String {
    guard let before, size != nil else { return whole(lines, size) }
    var text = ""
    for row in 0..<max(before.count, lines.count) {
      let line = row < lines.count ? lines[row] : ""
      guard row >= before.count || before[row] != line else { continue }
      // Erased before and not behind a line, because behind a full one the cursor still stands on its last character.
      text += "\u{1B}[\(row + 1);1H\u{1B}[2K" + line
    }
    return text
  }

  private static func whole(_ lines: [String], _ size: Terminal.Size?) -> String {
    let text = "\u{1B}[H" + lines.map { "\u{1B}[2K" + $0 }.joined(separator: "\r\n")
    return lines.count < size?.rows ?? .max ? text + "\r\n\u{1B}[J" : text
  }
}
