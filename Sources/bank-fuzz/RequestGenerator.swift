// Random valid requests of the protocol, with values inside and outside their limits.
// Invariant: the same generator state draws the same requests.
import BankModel
import Wire

/// Draws requests for the coordinator.
enum RequestGenerator {
  /// Draws a request and its number.
  static func draw(_ chance: inout SeededGenerator) -> ControlRequest {
    ControlRequest(
      number: UInt32(truncatingIfNeeded: chance.next() >> UInt64(chance.draw(0...32))),
      command: command(&chance))
  }

  /// Draws a command with its parameters.
  private static func command(_ chance: inout SeededGenerator) -> ControlCommand {
    // Expensive requests are rare, because they would dominate the run.
    if chance.draw(0...39) == 0 {
      return [
        .audit, .ledger, .receipts(ReceiptQuery(days: .all, follow: false)), .reset(day: nil), .reload,
        .withdraw(UInt32(chance.draw(0...9))),
      ][Int(chance.draw(0...5))]
    }
    let service: ServiceName? = [nil, .deposit, .loan][Int(chance.draw(0...2))]
    switch chance.draw(0...20) {
    case 0: return .status
    case 1: return .watch
    case 2: return .awaitOpen
    case 3, 4: return .enqueue(order(&chance, service))
    case 5: return list(&chance)
    case 6:
      return .tickets(
        TicketQuery(
          state: chance.draw(0...1) == 0 ? nil : CustomerState.allCases.randomElement(using: &chance)))
    case 7: return .ticket(number: number(&chance), day: chance.draw(0...1) == 0 ? nil : number(&chance))
    case 8:
      return .receipts(
        ReceiptQuery(
          days: chance.draw(0...1) == 0 ? .present : .day(number(&chance)), follow: chance.draw(0...1) == 0,
          after: number(&chance)))
    case 9: return .follow
    case 10: return .awaitIdle
    case 11: return .awaitTickets(day: number(&chance), first: number(&chance), last: number(&chance))
    case 12: return chance.draw(0...3) == 0 ? .pause(service) : .resume(service)
    case 13:
      return .scale(
        (0..<chance.draw(0...3)).map { _ in
          ServiceWindows(service: chance.draw(0...1) == 0 ? .deposit : .loan, count: number(&chance))
        })
    case 14: return chance.draw(0...1) == 0 ? .cancel(number(&chance)) : .requeue(number(&chance))
    case 15: return chance.draw(0...1) == 0 ? .requeueDead : .account(number(&chance))
    case 16: return .board
    case 17:
      return .killWorker(
        window: "deposit-\(chance.draw(0...3))", generation: number(&chance), pid: Int32(chance.draw(-1...9)))
    case 18:
      let spans = (0..<chance.draw(0...4)).map { _ in
        TicketNumbers(first: number(&chance), last: number(&chance))
      }
      let selection = TicketSelection(spans: spans, day: chance.draw(0...3) == 0 ? number(&chance) : nil)
      return chance.draw(0...1) == 0 ? .cancelAll(selection) : .requeueAll(selection)
    case 19:
      return .tickets(TicketQuery(service: service, after: number(&chance), limit: number(&chance)))
    default: return .stop(StopParameters(now: chance.draw(0...1) == 0, timeoutMilliseconds: number(&chance)))
    }
  }

  /// Draws the parameters of an `enqueue` request.
  private static func order(_ chance: inout SeededGenerator, _ service: ServiceName?) -> EnqueueParameters {
    EnqueueParameters(
      count: number(&chance), service: service,
      priority: Priority.grades.randomElement(using: &chance) ?? .vip,
      amount: chance.draw(0...1) == 0 ? nil : number(&chance),
      account: chance.draw(0...1) == 0 ? nil : number(&chance), seed: chance.next(), key: key(&chance))
  }

  /// Draws a list of customers.
  private static func list(_ chance: inout SeededGenerator) -> ControlCommand {
    let entries = (0..<chance.draw(0...20)).map { _ in
      EnqueueEntry(
        service: chance.draw(0...1) == 0 ? .deposit : .loan,
        priority: Priority.grades.randomElement(using: &chance) ?? .vip,
        amount: chance.draw(0...9) == 0 ? number(&chance) : chance.draw(1...100_000),
        account: chance.draw(0...9) == 0 ? number(&chance) : chance.draw(1...100), key: key(&chance))
    }
    return .enqueueList(EnqueueList(entries: entries, isLast: chance.draw(0...3) > 0))
  }

  /// Draws an idempotency key, long or short; nil for none.
  private static func key(_ chance: inout SeededGenerator) -> String? {
    switch chance.draw(0...5) {
    case 0: String(repeating: "열", count: Int(chance.draw(0...100)))
    case 1: "key \(chance.draw(0...50))"
    default: nil
    }
  }

  /// Draws a number, usually a small one, sometimes an extreme one.
  private static func number(_ chance: inout SeededGenerator) -> Int64 {
    switch chance.draw(0...9) {
    case 0...5: chance.draw(0...20)
    case 6: chance.draw(-3...300)
    case 7: [.max, .min, 0, -1, 1 << 31, 1 << 32, 10_000_000, 10_000_001][Int(chance.draw(0...7))]
    case 8: Int64(bitPattern: chance.next())
    default: chance.draw(0...100_000)
    }
  }
}

/// A CBOR value that is encoded as it is, valid or not.
indirect enum RawValue {
  case number(Int64)
  /// A text of this many letters.
  case text(Int)
  case flag(Bool)
  case list([RawValue])
  case map([(Int64, RawValue)])
  /// A head without the contents that it announces.
  case head(UInt8, UInt64)

  /// Draws a value, with nested lists and maps.
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

  /// Appends the encoded value.
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

  /// Appends the head of an item: its major type and its argument.
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
