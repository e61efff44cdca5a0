// Decoder of terminal input: characters, and escape sequences of keys.
// Invariant: the division of bytes into portions does not affect the keys. An unknown sequence gives no key. Pasted
// text gives the key `paste`. A Ctrl-C or Ctrl-Z in pasted text gives that key, and ends the pasted text.

/// A key that the user pressed.
enum Key: Sendable, Equatable {
  case up, down, left, right, home, end, pageUp, pageDown, enter, escape, backspace
  /// Shift-Tab; Tab alone is Ctrl-I.
  case backTab
  /// Ctrl with a letter, in lower case.
  case control(Character)
  case character(Character)
  /// Pasted text, which is not interpreted as keys.
  case paste
}

/// Converts the bytes of a terminal into keys.
struct KeyDecoder: Sendable {
  private var pending: [UInt8] = []
  private var isPasting = false

  private static let escape: UInt8 = 0x1B
  /// Maximum length of a sequence; longer ones are dropped.
  private static let longest = 32
  /// Start and end of pasted text. Source: xterm ctlseqs, bracketed paste mode.
  private static let pasteBegin = Array("\u{1B}[200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  /// True if an incomplete sequence is pending, which may also be a lone Escape.
  var isWaiting: Bool { !isPasting && !pending.isEmpty }

  /// Adds input bytes, and returns the keys that are complete.
  mutating func take(_ bytes: [UInt8]) -> [Key] {
    var keys: [Key] = []
    for byte in bytes {
      // Ctrl-C and Ctrl-Z are handled in every state. Control characters take effect within a sequence
      // (ECMA-48).
      if byte == 0x03 || byte == 0x1A { (pending, isPasting) = ([], false) }
      pending.append(byte)
      if isPasting {
        pending = pending.suffix(Self.pasteEnd.count)
        guard pending == Self.pasteEnd else { continue }
        (pending, isPasting) = ([], false)
        keys.append(.paste)
      } else if let key = complete() {
        keys.append(contentsOf: key)
      }
    }
    return keys
  }

  /// Returns the key Escape if a lone escape byte is pending, and drops any other incomplete sequence. Call it after
  /// a time without input.
  mutating func settle() -> Key? {
    guard !isPasting else { return nil }
    defer { pending = [] }
    return pending == [Self.escape] ? .escape : nil
  }

  /// The keys of the pending bytes; nil if they are incomplete.
  private mutating func complete() -> [Key]? {
    guard let first = pending.first else { return nil }
    let keys = first == Self.escape ? sequence() : character(first)
    isPasting = pending == Self.pasteBegin
    // The bytes of an overlong sequence are dropped up to its end.
    if keys == nil, pending.count > Self.longest { pending.removeLast() }
    // The second of two escapes may begin a sequence.
    if keys != nil { pending = keys == [.escape] ? [Self.escape] : [] }
    return keys
  }

  /// The keys of a pending CSI (`ESC [`) or SS3 (`ESC O`) sequence; nil if it is incomplete. Source: ECMA-48, xterm
  /// ctlseqs.
  private func sequence() -> [Key]? {
    guard pending.count > 1 else { return nil }
    // The first of two escapes is the key Escape. Any other byte after an escape is Alt with a key, which gives no key.
    guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
      return pending[1] == Self.escape ? [.escape] : []
    }
    guard pending.count > 2, let last = pending.last else { return nil }
    // Parameters and intermediate bytes precede the final one.
    guard (0x40...0x7E).contains(last) else { return nil }
    guard pending.count <= Self.longest else { return [] }
    let body = pending[2...]
    switch last {
    case UInt8(ascii: "A"): return [.up]
    case UInt8(ascii: "B"): return [.down]
    case UInt8(ascii: "C"): return [.right]
    case UInt8(ascii: "D"): return [.left]
    case UInt8(ascii: "H"): return [.home]
    case UInt8(ascii: "F"): return [.end]
    case UInt8(ascii: "Z"): return [.backTab]
    // Minus, plus and Enter of a keypad in application mode.
    case UInt8(ascii: "m") where body.count == 1: return [.character("-")]
    case UInt8(ascii: "k") where body.count == 1: return [.character("+")]
    case UInt8(ascii: "M") where body.count == 1: return [.enter]
    case UInt8(ascii: "~"):
      switch body.dropLast() {
      case [UInt8(ascii: "1")], [UInt8(ascii: "7")]: return [.home]
      case [UInt8(ascii: "4")], [UInt8(ascii: "8")]: return [.end]
      case [UInt8(ascii: "5")]: return [.pageUp]
      case [UInt8(ascii: "6")]: return [.pageDown]
      default: return []
      }
    default: return []
    }
  }

  /// The key of a pending character or control byte; nil if the character is incomplete.
  private func character(_ first: UInt8) -> [Key]? {
    switch first {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): return [.enter]
    case 0x01...0x1A: return [.control(Character(Unicode.Scalar(first + 0x60)))]
    case 0x7F: return [.backspace]
    case ..<0x20: return []
    case ..<0x80: return [.character(Character(Unicode.Scalar(first)))]
    case 0xC2...0xF4:
      let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      guard pending.count >= length else { return nil }
      guard let text = String(validating: pending, as: UTF8.self), let character = text.first else {
        return []
      }
      return [.character(character)]
    default: return []
    }
  }
}
