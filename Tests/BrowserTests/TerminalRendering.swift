// Screen of a terminal, from `tmux capture-pane -e`, as a document with one coloured cell for each character. It
// interprets colours of terminals (ECMA-48, SGR) and no content.
import Arguments

enum TerminalRendering {
  /// Colours and style of a character.
  private struct CellStyle {
    var foreground: String?
    var background: String?
    var isBold = false, isFaint = false, isReversed = false, isUnderlined = false

    var style: String {
      var (foreground, background) = (
        foreground ?? TerminalRendering.foreground, background ?? TerminalRendering.background
      )
      if isReversed { swap(&foreground, &background) }
      return "color:\(foreground);background:\(background)" + (isBold ? ";font-weight:700" : "")
        + (isFaint ? ";opacity:.65" : "") + (isUnderlined ? ";text-decoration:underline" : "")
    }
  }

  private static let foreground = "#d8dee9"
  private static let background = "#101521"
  private static let sixteen = [
    "#2e3440", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9", "#697386",
    "#ff7b86",
    "#b5e890", "#ffd98a", "#82c4ff", "#dc9bf0", "#7fdbe8", "#ffffff",
  ]

  /// Document of a screen.
  static func document(of screen: String) -> String {
    var cellStyle = CellStyle()
    let rows = screen.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      "<div>" + cells(line, &cellStyle) + "</div>"
    }
    return """
      <!doctype html><meta charset=utf-8><title>top</title><style>
      body{margin:0;padding:12px;background:\(background);font:15px/1.25 "DejaVu Sans Mono",NanumGothicCoding,monospace}
      main{display:inline-block} div{white-space:pre;height:1.25em}
      i{font-style:normal;display:inline-block;width:1ch;height:1.25em;overflow:hidden;vertical-align:top} .w{width:2ch}
      </style><main>\(rows.joined())</main>
      """
  }

  private static func cells(_ line: Substring, _ cellStyle: inout CellStyle) -> String {
    var html = ""
    var rest = line
    while let character = rest.popFirst() {
      if character == "\u{1B}", rest.first == "[" {
        let numbers = rest.dropFirst().prefix { $0 != "m" }
        rest = rest[numbers.endIndex...].dropFirst()
        apply(
          numbers.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }, &cellStyle)
        continue
      }
      let text =
        switch character {
        case "&": "&amp;"
        case "<": "&lt;"
        default: String(character)
        }
      let wide = DisplayWidth.of(character) == 2 ? " class=w" : ""
      html += "<i\(wide) style='\(cellStyle.style)'>\(text)</i>"
    }
    return html
  }

  private static func apply(_ numbers: [Int], _ cellStyle: inout CellStyle) {
    var rest = numbers[...]
    while let number = rest.popFirst() {
      switch number {
      case 0: cellStyle = CellStyle()
      case 1: cellStyle.isBold = true
      case 2: cellStyle.isFaint = true
      case 4: cellStyle.isUnderlined = true
      case 7: cellStyle.isReversed = true
      case 22: (cellStyle.isBold, cellStyle.isFaint) = (false, false)
      case 24: cellStyle.isUnderlined = false
      case 27: cellStyle.isReversed = false
      case 30...37: cellStyle.foreground = sixteen[number - 30]
      case 90...97: cellStyle.foreground = sixteen[number - 82]
      case 40...47: cellStyle.background = sixteen[number - 40]
      case 100...107: cellStyle.background = sixteen[number - 92]
      case 38: cellStyle.foreground = color(&rest)
      case 48: cellStyle.background = color(&rest)
      case 39: cellStyle.foreground = nil
      case 49: cellStyle.background = nil
      default: break
      }
    }
  }

  /// One of 256 colours, or an RGB colour: `5;N` or `2;R;G;B`.
  private static func color(_ rest: inout ArraySlice<Int>) -> String? {
    switch rest.popFirst() {
    case 5:
      guard let number = rest.popFirst() else { return nil }
      if number < 16 { return sixteen[max(0, number)] }
      if number >= 232 {
        return "rgb(\(8 + (number - 232) * 10),\(8 + (number - 232) * 10),\(8 + (number - 232) * 10))"
      }
      let parts = [(number - 16) / 36, (number - 16) / 6 % 6, (number - 16) % 6].map {
        $0 == 0 ? 0 : 55 + $0 * 40
      }
      return "rgb(\(parts[0]),\(parts[1]),\(parts[2]))"
    case 2:
      let parts = (0..<3).map { _ in rest.popFirst() ?? 0 }
      return "rgb(\(parts[0]),\(parts[1]),\(parts[2]))"
    default: return nil
    }
  }
}
