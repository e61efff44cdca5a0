// Due times of --at and --in, and of the fields `at` and `in` of a list.
// Invariant: a time of today that has passed is not taken as a time of tomorrow or as "at once". It is
// refused with the time of tomorrow as a suggestion.
// Errors: a sentence with the option.
import Arguments
import BankModel
import Logging
import Posix
import Time

/// Due time of a customer that is ordered for later: a time, or a delay.
enum ScheduledTime: Sendable, Equatable {
  /// Milliseconds since 1970.
  case at(Int64)
  /// Milliseconds after the bank accepts the order.
  case after(Int64)

  var dueAt: Int64? { if case .at(let moment) = self { moment } else { nil } }
  var delay: Int64? { if case .after(let span) = self { span } else { nil } }

  /// Delay after the bank accepts the order, rounded up to milliseconds, so that the customer is not due too early.
  /// Returns nil above the maximum delay.
  init?(after span: TimeSpan) {
    let (whole, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let milliseconds = rest == 0 ? whole : whole + 1
    guard milliseconds <= Limits.delay else { return nil }
    self = .after(milliseconds)
  }

  /// Reason why a due time is refused.
  enum Fault: Error, Sendable, Equatable {
    case noMoment(String)
    /// Time of today that has passed, and the same time of tomorrow.
    case passed(String, tomorrow: Int64)
    case tooFar(String)
  }

  /// Due time from the options `--in` and `--at`; nil without them, if the customer is due at once.
  static func read(_ session: Session) throws(CommandError) -> ScheduledTime? {
    if let span = session.invocation.duration("in") {
      guard let later = ScheduledTime(after: span) else {
        throw .usage(session.messages.later(.tooFar(DurationText.print(span)), option: "in"))
      }
      return later
    }
    guard let text = session.invocation.text("at") else { return nil }
    do throws(Fault) { return .at(try moment(text, now: SystemClock.moment().wall.milliseconds)) } catch {
      throw .usage(session.messages.later(error, option: "at"))
    }
  }

  /// Parses an RFC 3339 time, or a time of today in the local time zone, into milliseconds since 1970; throws for a
  /// time too far after `now`.
  static func moment(_ text: String, now: Int64) throws(Fault) -> Int64 {
    let moment = try timeOfDay(text, now: now) ?? instant(text)
    guard let moment else { throw .noMoment(text) }
    guard moment - now <= Limits.delay else { throw .tooFar(text) }
    return moment
  }

  /// Parses an RFC 3339 time into milliseconds since 1970; nil for other text.
  static func instant(_ text: String) -> Int64? {
    // `LogMoment` would parse a text of 5 or 8 bytes as a UTC time of today.
    text.utf8.count > 8 ? LogMoment.parse(text, now: 0) : nil
  }

  /// Parses `hh:mm` as a local time of today into milliseconds since 1970; nil for other text. Throws if that time has
  /// passed.
  private static func timeOfDay(_ text: String, now: Int64) throws(Fault) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"), bytes[0] >= UInt8(ascii: "0"),
      bytes[3] >= UInt8(ascii: "0"), let hour = Int32(text.prefix(2)),
      let minute = Int32(text.suffix(2)), (0..<24).contains(hour), (0..<60).contains(minute),
      let moment = LocalCalendar.moment(hour: hour, minute: minute, onTheDayOf: now)
    else { return nil }
    guard moment <= now else { return moment }
    let tomorrow = LocalCalendar.moment(hour: hour, minute: minute, onTheDayOf: now, later: 1)
    throw .passed(text, tomorrow: tomorrow ?? moment + 86_400_000)
  }
}
