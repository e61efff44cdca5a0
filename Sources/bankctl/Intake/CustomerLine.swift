// Owns one line of `enqueue --from`: what a customer asks for, strictly checked.
// It must not know a file, nor what chance makes of what is left open.
// Invariant: a line is understood completely or refused; nothing is guessed and nothing is skipped.
// Failure: Fault, which names the field.
import Arguments
import BankModel
import Wire

/// What one line asks for; nil for what chance shall decide.
struct CustomerLine: Sendable, Equatable {
  var service: Service?
  var grade: Grade = .regular
  var amount: Won?
  var account: AccountNumber?
  var key: String?

  /// What is wrong with a line.
  enum Fault: Error, Sendable, Equatable {
    /// Longer than a line may be, in bytes.
    case tooLong(limit: Int)
    /// No JSON object.
    case json(FlatJSONScanner.Fault)
    /// A field that there is not.
    case unknownField(String, near: [String])
    /// A field that is there twice.
    case repeatedField(Field)
    /// A text where a number belongs, or the other way round, or something else altogether.
    case wrongType(Field)
    /// A service or grade that there is not.
    case unknownName(Field, String, near: [String])
    /// A number outside of its range.
    case outOfRange(Field, Int64, ClosedRange<Int64>)
    /// An empty key, or one of too many bytes.
    case badKey(length: Int)
  }

  /// The fields.
  enum Field: String, Sendable, CaseIterable {
    case service, grade, amount, account, key
  }

  /// What is left to chance.
  var drawn: DrawnParts {
    var parts: DrawnParts = []
    if service == nil { parts.insert(.service) }
    if amount == nil { parts.insert(.amount) }
    if account == nil { parts.insert(.account) }
    return parts
  }

  /// A line that leaves everything to chance.
  init() {}

  /// Reads a line.
  init(_ bytes: ArraySlice<UInt8>) throws(Fault) {
    var seen: UInt8 = 0
    var scanner: FlatJSONScanner
    do throws(FlatJSONScanner.Fault) { scanner = try FlatJSONScanner(bytes) } catch { throw .json(error) }
    while true {
      let next: (name: String, value: FlatJSONScanner.Value)?
      do throws(FlatJSONScanner.Fault) { next = try scanner.next() } catch { throw .json(error) }
      guard let (name, value) = next else { return }
      guard let field = Field(rawValue: name) else {
        throw .unknownField(name, near: Suggestions.nearest(to: name, among: Field.allCases.map(\.rawValue)))
      }
      let bit: UInt8 = 1 << UInt8(Self.place(field))
      guard seen & bit == 0 else { throw .repeatedField(field) }
      seen |= bit
      try take(value, field)
    }
  }

  private static func place(_ field: Field) -> Int {
    switch field {
    case .service: 0
    case .grade: 1
    case .amount: 2
    case .account: 3
    case .key: 4
    }
  }

  private mutating func take(_ value: FlatJSONScanner.Value, _ field: Field) throws(Fault) {
    switch (field, value) {
    case (.service, .text(let name)):
      service = try Self.named(
        field, name, Service.drawn.first { $0.name == name }, Service.drawn.map(\.name))
    case (.grade, .text(let name)):
      grade = try Self.named(field, name, Grade(name: name), Grade.allCases.map(\.name))
    case (.key, .text(let text)):
      guard (1...Limits.keyLength).contains(text.utf8.count) else { throw .badKey(length: text.utf8.count) }
      key = text
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

  private static func named<Value>(
    _ field: Field, _ name: String, _ value: Value?, _ known: [String]
  ) throws(Fault) -> Value {
    guard let value else {
      throw .unknownName(field, name, near: Suggestions.nearest(to: name, among: known))
    }
    return value
  }
}
