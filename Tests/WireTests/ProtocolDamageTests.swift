// Damage planted in golden messages is found: the schema is as strict as it looks, and the validator checks
// every place.

import Testing

@testable import Wire

@Suite("Damage in golden messages")
struct ProtocolDamageTests {
  private let schema: CDDLSchema
  private let validator: CDDLValidator

  init() throws {
    schema = try protocolSchema()
    validator = CDDLValidator(schema)
  }

  /// A field of a golden message.
  private struct FieldLocation {
    let sample: ProtocolSample
    let message: AnyValue
    let map: [Int]
    let field: CDDLField
  }

  /// One of every field of the schema.
  private func spots() throws -> [FieldLocation] {
    var seen: Set<String> = []
    var spots: [FieldLocation] = []
    for sample in ProtocolSample.all {
      let message = try sample.value()
      let maps = try validator.check(message, by: sample.rule).maps
      for (path, map) in maps.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        for field in map.group.fields where message.at(path + [field.number]) != nil {
          if seen.insert(field.place).inserted {
            spots.append(FieldLocation(sample: sample, message: message, map: path, field: field))
          }
        }
      }
    }
    return spots
  }

  private func isRefused(_ damaged: AnyValue, _ rule: String) -> Bool {
    do throws(CDDLMismatch) { _ = try validator.check(damaged, by: rule) } catch { return true }
    return false
  }

  @Test("an unknown field is refused in every map")
  func unknownField() throws {
    for sample in ProtocolSample.all {
      let message = try sample.value()
      for path in try validator.check(message, by: sample.rule).maps.keys {
        let damaged = message.changing(path) { $0.adding(250, .unsigned(1)) }
        #expect(isRefused(damaged, sample.rule), "\(sample.name) at \(path)")
      }
    }
  }

  @Test("a missing field is refused unless it is optional, for every field")
  func missingField() throws {
    for spot in try spots() {
      let damaged = spot.message.changing(spot.map) { $0.removing(spot.field.number) }
      #expect(isRefused(damaged, spot.sample.rule) == !spot.field.isOptional, "\(spot.field.place)")
    }
  }

  @Test("a value of another type is refused, for every field")
  func wrongType() throws {
    for spot in try spots() {
      for stranger in strangers(to: spot) {
        let damaged = spot.message.changing(spot.map + [spot.field.number]) { _ in stranger }
        #expect(isRefused(damaged, spot.sample.rule), "\(spot.field.place): \(stranger)")
      }
    }
  }

  /// Values that no field has, and one of a kind that this field does not have.
  private func strangers(to spot: FieldLocation) -> [AnyValue] {
    let other: AnyValue =
      switch spot.message.at(spot.map + [spot.field.number]) {
      case .unsigned, .negative: .text("1")
      case .array(let values): .array([.null] + values.dropFirst())
      case .map: .array([])
      default: .unsigned(1)
      }
    if case .byteString = spot.message.at(spot.map + [spot.field.number]) {
      return [.null, .array([.null]), other]
    }
    return [.null, .byteString([1]), .array([.null]), other]
  }

  @Test("no number of a message is as large as 64 bits allow, except the seed")
  func largestNumber() throws {
    for spot in try spots() where spot.field.place != "enqueue.6" {
      guard case .unsigned = spot.message.at(spot.map + [spot.field.number]) else { continue }
      let damaged = spot.message.changing(spot.map + [spot.field.number]) { _ in .unsigned(.max) }
      #expect(isRefused(damaged, spot.sample.rule), "\(spot.field.place)")
    }
  }

  /// A golden message, the place in it, and a value that is not allowed there although one beside it is.
  private static let outOfRange: [(name: String, path: [Int], value: AnyValue)] = [
    ("teller-hello", [1, 1], .unsigned(2)), ("teller-hello", [1, 3], .unsigned(1)),
    ("client-hello", [1, 3], .unsigned(2)), ("worker-hello", [1, 3], .unsigned(4)),
    ("teller-done", [3, 1], .unsigned(0)), ("teller-done", [3, 2], .unsigned(1 << 31)),
    ("teller-outOfStock", [7, 2], .array([])), ("client-request", [2, 1], .unsigned(1 << 32)),
    ("command-enqueue", [4, 1], .unsigned(0)), ("command-enqueue", [4, 1], .unsigned(10_000_001)),
    ("command-enqueue", [4, 2], .unsigned(4)), ("command-enqueue", [4, 3], .unsigned(0)),
    ("command-enqueue", [4, 4], .unsigned(1_000_000_000_001)),
    ("command-enqueue", [4, 5], .unsigned(1_000_000_000_000)), ("command-enqueue", [4, 7], .text("")),
    ("command-enqueue", [4, 7], .text(String(repeating: "k", count: 201))),
    ("command-enqueue", [4, 7], .text(String(repeating: "열", count: 67))),
    ("command-receipts", [8, 1], .negative(-2)), ("command-scale", [14, 0, 2], .unsigned(257)),
    ("command-enqueueList", [5, 1], .array(Array(repeating: .null, count: 2_001))),
    ("answer-failure", [1, 1], .text("out_of_coffee")), ("answer-status", [2, 1], .unsigned(5)),
    ("answer-event", [7, 1], .unsigned(4)), ("answer-ticket-fatal", [5, 13, 0, 9], .bool(false)),
    ("stock-command-change", [7, 1, 2], .negative(-1_000_001)),
    ("stock-command-take", [4, 2], .unsigned(2_932_897)),
    ("stock-command-orders", [10, 2], .unsigned(1_001)), ("stock-result-failure", [1, 1], .text("sold_out")),
    ("vending-command-insert", [4], .unsigned(1_000_001)), ("vending-command-history", [3, 2], .unsigned(0)),
    ("vending-result-failure", [1, 1], .text("no_such_ticket")), ("worker-beat", [6], .negative(-2)),
    ("supervisor-check", [3], .unsigned(0)), ("teller-hello-worker", [1, 4, 2], .unsigned(0)),
    ("teller-progressed", [9, 2, 1], .unsigned(101)), ("window-entrust", [9, 6], .unsigned(1 << 32)),
  ]

  @Test("a number out of its range, a text out of its length and a word of another enumeration are refused")
  func ranges() throws {
    for (name, path, value) in Self.outOfRange {
      let sample = try #require(ProtocolSample.all.first { $0.name == name }, "\(name)")
      let message = try sample.value()
      try #require(message.at(path) != nil, "\(name) has nothing at \(path)")
      #expect(isRefused(message.changing(path) { _ in value }, sample.rule), "\(name) at \(path): \(value)")
    }
  }

  @Test("a message of another protocol, of two kinds, of none, and of an unknown one is refused")
  func wrongKind() throws {
    for rule in Set(ProtocolSample.all.map(\.rule)) {
      #expect(isRefused(.map([]), rule), "\(rule)")
      #expect(isRefused(.map([.init(number: 99, value: .map([]))]), rule), "\(rule)")
      let messages = try ProtocolSample.all.filter { $0.rule == rule }.map { try $0.value() }
      for (first, second) in zip(messages, messages.dropFirst()) {
        guard case .map(let left) = first, case .map(let right) = second, left[0].number != right[0].number
        else {
          continue
        }
        #expect(isRefused(.map(left + right), rule), "\(rule): \(left[0].number) and \(right[0].number)")
      }
    }
    let lease = try goldenValue("teller-beat")
    #expect(isRefused(lease, "worker-message"))
    #expect(isRefused(try goldenValue("stock-request"), "vending-message"))
    #expect(
      isRefused(try goldenValue("command-cancel-day").changing([]) { $0.removing(15) }, "control-command"))
    #expect(
      isRefused(
        try goldenValue("command-account").changing([]) { $0.adding(24, .unsigned(3)) }, "control-command"))
  }

  private func goldenValue(_ name: String) throws -> AnyValue {
    try CBORDecoder().decode(AnyValue.self, from: goldenBytes(name))
  }
}

