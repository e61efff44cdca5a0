// Random changes of valid bytes.
// Invariant: the same generator state makes the same change.
import BankModel

/// Changes of a valid frame that make it invalid or unusual.
enum Mutation {
  /// Frame lengths at the limits of the protocol and of arithmetic.
  private static let lengths: [Int] = [
    0, 1, 3, 4, 5, 255, 65_536, 1 << 20, 1 << 20 + 1, 1 << 31, 1 << 32 - 1,
  ]

  /// The head of a frame whose body has this number of bytes.
  static func header(_ count: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
  }

  /// Returns a frame with a few random changes.
  static func change(_ frame: [UInt8], _ chance: inout SeededGenerator) -> [UInt8] {
    var bytes = frame
    for _ in 0..<chance.draw(1...4) { changeOnce(&bytes, &chance) }
    // Sometimes the length is corrected, so that the decoder reaches the contents.
    if bytes.count > 4, chance.draw(0...1) == 0 {
      bytes.replaceSubrange(0..<4, with: header(bytes.count - 4))
    }
    return bytes
  }

  /// Changes, removes, repeats or inserts bytes, or replaces the length of the frame.
  private static func changeOnce(_ bytes: inout [UInt8], _ chance: inout SeededGenerator) {
    guard !bytes.isEmpty else { return }
    let place = Int(chance.draw(0...Int64(bytes.count - 1)))
    let span = place..<min(bytes.count, place + Int(chance.draw(1...16)))
    switch chance.draw(0...7) {
    case 0: bytes[place] ^= 1 << UInt8(chance.draw(0...7))
    case 1: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
    case 2:
      bytes[place] =
        [0x00, 0x17, 0x18, 0x1B, 0x1F, 0x3B, 0x5B, 0x7B, 0x9B, 0xBB, 0xF6, 0xFF][Int(chance.draw(0...11))]
    case 3: bytes.removeSubrange(span)
    case 4: bytes.insert(contentsOf: bytes[span], at: place)
    case 5: bytes.insert(UInt8(truncatingIfNeeded: chance.next()), at: place)
    case 6: for index in span { bytes[index] = 0xFF }
    default:
      let length = header(lengths[Int(chance.draw(0...Int64(lengths.count - 1)))])
      bytes.replaceSubrange(0..<min(4, bytes.count), with: length)
    }
  }
}
