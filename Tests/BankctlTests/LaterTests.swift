// Times of orders: valid ones, invalid ones, and the messages about them.
import Arguments
import BankModel
import Posix
import Testing

@testable import BankctlCommands

private let now: Int64 = 1_795_435_200_000

private func refusal(_ text: String, at moment: Int64 = now) -> ScheduledTime.Fault? {
  do throws(ScheduledTime.Fault) { _ = try ScheduledTime.moment(text, now: moment) } catch { return error }
  return nil
}

@Test("a due time is a date and time with its zone, or a time of today here")
func moments() throws {
  let expected: [(String, Int64)] = [
    ("2026-11-23T12:00:01Z", now + 1_000), ("2026-11-23T21:00:01+09:00", now + 1_000),
    ("2026-11-23T12:00:00.250Z", now + 250), ("2001-01-01T00:00:00Z", 978_307_200_000),
  ]
  for (text, moment) in expected { #expect(try ScheduledTime.moment(text, now: now) == moment, "\(text)") }
  for text in [
    "", "noon", "25:00", "12:60", "12:5", "+1:30", "12:00:00", "2026-11-23", "2026-02-30T00:00:00Z",
  ] {
    #expect(refusal(text) == .noMoment(text))
  }
}

@Test("a time of today that has passed is refused, and the same of tomorrow is offered")
func timesOfToday() throws {
  let midnight = try #require(LocalCalendar.moment(hour: 0, minute: 0, onTheDayOf: now))
  #expect(midnight <= now && now - midnight < 86_400_000 + 3_600_000)
  let noon = midnight + 12 * 3_600_000
  #expect(try ScheduledTime.moment("12:34", now: noon) == noon + 34 * 60_000)
  #expect(refusal("11:59", at: noon) == .passed("11:59", tomorrow: noon + 86_400_000 - 60_000))
  #expect(refusal("12:00", at: noon) == .passed("12:00", tomorrow: noon + 86_400_000))
}

@Test("no customer is ordered for more than ten years ahead")
func tooFar() throws {
  #expect(refusal("2036-11-23T12:00:00Z") == nil)
  #expect(refusal("2036-11-24T12:00:01Z") == .tooFar("2036-11-24T12:00:01Z"))
  for language in [Language.english, .korean] {
    let messages = MessageCatalog(language: language)
    for fault in [ScheduledTime.Fault.noMoment("x"), .passed("09:00", tomorrow: now), .tooFar("x")] {
      #expect(messages.later(fault, option: "at").hasPrefix("--at "))
    }
  }
}

@Test("a line of a list has a due time or a delay, and not both")
func lines() {
  func line(_ text: String) -> Result<CustomerRecord, CustomerRecord.Fault> {
    do throws(CustomerRecord.Fault) { return .success(try CustomerRecord(Array(text.utf8)[...])) } catch {
      return .failure(error)
    }
  }
  func later(_ text: String) -> ScheduledTime? { try? line(text).get().later }
  func fault(_ text: String) -> CustomerRecord.Fault? {
    if case .failure(let fault) = line(text) { fault } else { nil }
  }
  #expect(later(#"{"at":"2026-11-23T12:00:01Z"}"#) == .at(now + 1_000))
  #expect(later(#"{"in":"1m30s"}"#) == .after(90_000))
  // Never early: a part of a millisecond counts as one.
  #expect(later(#"{"in":"1us"}"#) == .after(1))
  #expect(fault(#"{"in":"1s","at":"2026-11-23T12:00:01Z"}"#) == .twoMoments)
  #expect(fault(#"{"at":"12:00"}"#) == .noMoment("12:00"))
  #expect(fault(#"{"in":"5"}"#) == .noDuration("5", .missingUnit))
  #expect(fault(#"{"in":"4000d"}"#) == .tooFar(.after))
  #expect(fault(#"{"in":5}"#) == .wrongType(.after))
  #expect(fault(#"{"at":5}"#) == .wrongType(.at))
}