extension AnyValue {
  /// The value at a path of field numbers and places in arrays.
  fileprivate func at(_ path: [Int]) -> AnyValue? {
    guard let step = path.first else { return self }
    let inner: AnyValue? =
      switch self {
      case .map(let fields): fields.first { $0.number == step }?.value
      case .array(let values) where values.indices.contains(step): values[step]
      default: nil
      }
    return inner?.at(Array(path.dropFirst()))
  }

  /// The same with another value at a path.
  fileprivate func changing(_ path: [Int], _ change: (AnyValue) -> AnyValue) -> AnyValue {
    guard let step = path.first else { return change(self) }
    let rest = Array(path.dropFirst())
    return switch self {
    case .map(let fields):
      .map(
        fields.map { $0.number == step ? Field(number: step, value: $0.value.changing(rest, change)) : $0 })
    case .array(let values):
      .array(values.enumerated().map { $0 == step ? $1.changing(rest, change) : $1 })
    default: self
    }
  }

  fileprivate func adding(_ number: Int, _ value: AnyValue) -> AnyValue {
    guard case .map(let fields) = self else { return self }
    return .map(fields + [Field(number: number, value: value)])
  }

  fileprivate func removing(_ number: Int) -> AnyValue {
    guard case .map(let fields) = self else { return self }
    return .map(fields.filter { $0.number != number })
  }
}
