// The pace and the remaining time shown for a long operation: nothing too early, and no jumps.
import BankModel
import Posix
import Testing
import Time

@testable import BankctlCommands

private let english = MessageCatalog(language: .english)

@Suite("Pace and remaining time")
struct PaceTests {
  /// Runs a count through a meter, 100 ms after 100 ms, and returns the lines of a terminal.
  private func lines(total: Int64, seconds: Int, _ done: (Int) -> Int64) -> [String] {
    final class Clock { var now = MonotonicTime(nanoseconds: 0) }
    let clock = Clock()
    var written: [String] = []
    let meter = ProgressMeter(
      messages: english, isTerminal: true, columns: 200, now: { clock.now }, write: { written.append($0) })
    for step in 0...seconds * 10 {
      meter.update("serving", done: min(total, done(step)), total: total)
      clock.now += .milliseconds(100)
    }
    return written
  }

  /// The remaining time of a line, in seconds.
  private func left(_ line: String) -> Double? {
    guard let match = line.firstMatch(of: /· (?:(\d+) min )?([\d.]+) (ms|s) left/) else { return nil }
    let minutes = match.1.flatMap { Double($0) } ?? 0
    return minutes * 60 + (Double(match.2) ?? 0) / (match.3 == "ms" ? 1000 : 1)
  }

  private static func instant(_ tenths: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: tenths * 100_000_000)
  }

  @Test(
    "three customers in 1.1 s, one after the other or all at once: the estimate goes down and does not jump")
  func steady() throws {
    // Two windows end every 0.7 s and one every 1.1 s, as the bank's do.
    let shown = lines(total: 100, seconds: 25) { Int64($0 / 7) * 2 + Int64($0 / 11) }
    let estimates = shown.compactMap(left)
    #expect(estimates.count > 100)
    for (before, after) in zip(estimates, estimates.dropFirst()) {
      #expect(abs(after - before) <= max(2, before * 0.15), "from \(before) s to \(after) s")
    }
    #expect(!shown.contains { $0.contains(" ms left") })
    // 100 customers at 3.77 a second take 26.5 s.
    let first = try #require(estimates.first)
    #expect((12...45).contains(first), "the first estimate was \(first) s")
  }

  @Test("a burst at the start does not set the pace")
  func burst() {
    let shown = lines(total: 1_000, seconds: 20) { $0 < 12 ? Int64($0) / 4 : 3 + Int64($0 - 12) * 3 }
    let estimates = shown.compactMap(left)
    for (before, after) in zip(estimates, estimates.dropFirst()) {
      #expect(after <= before * 1.5 + 1, "from \(before) s to \(after) s")
    }
  }

  @Test("the pace is that of the recent past: neither of the start nor of one moment")
  func window() throws {
    // A hundred a second for ten seconds, and then ten a second.
    var slower = ETAEstimator()
    for tenth in 0...200 as ClosedRange<Int64> {
      slower.note(tenth <= 100 ? tenth * 10 : 1_000 + tenth - 100, at: Self.instant(tenth))
    }
    #expect((9...15).contains(try #require(slower.rate(at: Self.instant(200)))))
    // Ten come at once, every second.
    var bursts = ETAEstimator()
    for tenth in 0...200 as ClosedRange<Int64> {
      bursts.note(tenth / 10 * 10, at: Self.instant(tenth))
      guard tenth > 100 else { continue }
      let rate = try #require(bursts.rate(at: Self.instant(tenth)))
      #expect((7...12).contains(rate), "\(rate) a second after \(tenth) tenths of one")
    }
  }

  @Test("nothing is estimated before a second and a few per cent of the work have passed")
  func silence() {
    let shown = lines(total: 10_000, seconds: 4) { Int64($0) }
    #expect(!shown.isEmpty)
    #expect(shown.allSatisfy { left($0) == nil }, "\(shown)")
    let slow = lines(total: 3, seconds: 8) { Int64($0 / 40) }
    #expect(slow.allSatisfy { left($0) == nil }, "\(slow)")
  }

  @Test("a slow pace is shown as what it is", arguments: [Language.english, .korean])
  func slow(language: Language) {
    let messages = MessageCatalog(language: language)
    let isKorean = language == .korean
    #expect(messages.rate(0.9) == (isKorean ? "초당 0.9" : "0.9/s"))
    #expect(messages.rate(3) == (isKorean ? "초당 3" : "3/s"))
    #expect(messages.rate(1234.4) == (isKorean ? "초당 1,234" : "1,234/s"))
    #expect(messages.rate(0.05) == (isKorean ? "분당 3" : "3/min"))
    #expect(messages.rate(0.001) == nil)
    #expect(messages.estimate(.milliseconds(133)) == (isKorean ? "1초" : "1 s"))
  }

  @Test("customers who come meanwhile make the total larger, and never the done part smaller")
  func newcomers() throws {
    final class Clock { var now = MonotonicTime(nanoseconds: 0) }
    var written: [String] = []
    let clock = Clock()
    let progress = WaitProgress(
      english,
      ProgressMeter(
        messages: english, isTerminal: true, columns: 200, now: { clock.now }, write: { written.append($0) }))
    for (waiting, served) in [(10, 0), (4, 6), (13, 7)] as [(Int64, Int64)] {
      clock.now += .seconds(2)
      try progress.show(picture(waiting: waiting, serving: 0, served: served), crowd: nil)
    }
    // Each obstacle is printed once, beside the bar.
    let counts = written.compactMap { $0.split(separator: " ").first { $0.contains("/") } }
    #expect(counts == ["0/10", "6/10", "7/20"])
  }
}
