// Korean particles whose form depends on the last sound of the preceding word: Hangul, numbers, Latin
// letters and words.
// Invariant: one form is returned, not both with a parenthesis. An end without a known sound counts as a vowel. Latin
// words are judged by their spelling, which can give a wrong particle.

/// A Korean particle with two forms; the last sound of the word before it decides which one is correct.
public enum KoreanParticle: Sendable, CaseIterable {
  /// 은, 는
  case topic
  /// 이, 가
  case subject
  /// 을, 를
  case object
  /// 과, 와
  case and
  /// 이나, 나
  case or
  /// 으로, 로; 로 also follows ㄹ.
  case by

  /// The word with its particle: `KoreanParticle.topic.on("재고")` is `재고는`.
  ///
  /// Quotes and parentheses at the end of the word are ignored: `'stock'` and `stock (full)` end in k.
  public func on(_ word: String) -> String { word + form(after: word) }

  /// The form of this particle after a word, without the word: `KoreanParticle.topic.form(after: "재고")` is `는`.
  public func form(after word: String) -> String {
    let end = FinalSound(of: word)
    switch self {
    case .topic: return end == .vowel ? "는" : "은"
    case .subject: return end == .vowel ? "가" : "이"
    case .object: return end == .vowel ? "를" : "을"
    case .and: return end == .vowel ? "와" : "과"
    case .or: return end == .vowel ? "나" : "이나"
    case .by: return end == .consonant ? "으로" : "로"
    }
  }

  /// Last sound of a word, which decides the form of its particle.
  private enum FinalSound {
    case vowel
    /// ㄹ
    case liquid
    case consonant

    /// The sound of the last letter, syllable or digit that is spoken.
    init(of word: String) {
      var text = word[...]
      Self.dropSilentCharacters(&text)
      guard let last = text.unicodeScalars.last else {
        self = .vowel
        return
      }
      switch last.value {
      case 0xAC00...0xD7A3:
        // The final consonant of a syllable is its index modulo 28: 0 is none, 8 is ㄹ. Source: Unicode 15,
        // section 3.12.
        switch (last.value - 0xAC00) % 28 {
        case 0: self = .vowel
        case 8: self = .liquid
        default: self = .consonant
        }
      // A single letter is read by its name: 기역, 니은, 리을.
      case 0x3131...0x314E: self = last.value == 0x3139 ? .liquid : .consonant
      case 0x30...0x39: self = Self.number(text)
      case 0x41...0x5A, 0x61...0x7A: self = Self.latin(text)
      default: self = .vowel
      }
    }

    /// Removes silent parts: quotes, punctuation, and a remark in parentheses.
    private static func dropSilentCharacters(_ text: inout Substring) {
      while let last = text.last, !(last.isLetter || last.isNumber) {
        if last == ")", let open = text.lastIndex(of: "("), open != text.startIndex {
          text = text[..<open]
        } else {
          text.removeLast()
        }
      }
    }

    /// Ending of a spoken number: 영 일 이 삼 사 오 육 칠 팔 구 for the last digit, 십 백 천 만 억 조 for zeros at the end.
    private static func number(_ text: Substring) -> FinalSound {
      let digits = text.reversed().prefix { $0.isASCII && ($0.isNumber || $0 == ",") }.filter { $0 != "," }
      let zeros = digits.prefix { $0 == "0" }.count
      if zeros > 0 { return (12...15).contains(zeros) && digits.count > zeros ? .vowel : .consonant }
      return switch digits.first {
      case "1", "7", "8": .liquid
      case "3", "6": .consonant
      default: .vowel
      }
    }

    /// Ending of a word in Latin letters, which is spelled letter by letter or pronounced as a word.
    private static func latin(_ text: Substring) -> FinalSound {
      let word = Array(text.reversed().prefix { $0.isASCII && $0.isLetter }.reversed())
      let letters = word.map { Character($0.lowercased()) }
      let isSpelled =
        letters.count == 1 || word.allSatisfy(\.isUppercase) || !letters.contains(where: isVowel)
      return isSpelled ? named(letters[letters.count - 1]) : spoken(letters)
    }

    /// Ending of the Korean name of a Latin letter: 엘 and 알 end in ㄹ, 엠 and 엔 in a consonant, all others in a
    /// vowel.
    private static func named(_ letter: Character) -> FinalSound {
      switch letter {
      case "l", "r": .liquid
      case "m", "n": .consonant
      default: .vowel
      }
    }

    /// Ending of a Latin word that is pronounced as a word: 스톡, 파일, 홈, 뱅크.
    private static func spoken(_ letters: [Character]) -> FinalSound {
      /// A letter counted from the end: 1 is the last one; nil before the start of the word.
      func letter(_ back: Int) -> Character? { letters.count >= back ? letters[letters.count - back] : nil }
      let isAfterOneVowel = letter(2).map(isVowel) == true && letter(3).map(isVowel) != true
      switch letters[letters.count - 1] {
      case "l": return .liquid
      case "m", "n": return .consonant
      case "g": return letter(2) == "n" ? .consonant : .vowel
      case "p", "t", "k", "c", "b":
        return isAfterOneVowel || (letter(1) == "k" && letter(2) == "c") ? .consonant : .vowel
      case "e" where letters.dropLast().contains(where: isVowel):
        // Silent e: file, time, line.
        return letter(2) == "l" ? .liquid : letter(2) == "m" || letter(2) == "n" ? .consonant : .vowel
      default: return .vowel
      }
    }

    /// True for a Latin vowel letter; `y` counts as one.
    private static func isVowel(_ letter: Character) -> Bool { "aeiouy".contains(letter) }
  }
}
