// A value of any shape within the profile, to test the codec without a message. It uses Codable like every
// message. Invariant: all that the profile allows decodes to one of these, and encodes to the same bytes when
// the keys of its maps ascend. Any other value is thrown.

@testable import Wire

enum AnyValue: Hashable, Sendable {
  case unsigned(UInt64)
  case negative(Int64)
  case byteString([UInt8])
  case text(String)
  case array([AnyValue])
  case map([Field])
  case bool(Bool)
  case null

  struct Field: Hashable, Sendable {
    let number: Int
    let value: AnyValue
  }

  struct FieldKey: CodingKey {
    let number: Int
    init(number: Int) { self.number = number }
    init?(intValue: Int) { number = intValue }
    init?(stringValue: String) { nil }
    var intValue: Int? { number }
    var stringValue: String { String(number) }
  }
}

extension AnyValue: Codable {
  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let value = try? single.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? single.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? single.decode(Int64.self) {
      self = .negative(value)
    } else if let value = try? single.decode(String.self) {
      self = .text(value)
    } else if let value = try? single.decode([UInt8].self) {
      self = .byteString(value)
    } else if let value = try? single.decode([AnyValue].self) {
      self = .array(value)
    } else {
      let map = try decoder.container(keyedBy: FieldKey.self)
      self = .map(
        try map.allKeys.map { Field(number: $0.number, value: try map.decode(AnyValue.self, forKey: $0)) })
    }
  }

  func encode(to encoder: any Encoder) throws {
    var single = encoder.singleValueContainer()
    switch self {
    case .unsigned(let value): try single.encode(value)
    case .negative(let value): try single.encode(value)
    case .byteString(let value): try single.encode(value)
    case .text(let value): try single.encode(value)
    case .array(let values): try single.encode(values)
    case .map(let fields):
      var map = encoder.container(keyedBy: FieldKey.self)
      for field in fields { try map.encode(field.value, forKey: FieldKey(number: field.number)) }
    case .bool(let value): try single.encode(value)
    case .null: try single.encodeNil()
    }
  }
}

extension AnyValue {
  /// A value with at most `depth` containers inside one another, and keys that ascend.
  static func random(depth: Int, using generator: inout SeededGenerator) -> AnyValue {
    switch Int.random(in: 0...(depth > 0 ? 9 : 6), using: &generator) {
    case 0: .unsigned(generator.next() >> UInt64.random(in: 0...63, using: &generator))
    case 1: .negative(-1 - Int64(generator.next() >> UInt64.random(in: 1...63, using: &generator)))
    case 2: .byteString(generator.bytes(.random(in: 0...40, using: &generator)))
    case 3: .text(randomText(using: &generator))
    case 4: .bool(true)
    case 5: .bool(false)
    case 6: .null
    case 7, 8:
      .array(
        (0..<Int.random(in: 0...30, using: &generator)).map { _ in
          random(depth: depth - 1, using: &generator)
        })
    default:
      .map(
        (0...255).shuffled(using: &generator).prefix(.random(in: 0...30, using: &generator)).sorted().map {
          Field(number: $0, value: random(depth: depth - 1, using: &generator))
        })
    }
  }

  private static func randomText(using generator: inout SeededGenerator) -> String {
    let alphabet = Array("abc 고객예금업무ü水𐅑🍓\u{0}\u{7F}\u{FFFD}")
    return String(
      (0..<Int.random(in: 0...30, using: &generator)).compactMap { _ in
        alphabet.randomElement(using: &generator)
      })
  }
}
