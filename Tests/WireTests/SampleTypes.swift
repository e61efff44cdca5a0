// Types of every shape that messages may have, for the tests of the codec. Invariant: field numbers are
// explicit, as in the messages.

/// A record without fields of its own: all fields are unknown to it.
struct EmptyMessage: Codable, Equatable {
  enum CodingKeys: CodingKey {}
  init() {}
  init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
  func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
}

enum Service: Int, Codable, CaseIterable {
  case deposit = 1
  case loan = 2
}

enum Grade: String, Codable, CaseIterable { case vvip, vip, regular }

/// Six integers, the shape of the hot messages.
struct Six: Codable, Equatable {
  var a, b, c, d, e, f: Int

  enum CodingKeys: Int, CodingKey {
    case a = 0
    case b = 1
    case c = 2
    case d = 3
    case e = 4
    case f = 5
  }
}

/// An enum with values, as a message union is synthesised.
enum Request: Codable, Equatable {
  case enqueue(count: Int, service: Service?)
  case batch([Six])
  case stop

  enum CodingKeys: Int, CodingKey {
    case enqueue = 1
    case batch = 2
    case stop = 30
  }

  enum EnqueueCodingKeys: Int, CodingKey {
    case count = 0
    case service = 1
  }

  enum BatchCodingKeys: Int, CodingKey { case _0 = 0 }
}

/// A field of every type that the profile has, plain and optional.
struct Everything: Codable, Equatable {
  var int: Int
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int64: Int64
  var uint: UInt
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var uint64: UInt64
  var int128: Int128
  var uint128: UInt128
  var flag: Bool
  var text: String
  var blob: [UInt8]
  var service: Service
  var grade: Grade
  var nested: Request
  var list: [Int?]
  var table: [[String]]
  var maybeInt: Int?
  var maybeSmall: UInt8?
  var maybeFlag: Bool?
  var maybeText: String?
  var maybeBlob: [UInt8]?
  var maybeService: Service?
  var maybeNested: [Request]?

  enum CodingKeys: Int, CodingKey {
    case int = 0
    case int8 = 1
    case int16 = 2
    case int32 = 3
    case int64 = 4
    case uint = 5
    case uint8 = 6
    case uint16 = 7
    case uint32 = 8
    case uint64 = 9
    case int128 = 10
    case uint128 = 11
    case flag = 12
    case text = 13
    case blob = 14
    case service = 15
    case grade = 16
    case nested = 17
    case list = 18
    case table = 19
    case maybeInt = 20
    case maybeSmall = 63
    case maybeFlag = 64
    case maybeText = 127
    case maybeBlob = 128
    case maybeService = 200
    case maybeNested = 255
  }
}

extension Six {
  static func random(using generator: inout SeededGenerator) -> Six {
    Six(
      a: .wide(&generator), b: .wide(&generator), c: .wide(&generator), d: .wide(&generator),
      e: .wide(&generator),
      f: .wide(&generator))
  }
}

extension Request {
  static func random(using generator: inout SeededGenerator) -> Request {
    switch Int.random(in: 0...2, using: &generator) {
    case 0:
      .enqueue(
        count: .wide(&generator), service: generator.maybe { Service.allCases.randomElement(using: &$0) })
    case 1: .batch((0..<Int.random(in: 0...3, using: &generator)).map { _ in Six.random(using: &generator) })
    default: .stop
    }
  }
}

extension Everything {
  static let sample = Everything(
    int: -1, int8: .min, int16: .max, int32: .min, int64: .min, uint: 23, uint8: 24, uint16: 256,
    uint32: 65_536,
    uint64: .max, int128: -2, uint128: 2, flag: true, text: "고객 \u{0}🍓", blob: [0, 255], service: .loan,
    grade: .vvip, nested: .batch([Six(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6)]), list: [1, nil, -1],
    table: [[], ["", "수박"]], maybeInt: nil, maybeSmall: 255, maybeFlag: false, maybeText: "",
    maybeBlob: [], maybeService: .deposit, maybeNested: [.stop, .enqueue(count: 10, service: nil)])

  static func random(using generator: inout SeededGenerator) -> Everything {
    Everything(
      int: .wide(&generator), int8: .wide(&generator), int16: .wide(&generator), int32: .wide(&generator),
      int64: .wide(&generator), uint: .wide(&generator), uint8: .wide(&generator), uint16: .wide(&generator),
      uint32: .wide(&generator), uint64: .wide(&generator), int128: Int128(Int64.wide(&generator)),
      uint128: UInt128(UInt64.wide(&generator)), flag: .random(using: &generator),
      text: "고객 \(generator.next())",
      blob: generator.bytes(.random(in: 0...30, using: &generator)),
      service: .random(in: Service.allCases, using: &generator),
      grade: .random(in: Grade.allCases, using: &generator),
      nested: .random(using: &generator),
      list: (0..<Int.random(in: 0...5, using: &generator)).map { _ in generator.maybe { Int.wide(&$0) } },
      table: [[], ["a", "水"]], maybeInt: generator.maybe { Int.wide(&$0) },
      maybeSmall: generator.maybe { UInt8.wide(&$0) }, maybeFlag: generator.maybe { Bool.random(using: &$0) },
      maybeText: generator.maybe { "\($0.next())" }, maybeBlob: generator.maybe { $0.bytes(3) },
      maybeService: generator.maybe { Service.random(in: Service.allCases, using: &$0) },
      maybeNested: generator.maybe { [Request.random(using: &$0), .stop] })
  }
}

extension FixedWidthInteger {
  /// A number of a random magnitude, so that all lengths of heads occur.
  static func wide(_ generator: inout SeededGenerator) -> Self {
    Self(truncatingIfNeeded: generator.next()) >> Self.random(in: 0..<Self(Self.bitWidth), using: &generator)
  }
}

extension CaseIterable {
  static func random(in cases: AllCases, using generator: inout SeededGenerator) -> Self {
    cases[cases.index(cases.startIndex, offsetBy: .random(in: 0..<cases.count, using: &generator))]
  }
}

extension SeededGenerator {
  mutating func maybe<T>(_ value: (inout SeededGenerator) -> T?) -> T? {
    Bool.random(using: &self) ? value(&self) : nil
  }
}
