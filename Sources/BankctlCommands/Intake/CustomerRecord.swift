// One line of `enqueue --from`: a customer as JSON, strictly checked.
// Invariant: a line is parsed completely or refused.
// Errors: `Fault`, with the field.
import Arguments
import BankModel
import JSON
import Time
import Wire

/// One customer as a line of `enqueue --from` describes it. A nil service is drawn at random. A nil amount or account
/// is drawn at random if the service moves money, and is 0 otherwise.
struct CustomerRecord: Sendable, Equatable {
  var service: ServiceName?
  var priority: Priority = .regular
  var amount: Won?
  var account: AccountNumber?
  var key: String?
  var payload: [UInt8]?
  /// Due time of the customer; nil if the customer is due at once.
  var later: ScheduledTime?

  /// Reason why a line is refused.
  enum Fault: Error, Sendable, Equatable {
    /// Longer than the limit in bytes.
    case tooLong(limit: Int)
    /// Does not start with a brace.
    case noObject
    case json(JSONFault)
    case unknownField(String, near: [String])
    case repeatedField(Field)
    /// Value whose JSON type is not that of the field.
    case wrongType(Field)
    case unknownName(Field, String, near: [String])
    case outOfRange(Field, Int64, ClosedRange<Int64>)
    case badKey(length: Int)
    /// Payload as text and as base64.
    case twoPayloads
    /// Position of the first invalid character, from 1.
    case badBase64(place: Int)
    case payloadTooLong(length: Int)
    /// Due time and delay together.
    case twoMoments
    case noMoment(String)
    case noDuration(String, DurationText.Failure)
    case tooFar(Field)
  }

  /// A field that a line may have; the raw value is the name in JSON.
  enum Field: String, Sendable, CaseIterable {
    case service, grade, priority, amount, account, key, payload
    case payloadBase64 = "payload_b64"
    case at
    case after = "in"
  }

  /// Fields among service, amount and account that the line omits.
  var drawn: RandomFields {
    var parts: RandomFields = []
    if service == nil { parts.insert(.service) }
    if amount == nil { parts.insert(.amount) }
    if account == nil { parts.insert(.account) }
    return parts
  }

  init() {}

  /// Parses a line.
  init(_ bytes: ArraySlice<UInt8>) throws(Fault) {
    var seen: UInt16 = 0
    var scanner = JSONScanner(bytes)
    scanner.skipSpace()
    guard scanner.next == UInt8(ascii: "{") else { throw .noObject }
    while let (name, value) = try Self.next(&scanner, isFirst: seen == 0) {
      guard let field = Field(rawValue: name) else {
        throw .unknownField(name, near: Suggestions.nearest(to: name, among: Field.allCases.map(\.rawValue)))
      }
      let bit: UInt16 = 1 << UInt16(Self.place(field))
      guard seen & bit == 0 else { throw .repeatedField(field) }
      seen |= bit
      try take(value, field)
    }
  }

  /// Value of a field as read from JSON, before it is checked for this field.
  private enum Value {
    case text(String)
    /// Whole number within 64 bits.
    case integer(Int64)
    /// Any other value. No field accepts it, so the contents of an array or object do not matter.
    case other
  }

  /// The next field; nil at the end of the object, after checking that nothing follows it.
  private static func next(
    _ scanner: inout JSONScanner, isFirst: Bool
  ) throws(Fault) -> (name: String, value: Value)? {
    do throws(JSONFault) {
      if isFirst { try scanner.take(UInt8(ascii: "{")) }
      guard let key = try scanner.nextKey(isFirst: isFirst) else {
        try scanner.end()
        return nil
      }
      switch scanner.next {
      case UInt8(ascii: "\""): return (key.name, .text(try scanner.string()))
      case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?:
        return (key.name, Int64(try scanner.number()).map { .integer($0) } ?? .other)
      case UInt8(ascii: "["), UInt8(ascii: "{"): return (key.name, .other)
      default:
        _ = try scanner.literal()
        return (key.name, .other)
      }
    } catch {
      throw .json(error)
    }
  }

  /// Index of a field in the bitmap of fields already seen.
  private static func place(_ field: Field) -> Int {
    switch field {
    case .service: 0
    // Both set the priority, so a line has at most one of them.
    case .grade, .priority: 1
    case .amount: 2
    case .account: 3
    case .key: 4
    case .payload: 5
    case .payloadBase64: 6
    case .at: 7
    case .after: 8
    }
  }

  /// Checks the value of a field and stores it.
  private mutating func take(_ value: Value, _ field: Field) throws(Fault) {
    switch (field, value) {
    case (.service, .text(let name)):
      // Juice is ordered by the name of a juice, with `juice order`. The bank decides which other services
      // exist.
      service = try Self.named(
        field, name, ServiceName(name).flatMap { $0 == .juice ? nil : $0 }, ServiceName.drawn.map(\.text))
    case (.grade, .text(let name)):
      let grade = Priority.gradeNames.firstIndex(of: name).map { Priority.grades[$0] }
      priority = try Self.named(field, name, grade, Priority.gradeNames)
    case (.priority, .integer(let number)):
      guard let number = UInt32(exactly: number) else {
        throw .outOfRange(field, number, 0...Int64(UInt32.max))
      }
      priority = Priority(number)
    case (.key, .text(let text)):
      guard (1...Limits.keyLength).contains(text.utf8.count) else { throw .badKey(length: text.utf8.count) }
      key = text
    case (.payload, .text(let text)): try setPayload(Array(text.utf8))
    case (.payloadBase64, .text(let text)):
      let bytes: [UInt8]
      do throws(Base64.Fault) { bytes = try Base64.decode(text) } catch {
        throw .badBase64(place: error.place)
      }
      try setPayload(bytes)
    case (.at, .text(let text)):
      guard let moment = ScheduledTime.instant(text) else { throw .noMoment(text) }
      try order(for: .at(moment))
    case (.after, .text(let text)):
      let span: TimeSpan
      do throws(DurationText.Failure) { span = try DurationText.parse(text) } catch {
        throw .noDuration(text, error)
      }
      guard let later = ScheduledTime(after: span) else { throw .tooFar(field) }
      try order(for: later)
    case (.amount, .integer(let number)):
      guard (1...Limits.amount).contains(number) else { throw .outOfRange(field, number, 1...Limits.amount) }
      amount = number
    case (.account, .integer(let number)):
      guard (1...Limits.account).contains(number) else {
        throw .outOfRange(field, number, 1...Limits.account)
      }
      account = number
    default: throw .wrongType(field)
    }
  }

  /// Stores the due time; throws if the line already has one.
  private mutating func order(for moment: ScheduledTime) throws(Fault) {
    guard later == nil else { throw .twoMoments }
    later = moment
  }

  /// Stores the payload; throws if the line already has one, or if it is too long.
  private mutating func setPayload(_ bytes: [UInt8]) throws(Fault) {
    guard payload == nil else { throw .twoPayloads }
    guard bytes.count <= Limits.payloadLength else { throw .payloadTooLong(length: bytes.count) }
    payload = bytes
  }

  /// Returns the value that a name stands for; throws an error with similar names if there is none.
  private static func named<Value>(
    _ field: Field, _ name: String, _ value: Value?, _ known: [String]
  ) throws(Fault) -> Value {
    guard let value else {
      throw .unknownName(field, name, near: Suggestions.nearest(to: name, among: known))
    }
    return value
  }
}
