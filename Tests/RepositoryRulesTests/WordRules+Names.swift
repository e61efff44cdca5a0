// The banned English words in names of Swift and C: a name is split at its capitals and underscores. Korean is
// not judged in names.

extension WordRules {
  static func checkNames(_ file: File) -> [Violation] {
    guard file.isSwift || file.isC else { return [] }
    let code = SourceText.code(of: file.text, in: file.isC ? .c : .swift)
    return code.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
      offset, line in
      names(in: line).compactMap { name in
        banned(in: name).map {
          Violation(
            file.path, line: offset + 1,
            "names \(name), which contains \"\($0.words.joined(separator: " "))\"; write \($0.instead)")
        }
      }
    }
  }

  private static func banned(in name: Substring) -> BannedWord? {
    let words = words(of: name).map { Word(text: $0, line: 0, isNext: true) }
    return words.indices.lazy.flatMap { bans(in: words, at: $0) }.first
  }

  private static func names(in line: Substring) -> [Substring] {
    line.split { !($0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_") }.filter {
      $0.first?.isNumber == false
    }
  }

  /// `isToldSoon`, `is_told_soon` → is, told, soon; `HTTPNo` → http, no.
  private static func words(of name: Substring) -> [String] {
    var words: [String] = []
    var word = ""
    let letters = Array(name)
    for (place, letter) in letters.enumerated() {
      let follows = place + 1 < letters.count ? letters[place + 1] : "_"
      let starts =
        letter.isUppercase && place > 0 && (!letters[place - 1].isUppercase || follows.isLowercase)
      if starts || !letter.isLetter, !word.isEmpty {
        words.append(word)
        word = ""
      }
      if letter.isLetter { word += letter.lowercased() }
    }
    return word.isEmpty ? words : words + [word]
  }
}
