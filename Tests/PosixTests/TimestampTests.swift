// Instants as text: known values, every existing day, and invalid texts. Invariant: the expected values come
// from the calendar, not from the code under test. The randomised test prints its seed.
import Glibc
import Posix
import Testing

@Suite struct TimestampTests {
  @Test(
    "known instants have their known texts, and the texts are read back",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (1, "1970-01-01T00:00:00.001Z"),
      (951_782_399_999, "2000-02-28T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (951_868_800_000, "2000-03-01T00:00:00.000Z"),
      (1_000_000_000_000, "2001-09-09T01:46:40.000Z"),
      (1_078_012_800_000, "2004-02-29T00:00:00.000Z"),
      (1_234_567_890_123, "2009-02-13T23:31:30.123Z"),
      (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
      (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
      (1_795_248_000_123, "2026-11-21T08:00:00.123Z"),
      (2_147_483_648_000, "2038-01-19T03:14:08.000Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func known(milliseconds: Int64, text: String) {
    #expect(Timestamp.utc(milliseconds: milliseconds) == text)
    #expect(Timestamp.parse(text) == milliseconds)
  }

  @Test("every day of a whole cycle of the calendar follows its rules and is read back")
  func everyDay() {
    var date: (year: Int64, month: Int, day: Int) = (1970, 1, 1)
    for number in 0..<146_097 as Range<Int64> {
      let expected = text(date.year, date.month, date.day)
      let milliseconds = number * 86_400_000
      guard Timestamp.utc(milliseconds: milliseconds) == expected,
        Timestamp.parse(expected) == milliseconds
      else {
        Issue.record("day \(number) is \(expected)")
        return
      }
      let lengths = [31, isLeap(date.year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      date.day += 1
      if date.day > lengths[date.month - 1] { (date.month, date.day) = (date.month + 1, 1) }
      if date.month > 12 { (date.year, date.month) = (date.year + 1, 1) }
    }
    #expect(date == (2370, 1, 1))
  }

  @Test("every February to the year 9999 has its days by the calendar")
  func everyYear() throws {
    for year in 1970...9999 as ClosedRange<Int64> {
      let march = try #require(Timestamp.parse(text(year, 3, 1)))
      let dayBefore = Timestamp.utc(milliseconds: march - 86_400_000)
      guard dayBefore == text(year, 2, isLeap(year) ? 29 : 28) else {
        Issue.record("the day before the first of March \(year) is \(dayBefore)")
        return
      }
    }
  }

  private func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private func text(_ year: Int64, _ month: Int, _ day: Int) -> String {
    pad(year, 4) + "-" + pad(Int64(month), 2) + "-" + pad(Int64(day), 2) + "T00:00:00.000Z"
  }

  private func pad(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: width - digits.utf8.count) + digits
  }

  @Test("random instants agree with gmtime and are read back")
  func random() {
    let seed = Environment.value("POSIX_TESTS_SEED").flatMap { UInt64($0) } ?? RandomSeed.fromSystem()
    print("seed \(seed); repeat with: POSIX_TESTS_SEED=\(seed) swift test --filter TimestampTests")
    var state = seed
    for _ in 0..<20_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let milliseconds = Int64(state >> 11) % (Timestamp.latest + 1)
      let text = Timestamp.utc(milliseconds: milliseconds)
      var seconds = time_t(milliseconds / 1000)
      var parts = tm()
      gmtime_r(&seconds, &parts)
      let expected =
        pad(Int64(parts.tm_year) + 1900, 4) + "-" + pad(Int64(parts.tm_mon) + 1, 2) + "-"
        + pad(Int64(parts.tm_mday), 2) + "T" + pad(Int64(parts.tm_hour), 2) + ":"
        + pad(Int64(parts.tm_min), 2) + ":" + pad(Int64(parts.tm_sec), 2) + "."
        + pad(milliseconds % 1000, 3) + "Z"
      guard text == expected, Timestamp.parse(text) == milliseconds else {
        Issue.record("\(milliseconds) became \(text), not \(expected); seed \(seed)")
        return
      }
    }
  }

  @Test("instants outside of the range become its ends")
  func outside() {
    #expect(Timestamp.utc(milliseconds: -1) == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp.utc(milliseconds: .min) == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp.utc(milliseconds: .max) == "9999-12-31T23:59:59.999Z")
  }

  @Test("appending leaves what was there before")
  func appending() {
    var bytes = Array("ts=".utf8)
    Timestamp.appendUTC(milliseconds: 1_795_248_000_123, to: &bytes)
    bytes += Array(" level=info".utf8)
    #expect(String(decoding: bytes, as: UTF8.self) == "ts=2026-11-21T08:00:00.123Z level=info")
  }

  @Test("a fraction may have one to nine digits, or be missing")
  func fractions() {
    #expect(Timestamp.parse("1970-01-01T00:00:01Z") == 1000)
    #expect(Timestamp.parse("1970-01-01T00:00:01.5Z") == 1500)
    #expect(Timestamp.parse("1970-01-01T00:00:01.05Z") == 1050)
    #expect(Timestamp.parse("1970-01-01T00:00:01.123456789Z") == 1123)
    #expect(Timestamp.parse(Array("1970-01-01T00:00:01Z".utf8)) == 1000)
  }

  @Test(
    "an invalid text is nil",
    arguments: [
      "", "Z", "2026-11-21", "2026-11-21T08:00:00.123", "2026-11-21 08:00:00.123Z", "2026-11-21T08:00:00.Z",
      "2026-11-21T08:00:00.1234567890Z", "2026-13-21T08:00:00.123Z", "2026-00-21T08:00:00.123Z",
      "2026-11-31T08:00:00.123Z", "2026-11-00T08:00:00.123Z", "2026-02-29T08:00:00.123Z",
      "2100-02-29T08:00:00.123Z", "2026-11-21T24:00:00.123Z", "2026-11-21T08:60:00.123Z",
      "2026-11-21T08:00:60.123Z", "1969-12-31T23:59:59.999Z", "2026-11-21T08:00:00+00Z",
      "2026-11-21t08:00:00.123z", "+026-11-21T08:00:00.123Z", "2026-11-21T08:00:00.12aZ",
      "２026-11-21T08:00:00Z",
    ])
  func malformed(text: String) {
    #expect(Timestamp.parse(text) == nil)
  }
}
