// Suggestions for an unknown word: distance of two words, and the maximum distance of a suggestion.
// Invariant: the distance of long words is not computed, so a long word takes little time.

/// Finds the known words nearest to an unknown one.
public enum Suggestions {
  /// Maximum length of a compared word, in letters; a syllable of Hangul has two or three. The limit is needed
  /// because the comparison takes time proportional to the product of both lengths.
  static let longestWord = 64

  /// The nearest words, at most three, in the given order.
  ///
  /// The distance is that of Damerau and Levenshtein (optimal string alignment): insertions, deletions,
  /// substitutions and swaps of neighbours count one each. Case is ignored, and a syllable of Hangul counts as its
  /// two or three letters. A word is near if the distance is at most a third of the longer word. The words with the
  /// smallest distance are returned. If none is near, words that start with the typed text (three letters or more)
  /// are returned.
  public static func nearest(to typed: String, among words: [String]) -> [String] {
    let target = letters(of: typed)
    guard !target.isEmpty, target.count <= longestWord else { return [] }
    var best = Int.max
    var nearest: [String] = []
    for word in words where !nearest.contains(word) {
      let candidate = letters(of: word)
      guard candidate.count <= longestWord else { continue }
      let distance = distance(target, candidate)
      guard distance <= max(target.count, candidate.count) / 3, distance <= best else { continue }
      if distance < best { nearest = [] }
      best = distance
      nearest.append(word)
    }
    if nearest.isEmpty, target.count >= 3 {
      for word in words where word.lowercased().hasPrefix(typed.lowercased()) && !nearest.contains(word) {
        nearest.append(word)
      }
    }
    return Array(nearest.prefix(3))
  }

  /// Letters of a word, in lower case. A Hangul syllable is decomposed as in the Unicode Standard, section 3.12.
  static func letters(of word: String) -> [Character] {
    word.lowercased().flatMap { character -> [Character] in
      guard let scalar = character.unicodeScalars.first, (0xAC00...0xD7A3).contains(scalar.value) else {
        return [character]
      }
      let place = scalar.value - 0xAC00
      let parts =
        [0x1100 + place / 588, 0x1161 + place % 588 / 28] + (place % 28 > 0 ? [0x11A7 + place % 28] : [])
      return parts.compactMap { Unicode.Scalar($0).map(Character.init) }
    }
  }

  /// Optimal string alignment distance of two words. Dynamic programming over the prefixes of `b`, one row
  /// for each prefix of `a`. A swap needs the row before the last one, so three rows are stored.
  static func distance(_ a: [Character], _ b: [Character]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
      var row = [i]
      row.reserveCapacity(b.count + 1)
      for j in 1...b.count {
        let substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        var least = min(substitution, last[j] + 1, row[j - 1] + 1)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          least = min(least, beforeLast[j - 2] + 1)
        }
        row.append(least)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
