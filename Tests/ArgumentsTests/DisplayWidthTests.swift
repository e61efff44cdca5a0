// Widths of texts in a terminal, and line breaks: a case for each sort of character: Hangul whole and in
// letters, CJK, full-width, combining, emoji. A failure here shows as crooked columns in Korean help.

import Arguments
import Testing

@Suite("Display width")
struct DisplayWidthTests {
  @Test(
    "every character takes the columns a terminal gives it",
    arguments: [
      ("", 0), ("abc", 3), ("딸기", 4), ("\u{1103}\u{1161}\u{11AF}\u{1100}\u{1175}", 4), ("漢字", 4), ("カナ", 4),
      ("ａ", 2), ("é", 1), ("e\u{301}", 1), ("🍓", 2), ("👨‍👩‍👧", 2), ("🇰🇷", 2), ("☎️", 2), ("…", 1),
      ("a\u{200B}b", 2),
    ])
  func widths(text: String, columns: Int) {
    #expect(DisplayWidth.of(text) == columns)
  }

  @Test("padding counts columns, not characters")
  func padding() {
    #expect(DisplayWidth.padded("딸기", to: 6) == "딸기  ")
    #expect(DisplayWidth.padded("딸기", to: 3) == "딸기")
  }

  @Test("lines break at spaces and never grow wider than given")
  func wrapping() {
    #expect(DisplayWidth.wrapped("one two three", columns: 7) == ["one two", "three"])
    #expect(DisplayWidth.wrapped("딸기 바나나 키위", columns: 11) == ["딸기 바나나", "키위"])
    #expect(DisplayWidth.wrapped("abcdefgh ij", columns: 3) == ["abc", "def", "gh", "ij"])
    #expect(DisplayWidth.wrapped("one\n\ntwo", columns: 10) == ["one", "", "two"])
    #expect(DisplayWidth.wrapped("", columns: 10) == [""])
    #expect(DisplayWidth.wrapped("딸기", columns: 0) == ["딸", "기"])
  }

  @Test("a word that may be copied stays whole, in a line of its own if it is wider than one")
  func wholeWords() {
    #expect(DisplayWidth.wrapped("a abcdefgh ij", columns: 3, cutting: false) == ["a", "abcdefgh", "ij"])
    #expect(DisplayWidth.wrapped("딸기 바나나주스", columns: 6, cutting: false) == ["딸기", "바나나주스"])
  }
}
