// Owns values of the wire format (RFC 8949) that no message of ours need have: any key, any kind, any depth.
// It uses nothing of the codec under attack.

import BankModel

/// A value that is written as it is, whether it makes sense or not.
indirect enum RawValue {
  case number(Int64)
  case text(Int)
  case flag(Bool)
  case list([RawValue])
  case map([(Int64, RawValue)])
  /// A head without what it announces.
  case head(UInt8, UInt64)

  static func draw(_ chance: inout SeededGenerator, depth: Int = 0) -> RawValue {
    switch chance.draw(0...(depth > 4 ? 4 : 7)) {
    case 0: return .number(chance.draw(-2...12))
    case 1: return .number(Int64(bitPattern: chance.next()))
    case 2: return .flag(chance.draw(0...1) == 0)
    case 3: return .text(Int(chance.draw(0...300)))
    case 4: return .head(UInt8(chance.draw(0...7)), chance.next() >> UInt64(chance.draw(0...63)))
    case 5: return .list((0..<chance.draw(0...4)).map { _ in draw(&chance, depth: depth + 1) })
    default: return .map((0..<chance.draw(0...4)).map { ($0 + 1, draw(&chance, depth: depth + 1)) })
    }
  }

  func append(to bytes: inout [UInt8]) {
    switch self {
    case .number(let number) where number < 0: Self.append(1, UInt64(bitPattern: -1 - number), to: &bytes)
    case .number(let number): Self.append(0, UInt64(bitPattern: number), to: &bytes)
    case .text(let count):
      Self.append(3, UInt64(count), to: &bytes)
      bytes += [UInt8](repeating: UInt8(ascii: "t"), count: count)
    case .flag(let flag): bytes.append(flag ? 0xF5 : 0xF4)
    case .list(let items):
      Self.append(4, UInt64(items.count), to: &bytes)
      for item in items { item.append(to: &bytes) }
    case .map(let fields):
      Self.append(5, UInt64(fields.count), to: &bytes)
      for (key, value) in fields {
        RawValue.number(key).append(to: &bytes)
        value.append(to: &bytes)
      }
    case .head(let kind, let argument): Self.append(kind, argument, to: &bytes)
    }
  }

  private static func append(_ kind: UInt8, _ argument: UInt64, to bytes: inout [UInt8]) {
    let (more, width): (UInt8, Int) =
      switch argument {
      case ..<24: (UInt8(argument), 0)
      case ...0xFF: (24, 1)
      case ...0xFFFF: (25, 2)
      case ...0xFFFF_FFFF: (26, 4)
      default: (27, 8)
      }
    bytes.append(kind << 5 | more)
    for place in (0..<width).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: argument >> (8 * UInt64(place))))
    }
  }
}
