// Output that changes the lines of a terminal.
// Invariant: if the former lines are known, only different lines are written, each in its row; otherwise all
// lines are written. A written line replaces the former line completely.
import Posix

/// Computes the output that changes a terminal from one screen to the next.
enum ScreenUpdate {
  /// The text and escape sequences to write.
  /// - Parameters:
  ///   - before: present lines of the terminal; nil if unknown.
  ///   - size: size of the terminal; nil if unknown, and then all lines are written.
  static func text(from before: [String]?, to lines: [String], _ size: Terminal.Size?) -> String {
    guard let before, size != nil else { return whole(lines, size) }
    var text = ""
    for row in 0..<max(before.count, lines.count) {
      let line = row < lines.count ? lines[row] : ""
      guard row >= before.count || before[row] != line else { continue }
      // Erase before the line, not after it: after a full line the cursor is still on its last character.
      text += "\u{1B}[\(row + 1);1H\u{1B}[2K" + line
    }
    return text
  }

  /// Output that writes all lines and clears the rows below them.
  private static func whole(_ lines: [String], _ size: Terminal.Size?) -> String {
    let text = "\u{1B}[H" + lines.map { "\u{1B}[2K" + $0 }.joined(separator: "\r\n")
    return lines.count < size?.rows ?? .max ? text + "\r\n\u{1B}[J" : text
  }
}
