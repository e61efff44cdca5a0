// Owns one attack: the bytes of one connection, in the portions in which they are sent, and how the connection ends.
// It must not know sockets. Invariant: an attack is decided by the seed and its number alone.
import BankModel
import Wire

struct Attack {
  enum Manner: Int64, CaseIterable {
    /// At once, whatever is on its way.
    case cut
    /// Nothing more is sent, and the answers are read to the end.
    case halfClosed
    /// It stays, and what comes is read now and then.
    case lingers
    /// It stays, and nothing is ever read.
    case deaf
  }

  let portions: [[UInt8]]
  let manner: Manner
  let messages: Int

  init(portions: [[UInt8]], manner: Manner, messages: Int) {
    (self.portions, self.manner, self.messages) = (portions, manner, messages)
  }

  init(seed: UInt64, number: UInt64, hello: [UInt8]) {
    var chance = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ number)
    var frames: [[UInt8]] = []
    // Most are let in, because that is where most of the code is.
    switch chance.draw(0...9) {
    case 0: break
    case 1: frames.append(Mutation.change(hello, &chance))
    default: frames.append(hello)
    }
    let kind = chance.draw(0...9)
    for _ in 0..<chance.draw(0...20) {
      guard let frame = Self.frame(kind, &chance) else { continue }
      frames.append(frame)
    }
    var bytes = Array(frames.joined())
    if kind == 9 || chance.draw(0...7) == 0 { bytes.removeLast(min(bytes.count, Int(chance.draw(1...40)))) }
    // Looked at as a whole, because a change of one frame can make another of the next.
    if Harm.isMeant(bytes) { bytes = hello + Self.noise(&chance) }
    messages = frames.count
    portions = Self.cut(bytes, &chance)
    manner = Manner(rawValue: [0, 0, 0, 1, 1, 1, 1, 2, 2, 3][Int(chance.draw(0...9))]) ?? .cut
  }

  private static func frame(_ kind: Int64, _ chance: inout SeededGenerator) -> [UInt8]? {
    switch kind {
    case 0: return noise(&chance)
    case 1: return raw(&chance)
    case 2, 3: return valid(&chance)
    default:
      guard let frame = valid(&chance) else { return nil }
      return chance.draw(0...2) == 0 ? frame : Mutation.change(frame, &chance)
    }
  }

  private static func valid(_ chance: inout SeededGenerator) -> [UInt8]? {
    var frame: [UInt8] = []
    let message = ClientMessage.request(RequestDraw.draw(&chance))
    guard (try? FrameEncoder().append(message, to: &frame, limit: FrameLimits.control)) != nil else {
      return nil
    }
    return frame
  }

  /// A frame around a request of our own making, or around anything.
  private static func raw(_ chance: inout SeededGenerator) -> [UInt8] {
    var body: [UInt8] = []
    let content = RawValue.draw(&chance)
    let command = RawValue.map([
      (1, .number(chance.draw(0...9))), (2, .map([(chance.draw(0...25), content)])),
    ])
    let message = chance.draw(0...3) == 0 ? content : RawValue.map([(2, command)])
    message.append(to: &body)
    return Mutation.header(body.count) + body
  }

  private static func noise(_ chance: inout SeededGenerator) -> [UInt8] {
    (0..<chance.draw(1...600)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
  }

  static func cut(_ bytes: [UInt8], _ chance: inout SeededGenerator) -> [[UInt8]] {
    var portions: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = chance.draw(0...3) > 0 ? rest.count : Int(chance.draw(1...Int64(rest.count)))
      portions.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return portions
  }
}
