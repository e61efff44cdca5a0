// Suggestions for an unknown word: a slip of each sort, ties, and the largest distance. Invariant under test:
// the work is bounded, however long the word is.

import Arguments
import Testing

@Suite("Suggestions")
struct SuggestionsTests {
  private let words = ["start", "status", "stop", "stock", "enqueue", "tickets", "ticket", "receipts"]

  @Test("one slip of each sort is found: swapped, missing, extra, wrong letter, other case")
  func slips() {
    #expect(Suggestions.nearest(to: "statr", among: words) == ["start"])
    #expect(Suggestions.nearest(to: "enqeue", among: words) == ["enqueue"])
    #expect(Suggestions.nearest(to: "receiptss", among: words) == ["receipts"])
    #expect(Suggestions.nearest(to: "stotus", among: words) == ["status"])
    #expect(Suggestions.nearest(to: "STOP", among: words) == ["stop"])
  }

  @Test("a word farther away than a third of its length is not suggested")
  func farAway() {
    #expect(Suggestions.nearest(to: "xyzzy", among: words) == [])
    #expect(Suggestions.nearest(to: "ls", among: ["logs"]) == [])
    #expect(Suggestions.nearest(to: "", among: words) == [])
  }

  @Test("words that are equally near are all suggested, at most three")
  func ties() {
    #expect(Suggestions.nearest(to: "cat1", among: ["cat2", "cat3"]) == ["cat2", "cat3"])
    #expect(
      Suggestions.nearest(to: "cat1", among: ["cat2", "cat3", "cat4", "cat5"]) == ["cat2", "cat3", "cat4"])
    #expect(Suggestions.nearest(to: "cat1", among: ["cat2", "cat2"]) == ["cat2"])
  }

  @Test("the start of a word is enough")
  func beginnings() {
    #expect(Suggestions.nearest(to: "enq", among: words) == ["enqueue"])
    #expect(Suggestions.nearest(to: "en", among: words) == [])
  }

  @Test("Korean words are compared by syllable")
  func korean() {
    #expect(Suggestions.nearest(to: "파인애풀", among: ["딸기", "파인애플"]) == ["파인애플"])
  }

  @Test("a word longer than any name is not compared")
  func longWord() {
    #expect(Suggestions.nearest(to: String(repeating: "a", count: 1_000_000), among: words) == [])
  }
}
