// Owns the sentences about the board and about what is done to a window's process.
// Invariant: a sentence says what is true when it is printed.
import Arguments
import Wire

extension MessageCatalog {
  func noSuchWindow(_ name: String) -> String {
    say(
      "There is no window \(quoted(name)). 'bankctl board' names those there are.",
      "\(quoted(name)) 창구는 없습니다. 있는 창구는 'bankctl board'가 보여 줍니다.")
  }

  /// - Parameter subject: The window, and the generation and the process that are there now; process 0 for none.
  func otherProcess(_ subject: String) -> String {
    let parts = subject.split(separator: " ").map(String.init)
    let window = safe(parts.first ?? subject)
    guard parts.count == 3, parts[2] != "0" else {
      return say(
        "There is no process at \(window) any more: nobody was ended. Look again with 'bankctl board'.",
        "\(window) 창구에는 이제 프로세스가 없습니다. 끝낸 프로세스는 없습니다. 'bankctl board'로 다시 보세요.")
    }
    return say(
      "Another process is at \(window) by now (generation \(parts[1]), pid \(parts[2])): nobody was ended. Look again with "
        + "'bankctl board'.",
      "\(window) 창구에는 이제 다른 프로세스가 있습니다(\(parts[1])세대, pid \(parts[2])). 끝낸 프로세스는 없습니다. 'bankctl board'로 다시 보세요."
    )
  }
}
