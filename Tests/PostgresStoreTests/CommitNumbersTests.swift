// The numbers of a branch's transactions: each is given once, and no folded one counts as missing.

import Testing

@testable import PostgresStore

@Suite("The numbers of a branch's transactions")
struct CommitNumbersTests {
  @Test("Each number is given once, and those that may still be asked for are not folded")
  func given() {
    var numbers = CommitNumbers()
    let given = (0..<600).map { _ in numbers.next() }
    #expect(given == Array(1...600) && numbers.foldable < 0)
    for number in given.dropFirst(400) { numbers.commit(number) }
    #expect(
      numbers.committed == 200 && numbers.foldable == 1 - CommitNumbers.unfoldedCount,
      "the first is still open")
    for number in given.prefix(399) { numbers.commit(number) }
    numbers.release(400)
    numbers.commit(400)
    #expect(numbers.committed == 599 && numbers.foldable == 601 - CommitNumbers.unfoldedCount)
    #expect(numbers.recent.count == 599 && !numbers.recent.contains(400))
  }

  @Test("A number that was looked up and not found is missing, unless folded or forgotten meanwhile")
  func missing() {
    var numbers = CommitNumbers()
    for _ in 0..<10 { numbers.commit(numbers.next()) }
    let asked = numbers.recent
    #expect(numbers.missing(of: asked, found: Set(asked)) == [])
    #expect(numbers.missing(of: asked, found: [1, 2, 3, 5, 6, 7, 8, 9, 10]) == [4])
    numbers.fold(below: 7)
    #expect(numbers.missing(of: asked, found: [7, 8, 10]) == [9])
    numbers.removeLost([9])
    #expect(numbers.missing(of: asked, found: [7, 8, 10]) == [] && numbers.recent == [7, 8, 10])
  }
}
