// Lexer of a schema in CDDL (RFC 8610): names, numbers, texts and signs. Constructs that are not supported
// (floating point, hexadecimal numbers, byte strings, escapes) are a CDDLError and not skipped.

/// A piece of a schema.
enum CDDLToken: Equatable {
  case name(String)
  case number(Int128)
  case text(String)
  /// `.size`, without the point.
  case control(String)
  /// `=`, `//`, `{` and the like.
  case sign(String)
  case end
}

struct CDDLScanner {
  private var rest: Substring
  private(set) var line = 1

  init(_ text: String) { rest = text[...] }

  /// The next piece; at the end always the end.
  mutating func next() throws(CDDLError) -> CDDLToken {
    skipBlanks()
    guard let first = rest.first else { return .end }
    if Self.isLetter(first) {
      return .name(String(take { Self.isLetter($0) || Self.isDigit($0) || $0 == "-" }))
    }
    if Self.isDigit(first) || first == "-" { return .number(try number()) }
    if first == "\"" { return .text(try text()) }
    if rest.hasPrefix("...") { throw error("ranges without their end are not understood") }
    for sign in ["//", "..", "/", "=", "{", "}", "[", "]", "(", ")", ":", ",", "?", "*", "+"]
    where rest.hasPrefix(sign) {
      rest = rest.dropFirst(sign.count)
      return .sign(sign)
    }
    if first == ".", let second = rest.dropFirst().first, Self.isLetter(second) {
      rest = rest.dropFirst()
      return .control(String(take { Self.isLetter($0) }))
    }
    throw error("\(first) is not understood")
  }

  /// An error in the present line.
  func error(_ words: String) -> CDDLError { CDDLError(line: line, words: words) }

  private mutating func skipBlanks() {
    while let first = rest.first {
      if first == ";" {
        _ = take { $0 != "\n" }
      } else if first.isWhitespace {
        rest = rest.dropFirst()
      } else {
        return
      }
      if first == "\n" { line += 1 }
    }
  }

  private mutating func number() throws(CDDLError) -> Int128 {
    let isNegative = rest.first == "-"
    if isNegative { rest = rest.dropFirst() }
    let digits = take(Self.isDigit)
    let isWhole = rest.first.map { !Self.isLetter($0) && ($0 != "." || rest.hasPrefix("..")) } ?? true
    guard isWhole, digits == "0" || digits.first != "0", let number = Int128((isNegative ? "-" : "") + digits)
    else {
      throw error("only whole decimal numbers are understood")
    }
    return number
  }

  private mutating func text() throws(CDDLError) -> String {
    rest = rest.dropFirst()
    let text = take { $0 != "\"" && $0 != "\n" && $0 != "\\" }
    guard rest.first == "\"" else { throw error("a text ends in its line, and has no escapes") }
    rest = rest.dropFirst()
    return String(text)
  }

  private mutating func take(_ belongs: (Character) -> Bool) -> Substring {
    let taken = rest.prefix(while: belongs)
    rest = rest[taken.endIndex...]
    return taken
  }

  private static func isLetter(_ character: Character) -> Bool {
    ("a"..."z").contains(character) || ("A"..."Z").contains(character)
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}
