// Code of a source file without comments and the contents of string literals: they are blanked, byte for
// byte, so that lines and columns stay the same. Enough of Swift and C for that, and no more: an unclosed
// literal ends with its line, and the scanner never fails.

enum SourceText {
  enum Language {
    case swift, c
  }

  /// The text with every comment, and every string's contents unless requested, turned into spaces.
  static func code(of text: String, in language: Language = .swift, keepingStrings: Bool = false) -> String {
    var scanner = Scanner(bytes: Array(text.utf8), language: language, keepsStrings: keepingStrings)
    scanner.run()
    return String(decoding: scanner.bytes, as: UTF8.self)
  }

  private struct Scanner {
    var bytes: [UInt8]
    let language: Language
    let keepsStrings: Bool

    private var at = 0
    private var literals: [Literal] = []

    /// A string that is open. While `parentheses` is not nil the scanner is in the code of an interpolation.
    private struct Literal {
      let quote: UInt8
      let quotes: Int
      let hashes: Int
      var parentheses: Int?
    }

    init(bytes: [UInt8], language: Language, keepsStrings: Bool) {
      self.bytes = bytes
      self.language = language
      self.keepsStrings = keepsStrings
    }

    mutating func run() {
      while at < bytes.count {
        if let literal = literals.last, literal.parentheses == nil {
          stepInString(literal)
        } else {
          stepInCode()
        }
      }
    }

    private mutating func stepInCode() {
      switch bytes[at] {
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
        while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { blank() }
      case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
        blankBlockComment()
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        if !openString() { at += 1 }
      case UInt8(ascii: "'") where language == .c:
        literals.append(Literal(quote: bytes[at], quotes: 1, hashes: 0))
        at += 1
      case UInt8(ascii: "("):
        changeDepth(by: 1)
      case UInt8(ascii: ")"):
        changeDepth(by: -1)
      default:
        at += 1
      }
    }

    private mutating func stepInString(_ literal: Literal) {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\\"), run(of: UInt8(ascii: "#"), from: at + 1) >= literal.hashes {
        let escaped = at + 1 + literal.hashes
        if language == .swift, escaped < bytes.count, bytes[escaped] == UInt8(ascii: "(") {
          at = escaped + 1
          literals[literals.count - 1].parentheses = 0
        } else {
          // The escaped character may be the quote that would end the string; a line's end stays one.
          for _ in 0...(literal.hashes + 1) where at < bytes.count {
            blankInString()
          }
        }
      } else if byte == literal.quote, run(of: literal.quote, from: at) >= literal.quotes,
        run(of: UInt8(ascii: "#"), from: at + literal.quotes) >= literal.hashes
      {
        at += literal.quotes + literal.hashes
        literals.removeLast()
      } else if byte == UInt8(ascii: "\n"), literal.quotes == 1 {
        literals.removeLast()
      } else {
        blankInString()
      }
    }

    private mutating func openString() -> Bool {
      let hashes = language == .swift ? run(of: UInt8(ascii: "#"), from: at) : 0
      let start = at + hashes
      guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return false }
      let isLong = language == .swift && run(of: UInt8(ascii: "\""), from: start) >= 3
      literals.append(Literal(quote: UInt8(ascii: "\""), quotes: isLong ? 3 : 1, hashes: hashes))
      at = start + (isLong ? 3 : 1)
      return true
    }

    /// Counts the parentheses of an interpolation; the one that closes it leads back into the string.
    private mutating func changeDepth(by step: Int) {
      at += 1
      guard let depth = literals.last?.parentheses else { return }
      literals[literals.count - 1].parentheses = depth + step < 0 ? nil : depth + step
    }

    private mutating func blankBlockComment() {
      var depth = 0
      repeat {
        if bytes[at] == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*"), depth == 0 || language == .swift {
          depth += 1
          blank()
        } else if bytes[at] == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
          depth -= 1
          blank()
        }
        blank()
      } while at < bytes.count && depth > 0
    }

    private mutating func blankInString() {
      if keepsStrings { at += 1 } else { blank() }
    }

    private mutating func blank() {
      if at < bytes.count, bytes[at] != UInt8(ascii: "\n") { bytes[at] = UInt8(ascii: " ") }
      at += 1
    }

    private func peek(_ distance: Int) -> UInt8? {
      at + distance < bytes.count ? bytes[at + distance] : nil
    }

    private func run(of byte: UInt8, from start: Int) -> Int {
      var end = start
      while end < bytes.count, bytes[end] == byte { end += 1 }
      return end - start
    }
  }
}

extension File {
  /// The lines of the file without comments and strings, numbered from 1.
  var code: [(line: Int, text: Substring)] {
    SourceText.code(of: text, in: isC ? .c : .swift)
      .split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated().map { ($0.offset + 1, $0.element) }
  }

  /// The modules that a Swift file imports.
  var imports: [(line: Int, module: String)] {
    code.compactMap { line, text in
      let words = text.split(separator: " ").drop {
        $0.hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains($0)
      }
      guard words.first == "import" else { return nil }
      // `import struct Module.Name` names a declaration of the module.
      let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
      guard let path = words.dropFirst().first(where: { !kinds.contains($0) }) else { return nil }
      return (line, String(path.prefix { $0 != "." && $0 != ";" }))
    }
  }
}
