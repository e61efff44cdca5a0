// The colours of the display, and the decision to use them.
// Invariant: without colours a text is unchanged.
import BankModel

/// Colours of a terminal; none for output without colours.
package struct Palette: Sendable, Equatable {
  /// Meaning of a text, which decides the colour of the text.
  package enum Role: Sendable, CaseIterable {
    case loan, waiting, serving, alarm
    /// Less important text.
    case quiet
    /// Heading of a list.
    case heading

    /// Parameters of the escape sequence. ECMA-48 SGR; 38;5 selects from the palette of 256 colours, 38;2
    /// sets red, green, blue.
    func parameters(_ depth: Depth) -> String {
      switch (self, depth) {
      case (.loan, .sixteen): "35"
      case (.loan, .palette): "38;5;135"
      case (.loan, .full): "38;2;175;82;222"
      case (.waiting, _): "1;32"
      case (.serving, .sixteen): "1;34"
      case (.serving, .palette): "1;38;5;62"
      case (.serving, .full): "1;38;2;88;86;214"
      case (.alarm, _): "31"
      case (.quiet, _): "2"
      case (.heading, _): "1"
      }
    }
  }

  /// Number of colours of a terminal: 16, 256, or any.
  package enum Depth: Sendable, Equatable { case sixteen, palette, full }

  let isOn: Bool
  let depth: Depth
  static let none = Palette(isOn: false)

  init(isOn: Bool, depth: Depth = .palette) { (self.isOn, self.depth) = (isOn, depth) }

  /// Uses colours on a terminal unless variables disable them (https://no-color.org).
  init(isTerminal: Bool, variable: (String) -> String?) {
    let refuses = variable("NO_COLOR").map { !$0.isEmpty } ?? false
    isOn = isTerminal && !refuses && variable("TERM") != "dumb"
    depth = Self.depth(terminal: variable("TERM") ?? "", colours: variable("COLORTERM") ?? "")
  }

  /// Number of colours. Terminals with 16 colours are recognised by their names. Most others have 256, even if TERM
  /// does not show it.
  private static func depth(terminal: String, colours: String) -> Depth {
    if ["truecolor", "24bit"].contains(colours) { return .full }
    let isPlain =
      ["linux", "ansi", "cygwin", "xterm-16color"].contains(terminal)
      || ["vt", "sun", "cons"].contains { terminal.hasPrefix($0) }
    return isPlain ? .sixteen : .palette
  }

  /// The text in the colour of a meaning; unchanged without colours or meaning.
  package func paint(_ text: String, _ role: Role?) -> String {
    guard isOn, let role, !text.isEmpty else { return text }
    return "\u{1B}[\(role.parameters(depth))m\(text)\u{1B}[0m"
  }

  /// The text in the colour of a service; only loans have one.
  func paint(_ text: String, of service: ServiceName) -> String {
    paint(text, service == .loan ? .loan : nil)
  }
}
