// Owns how the stock editor looks, on a terminal of any size.
// It must not know how it comes to the terminal, nor what a key does.
// Invariant: never more lines than the terminal has and none wider; the chosen line is always among them.
// Failure: none; on a terminal of one line the chosen one is all there is.
import Arguments
import BankModel
import Posix

/// The stock editor for people.
struct StockEditorPicture {
  let editor: StockEditor
  let palette: Palette

  /// The lines, top to bottom.
  func lines(size: Terminal.Size?) -> [String] {
    let body = choices
    let rows = size?.rows ?? 24
    var (head, foot) = (
      [palette.paint(editor.words.phrases.stockEditorTitle, .heading), ""], ["", notice, keys]
    )
    // What helps least goes first where there is no room: the empty lines, the keys, the title, the notice.
    for shorter in [([head[0]], [notice, keys]), ([head[0]], [notice]), ([], [notice]), ([], [])]
      as [([String], [String])]
    {
      if head.count + body.count + foot.count <= rows { break }
      (head, foot) = shorter
    }
    let room = max(1, rows - head.count - foot.count)
    let first = min(max(0, editor.chosen - room / 2), max(0, body.count - room))
    return (head + body[first..<min(body.count, first + room)] + foot).map {
      Screen.cut($0, to: size?.columns)
    }
  }

  private var notice: String {
    let text = editor.notice ?? (editor.isConnected && editor.picture != nil ? "" : editor.words.editorWaits)
    return palette.paint(text, .alarm)
  }

  private var keys: String { palette.paint(editor.words.editorKeys, .quiet) }

  private var choices: [String] {
    let width = editor.assortment.fruits.map { DisplayWidth.of(label($0)) }.max() ?? 0
    return editor.lines.enumerated().map { place, line in
      let isChosen = place == editor.chosen
      let mark = isChosen ? "▸ " : "  "
      switch line {
      case .close: return palette.paint(mark + editor.words.phrases.close, isChosen ? .heading : nil)
      case .fruit(let fruit, let quantity):
        let name = label(fruit)
        let gap = String(repeating: " ", count: width - DisplayWidth.of(name))
        let number = editor.picture == nil ? "?" : String(quantity)
        let indent = String(repeating: " ", count: max(0, 7 - number.count))
        return palette.paint(mark + name, isChosen ? .heading : nil) + gap + "  " + palette.paint("−", .quiet)
          + indent + palette.paint(number, quantity == 0 ? .alarm : isChosen ? .heading : nil) + "  "
          + palette.paint("+", .quiet)
      }
    }
  }

  private func label(_ fruit: Fruit) -> String {
    [fruit.emoji, fruit.name(in: editor.words.language)].filter { !$0.isEmpty }.joined(separator: " ")
  }
}
