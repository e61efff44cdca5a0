// Splits the line of an example into words as a shell would, for the quoting that examples use: single and
// double quotes, backslash, operators. Nothing is run or expanded.
// Invariant: any text gives words, or nil for an unclosed quote or a backslash at the end; nothing traps.

extension Example {
  /// The arguments after the program's name, as the program would receive them.
  ///
  /// In a line with pipes, redirections or several commands, only the first part that starts with the program's
  /// name counts. Variables before it (`NAME=value program …`) are skipped.
  /// - Returns: nil if no part starts with the program, a quote is unclosed, or the line ends in a backslash.
  public func arguments(of program: String, in language: TextLanguage = .english) -> [String]? {
    guard let segments = Self.segments(line[language]) else { return nil }
    for segment in segments {
      let words = segment.drop { $0.contains("=") && !$0.hasPrefix("-") }
      guard let first = words.first else { continue }
      if first == program || first.hasSuffix("/" + program) { return Array(words.dropFirst()) }
    }
    return nil
  }

  /// The words of the line, one list for each part between operators; nil for an unclosed quote or a final backslash.
  private static func segments(_ line: String) -> [[String]]? {
    var segments: [[String]] = [[]]
    var word: String?
    var quote: Character?
    var isEscaped = false
    /// Ends the current word, if there is one, and adds it to the last part.
    func close() {
      if let finished = word { segments[segments.count - 1].append(finished) }
      word = nil
    }
    for character in line {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        close()
      } else if "|&;<>".contains(character) {
        close()
        segments.append([])
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if quote != nil || isEscaped { return nil }
    close()
    return segments
  }
}
