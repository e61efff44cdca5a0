// Owns the colours of the branch: which there are, and whether they are used at all.
// Invariant: without colours a text comes back as it was, so nothing but a terminal ever sees an escape
// sequence.
import BankModel

package struct Palette: Sendable, Equatable {
  /// A meaning that has a colour, with the parameters of its escape sequence (ECMA-48 SGR; 38;5 is the palette of
  /// 256 colours).
  package enum Role: String, Sendable, CaseIterable {
    case loan = "38;5;135"
    case waiting = "1;32"
    case serving = "1;38;5;62"
    case alarm = "31"
    /// What is less important.
    case quiet = "2"
    /// What stands over a list.
    case heading = "1"
  }

  let isOn: Bool
  static let none = Palette(isOn: false)

  init(isOn: Bool) { self.isOn = isOn }

  /// Decides by the terminal and the variables that ask for none (https://no-color.org).
  init(isTerminal: Bool, variable: (String) -> String?) {
    let refuses = variable("NO_COLOR").map { !$0.isEmpty } ?? false
    isOn = isTerminal && !refuses && variable("TERM") != "dumb"
  }

  package func paint(_ text: String, _ role: Role?) -> String {
    guard isOn, let role, !text.isEmpty else { return text }
    return "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m"
  }

  func paint(_ text: String, of service: ServiceName) -> String {
    paint(text, service == .loan ? .loan : nil)
  }
}
