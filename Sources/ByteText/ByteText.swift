// Text that carries arbitrary bytes. Arguments, environment values and paths need not be UTF-8, but a Swift
// String always is. Each byte that is not part of valid UTF-8 becomes one scalar, U+10FF00 plus the byte
// (U+10FF80 to U+10FFFF, the end of a plane for private use). If the input contains one of these scalars in
// UTF-8, each of its four bytes becomes one scalar, too. A byte that a scalar carries in this way is a foreign
// byte.
// Invariant: `bytes(of: text(of: bytes))` equals `bytes`.

/// Conversion between arbitrary bytes and text, without loss.
public enum ByteText {
  /// The text of these bytes. Valid UTF-8 without a scalar from U+10FF80 to U+10FFFF stays unchanged.
  public static func text(of bytes: some Collection<UInt8>) -> String {
    let whole = bytes.withContiguousStorageIfAvailable(exactText)
    return whole ?? Array(bytes).withUnsafeBufferPointer(exactText)
  }

  /// The text of a C string.
  public static func text(of string: UnsafePointer<CChar>) -> String {
    var count = 0
    while string[count] != 0 { count += 1 }
    return string.withMemoryRebound(to: UInt8.self, capacity: count) {
      exactText(UnsafeBufferPointer(start: $0, count: count))
    }
  }

  /// The bytes that a text carries: one byte for each scalar from U+10FF80 to U+10FFFF, and UTF-8 for all other
  /// scalars.
  public static func bytes(of text: String) -> [UInt8] {
    guard containsNonUTF8Bytes(text) else { return Array(text.utf8) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if let byte = nonUTF8Byte(scalar) {
        bytes.append(byte)
      } else {
        bytes.append(contentsOf: UTF8.encode(scalar)!)
      }
    }
    return bytes
  }

  /// True if the text carries foreign bytes.
  public static func containsNonUTF8Bytes(_ text: String) -> Bool {
    var text = text
    // In UTF-8, these scalars start with the bytes F4 8F BE or F4 8F BF. Texts with the byte F4 are rare.
    return text.withUTF8 { bytes in
      guard bytes.contains(0xf4) else { return false }
      return bytes.indices.contains { place in
        bytes[place] == 0xf4 && bytes[place + 1] == 0x8f && bytes[place + 2] >= 0xbe
      }
    }
  }

  /// The first foreign byte, and the number of bytes before it; nil if there is none.
  public static func firstNonUTF8Byte(in text: String) -> (byte: UInt8, offset: Int)? {
    guard containsNonUTF8Bytes(text) else { return nil }
    var offset = 0
    for scalar in text.unicodeScalars {
      if let byte = nonUTF8Byte(scalar) { return (byte, offset) }
      offset += UTF8.width(scalar)
    }
    return nil
  }

  /// The text for display. Each foreign byte is written in the form `\xE9`.
  public static func shown(_ text: String) -> String {
    guard containsNonUTF8Bytes(text) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if let byte = nonUTF8Byte(scalar) {
        shown += escapedByte(byte)
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// The text as a string literal: quotes, backslashes and control characters are escaped, and each foreign
  /// byte is written in the form `\xE9`.
  public static func quoted(_ text: String) -> String {
    guard containsNonUTF8Bytes(text) else { return String(reflecting: text) }
    var (quoted, run) = ("\"", "")
    /// Adds the characters since the last foreign byte, with their escapes.
    func flush() {
      quoted += String(reflecting: run).dropFirst().dropLast()
      run = ""
    }
    for scalar in text.unicodeScalars {
      guard let byte = nonUTF8Byte(scalar) else {
        run.unicodeScalars.append(scalar)
        continue
      }
      flush()
      quoted += escapedByte(byte)
    }
    flush()
    return quoted + "\""
  }

  /// A byte in the form `\xE9`.
  public static func escapedByte(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "\\x" + (byte < 0x10 ? "0" : "") + digits
  }

  /// Scalar to which a foreign byte is added.
  private static let first: UInt32 = 0x10ff00

  /// The foreign byte that a scalar carries; nil for any other scalar.
  private static func nonUTF8Byte(_ scalar: Unicode.Scalar) -> UInt8? {
    scalar.value >= first + 0x80 ? UInt8(scalar.value - first) : nil
  }

  private static func exactText(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self), !containsNonUTF8Bytes(text) { return text }
    var text = ""
    var place = 0
    while place < bytes.count {
      if let scalar = scalar(in: bytes, at: place), nonUTF8Byte(scalar) == nil {
        text.unicodeScalars.append(scalar)
        place += UTF8.width(scalar)
      } else {
        text.unicodeScalars.append(Unicode.Scalar(first + UInt32(bytes[place]))!)
        place += 1
      }
    }
    return text
  }

  /// The scalar whose complete and shortest encoding starts at `place`; nil if there is none.
  private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Unicode.Scalar? {
    let length: Int
    switch bytes[place] {
    case 0..<0x80: length = 1
    case 0xc2..<0xe0: length = 2
    case 0xe0..<0xf0: length = 3
    case 0xf0..<0xf5: length = 4
    default: return nil
    }
    guard place + length <= bytes.count else { return nil }
    let piece = UnsafeBufferPointer(rebasing: bytes[place..<(place + length)])
    return String(validating: piece, as: UTF8.self)?.unicodeScalars.first
  }
}

extension UTF8 {
  fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0..<0x80: 1
    case 0x80..<0x800: 2
    case 0x800..<0x10000: 3
    default: 4
    }
  }
}
