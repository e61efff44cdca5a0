// Layout of the stock editor on a terminal of any size.
// Invariant: the lines fit the terminal in number and width. The selected line is shown.
import Arguments
import BankModel
import Posix

/// Makes the lines of the stock editor.
struct StockEditorRenderer {
  let editor: StockEditor
  let palette: Palette

  /// All lines of the screen for a terminal of this size.
  func lines(size: Terminal.Size?) -> [String] {
    let body = choices(columns: size?.columns ?? 80)
    let title = Screen.sentence(editor.messages.phrases.stockEditorTitle, columns: size?.columns)
    let frame = ScreenFrame(
      title: title.map { palette.paint($0, .heading) },
      notice: editor.notice.lines(hasSnapshot: editor.picture != nil, columns: size?.columns, palette),
      keys: Screen.hints(editor.messages.editorKeys, columns: size?.columns).map { palette.paint($0, .quiet) }
    )
    let rows = size?.rows ?? 24
    let (head, foot) = frame.fitted(rows: rows, leaving: body.count)
    let room = max(1, rows - head.count - foot.count)
    let shown = Screen.window(body.map { [$0] }, around: editor.chosen, room: room, editor.messages, palette)
    return (head + shown + foot).map { Screen.cut($0, to: size?.columns) }
  }

  /// Width of an amount: 1,000,000 has seven digits.
  private static let numberWidth = 7

  /// One line for each fruit with its amount, and one to close, for a terminal of this width.
  private func choices(columns: Int) -> [String] {
    let names = editor.assortment.fruits.map { DisplayWidth.of(label($0)) }.max() ?? 0
    // On a narrow terminal the signs are dropped first, then the names are cut.
    let isWide = columns >= 2 + names + 2 + 1 + Self.numberWidth + 2 + 1
    return editor.lines.enumerated().map { place, line in
      let isChosen = place == editor.chosen
      let mark = isChosen ? "▸ " : "  "
      switch line {
      case .close: return palette.paint(mark + editor.messages.phrases.close, isChosen ? .heading : nil)
      case .fruit(let fruit, let quantity):
        let number = editor.picture == nil ? "?" : String(quantity)
        let name = isWide ? label(fruit) : Screen.cut(label(fruit), to: max(0, columns - 3 - number.count))
        let gap = String(repeating: " ", count: max(0, names - DisplayWidth.of(name)))
        let painted = palette.paint(number, quantity == 0 ? .alarm : isChosen ? .heading : nil)
        let beginning = palette.paint(mark + name, isChosen ? .heading : nil)
        guard isWide else { return beginning + " " + painted }
        let indent = String(repeating: " ", count: max(0, Self.numberWidth - number.count))
        return beginning + gap + "  " + palette.paint("−", .quiet) + indent + painted + "  "
          + palette.paint("+", .quiet)
      }
    }
  }

  /// Emoji and display name of a fruit.
  private func label(_ fruit: Fruit) -> String {
    [fruit.emoji, fruit.name(in: editor.messages.language)].filter { !$0.isEmpty }.joined(separator: " ")
  }
}
