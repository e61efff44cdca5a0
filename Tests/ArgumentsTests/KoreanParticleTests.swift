// The particle after a text: syllables, numbers, Latin letters and words, and silent text after a word.

import Arguments
import Testing

@Suite("Korean particles")
struct KoreanParticleTests {
  @Test(
    "after a vowel",
    arguments: [
      "재고", "영업 1일차", "키위", "2", "4", "5", "9", "12", "1,000,000,000,000", "DB", "VIP", "a", "'status'",
      "juice",
      "service", "bank", "host", "/tmp/bank.db", "amount", "account", "key", "grade", "mango-kiwi",
      "딸기쥬스(주문 1-3)",
    ])
  func vowel(word: String) {
    #expect(KoreanParticle.topic.on(word) == word + "는")
    #expect(KoreanParticle.subject.on(word) == word + "가")
    #expect(KoreanParticle.object.on(word) == word + "를")
    #expect(KoreanParticle.and.on(word) == word + "와")
    #expect(KoreanParticle.or.on(word) == word + "나")
    #expect(KoreanParticle.by.on(word) == word + "로")
  }

  @Test(
    "after a consonant",
    arguments: [
      "설정", "16원", "은행", "10", "100", "1,000", "20,000", "100,000,000", "3", "6", "0", "JSON", "M", "stock",
      "stop",
      "home", "line", "loan", "deposit", "vending", "'bankctl ticket 6'", "\u{201C}자판기 관리인\u{201D}",
      "config/top", "ㅂ",
    ])
  func consonant(word: String) {
    #expect(KoreanParticle.topic.on(word) == word + "은")
    #expect(KoreanParticle.subject.on(word) == word + "이")
    #expect(KoreanParticle.object.on(word) == word + "을")
    #expect(KoreanParticle.and.on(word) == word + "과")
    #expect(KoreanParticle.or.on(word) == word + "이나")
    #expect(KoreanParticle.by.on(word) == word + "으로")
  }

  @Test(
    "after ㄹ it is 로",
    arguments: ["파일", "서울", "URL", "file", "table", "signal", "scale", "ㄹ", "exit code 1", "7", "18"])
  func liquid(word: String) {
    #expect(KoreanParticle.by.on(word) == word + "로")
    #expect(KoreanParticle.topic.on(word) == word + "은")
    #expect(KoreanParticle.object.on(word) == word + "을")
  }

  @Test(
    "text without a sound has the form of a vowel, and nothing traps",
    arguments: ["", "''", "(", ")", "()", "…", "🍓"])
  func silence(word: String) {
    for particle in KoreanParticle.allCases { #expect(particle.on(word).hasPrefix(word)) }
    #expect(KoreanParticle.object.on(word) == word + "를")
  }
}
