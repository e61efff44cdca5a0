// One attack: the bytes of one connection, the portions in which they are sent, and the end of the
// connection.
// Invariant: the same arguments make the same attack.
import BankModel
import Wire

/// What one connection does to the attacked process.
struct Attack {
  /// What happens to the connection after its bytes were sent.
  enum AttackKind: Int64, CaseIterable {
    /// Closed at once, with messages in flight.
    case cut
    /// Closed for writing, and read until the end or until no answer has arrived for a moment.
    case halfClosed
    /// Kept open, and read from time to time.
    case staysOpen
    /// Kept open, and never read.
    case neverReads
  }

  /// The bytes to send, one array for each call of `send`.
  let portions: [[UInt8]]
  let attackKind: AttackKind
  /// Number of frames or HTTP requests before they were changed.
  let messages: Int

  init(portions: [[UInt8]], attackKind: AttackKind, messages: Int) {
    (self.portions, self.attackKind, self.messages) = (portions, attackKind, messages)
  }

  /// Makes the attack with this number on a coordinator.
  init(seed: UInt64, number: UInt64, hello: [UInt8]) {
    var chance = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ number)
    var frames: [[UInt8]] = []
    // Most attacks start with a valid hello, because most of the code comes after it.
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
    // Check all bytes together, because a change of one frame can change the next.
    if RequestFilter.isHarmful(bytes) { bytes = hello + Self.noise(&chance) }
    messages = frames.count
    portions = Self.cut(bytes, &chance)
    attackKind = AttackKind(rawValue: [0, 0, 0, 1, 1, 1, 1, 2, 2, 3][Int(chance.draw(0...9))]) ?? .cut
  }

  /// Draws one frame, as `kind` says: random bytes, arbitrary values, or a request that may be changed. Returns nil if
  /// the request exceeds the limit of a frame.
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

  /// Draws a frame with a valid request; nil if it exceeds the limit of a frame.
  private static func valid(_ chance: inout SeededGenerator) -> [UInt8]? {
    var frame: [UInt8] = []
    let message = ClientMessage.request(RequestGenerator.draw(&chance))
    guard (try? FrameEncoder().append(message, to: &frame, limit: FrameLimits.control)) != nil else {
      return nil
    }
    return frame
  }

  /// A frame around a structured but arbitrary request, or around any value.
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

  /// Draws random bytes.
  private static func noise(_ chance: inout SeededGenerator) -> [UInt8] {
    (0..<chance.draw(1...600)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
  }

  /// Divides the bytes of an attack into the portions that are sent with one call each.
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
