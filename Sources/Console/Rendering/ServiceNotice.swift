// Owns what a full screen says of the service behind it: what happened last, until the next key, and else that the service
// is away or silent.
// Invariant: where the service is there again, nothing says any longer that it is away.

struct ServiceNotice {
  /// What is said while the service is away, and of a key that asked it for something meanwhile.
  let absence: String
  let refusedKey: String
  /// What happened last; nil where nothing has.
  private(set) var last: (text: String, isAlarm: Bool)?
  /// What is to be said while the service does not answer; nil while it does.
  var silence: String?
  /// Whether the service can be asked just now.
  var isConnected = false {
    didSet { if isConnected { forgetAbsence() } }
  }

  init(absence: String, refusedKey: String) {
    self.absence = absence
    self.refusedKey = refusedKey
  }

  mutating func say(_ text: String, isAlarm: Bool = true) { last = (text, isAlarm) }
  /// Says something behind what is said already.
  mutating func add(_ text: String) { say([last?.text, text].compactMap { $0 }.joined(separator: " ")) }
  mutating func clear() { last = nil }

  mutating func forgetAbsence() {
    if let text = last?.text, [absence, refusedKey].contains(text) { last = nil }
  }

  /// What a key may ask for: a service that is away, or has told nothing yet, shall not catch up on keys later.
  mutating func grant<Wish>(_ wish: Wish, hasPicture: Bool) -> Wish? {
    guard isConnected, hasPicture else {
      say(refusedKey)
      return nil
    }
    return wish
  }

  func lines(hasPicture: Bool, columns: Int?, _ palette: Palette) -> [String] {
    let (text, isAlarm) = last ?? (silence ?? (isConnected && hasPicture ? "" : absence), true)
    return Screen.sentence(text, columns: columns).map { palette.paint($0, isAlarm ? .alarm : .waiting) }
  }
}
