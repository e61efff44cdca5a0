// Width of a text in columns of a terminal.
// Source: UAX #11 (East Asian Width). Characters of ambiguous width, on which terminals differ, usually take one
// column.

/// Measures texts in columns of a terminal.
public enum DisplayWidth {
  /// Columns of a text on one line.
  public static func of(_ text: String) -> Int {
    // Fast path: most texts are ASCII.
    let isPlain = text.utf8.allSatisfy { 0x20 <= $0 && $0 < 0x7F }
    return isPlain ? text.utf8.count : text.reduce(0) { $0 + of($1) }
  }

  /// Columns of one character: 0, 1 or 2. A sequence of several scalars that is drawn as one (a syllable
  /// made of letters, a flag, a joined emoji) counts once.
  public static func of(_ character: Character) -> Int {
    var width = 0
    for scalar in character.unicodeScalars {
      // Variation selector 16 selects the emoji form, which is wide.
      if scalar.value == 0xFE0F { return 2 }
      width = max(width, of(scalar))
    }
    return width
  }

  /// Columns of one Unicode scalar: 0, 1 or 2.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x7F { return scalar.value < 0x20 ? 0 : 1 }
    if wide.contains(where: { $0.contains(scalar.value) }) { return 2 }
    if (0x1160...0x11FF).contains(scalar.value) { return 0 }
    switch scalar.properties.generalCategory {
    case .control, .nonspacingMark, .enclosingMark, .format: return 0
    default: return scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }

  /// Blocks whose characters count as two columns: Hangul, CJK, Kana, full-width forms, pictographs.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F,  // Hangul letters at the start of a syllable
    0x2E80...0x303E,  // CJK radicals and punctuation
    0x3041...0x33FF,  // Kana, Hangul compatibility letters, CJK symbols
    0x3400...0x4DBF,  // CJK extension A
    0x4E00...0x9FFF,  // CJK ideographs
    0xA000...0xA4CF,  // Yi
    0xA960...0xA97F,  // Hangul letters, extended A
    0xAC00...0xD7A3,  // Hangul syllables
    0xF900...0xFAFF,  // CJK compatibility ideographs
    0xFE30...0xFE6F,  // CJK compatibility forms
    0xFF00...0xFF60,  // full-width forms
    0xFFE0...0xFFE6,  // full-width signs
    0x1F300...0x1F64F,  // pictographs
    0x1F680...0x1F6FF,  // transport
    0x1F900...0x1F9FF,  // more pictographs
    0x1FA70...0x1FAFF,  // further pictographs
    0x20000...0x3FFFD,  // CJK extensions B and later
  ]

  /// The text padded with spaces to `columns`; unchanged if it is wider.
  public static func padded(_ text: String, to columns: Int) -> String {
    let missing = columns - of(text)
    return missing > 0 ? text + String(repeating: " ", count: missing) : text
  }

  /// The text broken at spaces into lines of at most `columns`. A word that is too wide is broken only if `cutting`.
  ///
  /// A newline in the text ends a line. An empty text is one empty line. `columns` below 2 counts as 2, so that a
  /// wide character fits.
  ///
  /// - Parameter cutting: True to break a word that is wider than a line. False to leave the word whole on a line of
  ///   its own, so that a user can copy it.
  public static func wrapped(_ text: String, columns: Int, cutting: Bool = true) -> [String] {
    let columns = max(columns, 2)
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      var used = 0
      for word in paragraph.split(separator: " ") {
        let width = of(String(word))
        if used > 0, used + 1 + width <= columns {
          line += " " + word
          used += 1 + width
          continue
        }
        if used > 0 { lines.append(line) }
        var pieces = cutting ? cut(word, columns: columns) : [String(word)]
        line = pieces.removeLast()
        used = of(line)
        lines += pieces
      }
      lines.append(line)
    }
    return lines
  }

  /// The word in pieces of at most `columns`; at least one piece.
  private static func cut(_ word: Substring, columns: Int) -> [String] {
    var pieces: [String] = []
    var piece = ""
    var used = 0
    for character in word {
      let width = of(character)
      if used + width > columns {
        pieces.append(piece)
        (piece, used) = ("", 0)
      }
      piece.append(character)
      used += width
    }
    return pieces + [piece]
  }
}
