// Notice of a full screen about its service: the last event until the next key, or the information that the
// service is not connected or does not answer.

/// Notice of a full screen: the last event, or the state of the service.
struct ServiceNotice {
  /// Notice while the service is not connected.
  let absence: String
  /// Notice for a key that was refused because the service does not answer.
  let refusedKey: String
  /// The last event; nil for none.
  private(set) var last: (text: String, isAlarm: Bool)?
  /// Notice while the service does not answer; nil while it does.
  var silence: String?
  /// True while the service is connected.
  var isConnected = false {
    didSet { if isConnected { forgetAbsence() } }
  }

  init(absence: String, refusedKey: String) {
    self.absence = absence
    self.refusedKey = refusedKey
  }

  /// Shows a text until the next key.
  mutating func say(_ text: String, isAlarm: Bool = true) { last = (text, isAlarm) }
  /// Appends a text to the shown one.
  mutating func add(_ text: String) { say([last?.text, text].compactMap { $0 }.joined(separator: " ")) }
  /// Removes the shown text, for a new key.
  mutating func clear() { last = nil }

  /// Removes the shown text if it says that the service is absent or refused a key, because the service is there again.
  mutating func forgetAbsence() {
    for text in [absence, refusedKey] {
      guard let shown = last, shown.text.hasPrefix(text) else { continue }
      // What was appended to it stays.
      let rest = shown.text.dropFirst(text.count).drop { $0 == " " }
      last = rest.isEmpty ? nil : (String(rest), shown.isAlarm)
    }
  }

  /// Returns the request of a key, or nil if the service is not connected or has sent no snapshot yet. The
  /// key is then refused, so that no old key is executed later.
  mutating func grant<UserCommand>(_ userCommand: UserCommand, hasSnapshot: Bool) -> UserCommand? {
    guard isConnected, hasSnapshot else {
      say(refusedKey)
      return nil
    }
    return userCommand
  }

  /// The lines to show; an empty line if there is nothing to report.
  func lines(hasSnapshot: Bool, columns: Int?, _ palette: Palette) -> [String] {
    let (text, isAlarm) = last ?? (silence ?? (isConnected && hasSnapshot ? "" : absence), true)
    return Screen.sentence(text, columns: columns).map { palette.paint($0, isAlarm ? .alarm : .waiting) }
  }
}
