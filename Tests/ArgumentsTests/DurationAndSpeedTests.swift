// Parsing, formatting and use of durations and speeds: every reason for a refusal, the ends of the 64-bit
// range, and no rounding. `UsageErrorTests` has the sentences of the refusals. Invariant under test: what is
// written is read back as the same number.

import Arguments
import Testing
import Time

@Suite("Durations")
struct DurationTextTests {
  @Test(
    "a duration is read exactly",
    arguments: [
      ("0s", 0), ("700ms", 700_000_000), ("1.1s", 1_100_000_000), ("5m", 300_000_000_000),
      ("2h", 7_200_000_000_000), ("1m30s", 90_000_000_000), ("1d", 86_400_000_000_000), ("3us", 3000),
      ("7ns", 7), ("1h0.5s", 3_600_500_000_000), ("1.000000001s", 1_000_000_001),
      ("1.50000000000000s", 1_500_000_000),
      ("0.0000000000025h", 9), ("9223372036854775807ns", Int64.max), ("2562047h47m16.854775807s", Int64.max),
    ])
  func reading(text: String, nanoseconds: Int64) throws {
    #expect(try DurationText.parse(text) == .nanoseconds(nanoseconds))
  }

  @Test(
    "an invalid duration is refused with its own reason",
    arguments: [
      ("", DurationText.Failure.empty), ("-1s", .negative), ("5", .missingUnit), ("1m30", .missingUnit),
      ("s", .malformed), (".5s", .malformed), ("5.s", .malformed), ("1.5h30m", .malformed),
      ("+5s", .malformed),
      (" 5s", .malformed), ("5 s", .unknownUnit(" s")), ("5S", .unknownUnit("S")), ("5초", .unknownUnit("초")),
      ("1s1s", .unitsOutOfOrder), ("1s1m", .unitsOutOfOrder), ("0.0000000001s", .tooFine),
      ("0.1ns", .tooFine),
      ("0.0000000000000000000000001h", .tooFine), ("9223372036854775808ns", .tooLong),
      ("99999999999999999999s", .tooLong), ("2562047h47m16.854775808s", .tooLong),
    ])
  func refusing(text: String, failure: DurationText.Failure) {
    #expect(throws: failure) { try DurationText.parse(text) }
  }

  @Test(
    "a duration is written in its tidiest form",
    arguments: [
      (0, "0s"), (7, "7ns"), (1500, "1.5us"), (700_000_000, "700ms"), (1_100_000_000, "1.1s"),
      (90_000_000_000, "1m30s"), (3_605_000_000_000, "1h5s"), (7_200_000_000_000, "2h"),
    ])
  func writing(nanoseconds: Int64, text: String) {
    #expect(DurationText.print(.nanoseconds(nanoseconds)) == text)
  }

  @Test("what is written is read back as the same span")
  func roundTrip() throws {
    var random = SeededRandom.announced("DurationTextTests")
    for _ in 0..<2000 {
      let number = Int64.random(in: 0...Int64.max, using: &random) >> Int64.random(in: 0..<63, using: &random)
      let span = TimeSpan(nanoseconds: number)
      #expect(try DurationText.parse(DurationText.print(span)) == span)
    }
    #expect(DurationText.print(.nanoseconds(.max)) == "2562047h47m16.854775807s")
  }

  @Test("advice on a wrong duration is given in both languages")
  func advice() {
    #expect(DurationText.Failure.missingUnit.advice(in: .english).contains("write 5s or 700ms"))
    #expect(DurationText.Failure.missingUnit.advice(in: .korean).contains("5s 또는 700ms"))
  }
}

@Suite("Speeds")
struct SpeedTextTests {
  @Test(
    "a speed is read exactly and written back",
    arguments: [
      ("1", SpeedFactor.one), ("10", .thousandths(10_000)), ("0.5", .thousandths(500)),
      ("0.001", .thousandths(1)),
      ("max", .max), ("1000000000", .thousandths(1_000_000_000_000)),
    ])
  func reading(text: String, speed: SpeedFactor) throws {
    #expect(try SpeedText.parse(text) == speed)
    #expect(SpeedText.print(speed) == text)
    #expect("\(speed)" == text)
  }

  @Test(
    "an invalid speed is refused with its own reason",
    arguments: [
      ("", SpeedText.Failure.malformed), ("x", .malformed), ("1x", .malformed), (".5", .malformed),
      ("MAX", .malformed), ("-1", .negative), ("0", .zero), ("0.000", .zero), ("0.0005", .tooFine),
      ("1000000000.001", .tooLarge), ("99999999999999999999999", .tooLarge),
    ])
  func refusing(text: String, failure: SpeedText.Failure) {
    #expect(throws: failure) { try SpeedText.parse(text) }
  }

  @Test("a speed divides a duration without rounding up and without overflow")
  func dividing() {
    #expect(SpeedFactor.thousandths(10_000).dividing(.nanoseconds(700_000_000)) == .nanoseconds(70_000_000))
    #expect(SpeedFactor.thousandths(500).dividing(.nanoseconds(3)) == .nanoseconds(6))
    #expect(SpeedFactor.thousandths(3000).dividing(.nanoseconds(10)) == .nanoseconds(3))
    #expect(SpeedFactor.max.dividing(.nanoseconds(.max)) == .nanoseconds(0))
    #expect(SpeedFactor.one.dividing(.nanoseconds(.max)) == .nanoseconds(.max))
    #expect(SpeedFactor.thousandths(999).dividing(.nanoseconds(.max)) == .nanoseconds(.max))
    #expect(SpeedFactor.thousandths(1).dividing(.nanoseconds(.max)) == .nanoseconds(.max))
    #expect(SpeedFactor.thousandths(0).dividing(.nanoseconds(5)) == .nanoseconds(.max))
    #expect(SpeedFactor.thousandths(2000).dividing(.milliseconds(1100)) == .milliseconds(550))
    #expect(SpeedFactor.thousandths(2000).dividing(.seconds(Int64.max)) == .nanoseconds(Int64.max / 2))
  }

  @Test("advice on a wrong speed is given in both languages")
  func advice() {
    #expect(SpeedText.Failure.zero.advice(in: .english).contains("max"))
    #expect(SpeedText.Failure.zero.advice(in: .korean).contains("max"))
  }
}
