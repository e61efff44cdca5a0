// Owns the connections of the simulated world and the bytes that are on their way. It must not know what they mean:
// whoever sends hands in whole frames, and they arrive in portions of any size.
// Invariant: the bytes of one direction arrive in order, before its end, and none twice; between connections
// everything may overtake everything. What is lost is lost with its connection, never out of its middle.

import BankModel

/// One of the two ends of a connection.
enum LinkEnd: Hashable {
  /// The end in the coordinator, in the stock service, or in the vending machine.
  case server
  /// The other end: a teller, a client, or whoever asks the stock or the machine.
  case peer
}

/// Who stands at the other end.
enum LinkPeer: Hashable {
  case client(Int)
}

/// What arrives.
enum Arrival {
  case bytes([UInt8])
  /// The other end has closed, or its process has ended.
  case end
}

/// The connections between the processes and the clients.
struct Network {
  private struct Pipe {
    /// What is on its way; nil where it was lost.
    var parcels: [Arrival?] = []
    var head = 0
    var lastDue = MonotonicTime(nanoseconds: 0)
    var isEnded = false
  }

  private struct Link {
    let peer: LinkPeer
    /// The coordinator, the stock service or the vending machine to whose life this connection belongs.
    let incarnation: Int
    var toServer = Pipe()
    var toPeer = Pipe()
  }

  private var links: [Link] = []
  private var chance: SeededGenerator

  /// The usual way takes so long, in nanoseconds.
  private static let usualDelay: ClosedRange<Int64> = 5_000...120_000

  init(seed: UInt64) { chance = SeededGenerator(seed: seed) }

  /// A new connection; its number.
  mutating func connect(_ peer: LinkPeer, incarnation: Int) -> Int {
    links.append(Link(peer: peer, incarnation: incarnation))
    return links.count - 1
  }

  /// Who stands at the far end of a connection.
  func peer(of link: Int) -> LinkPeer { links[link].peer }

  /// The coordinator, the stock service or the vending machine that a connection belongs to.
  func incarnation(of link: Int) -> Int { links[link].incarnation }

  /// Sends bytes towards an end, in one portion or more.
  mutating func send(
    _ bytes: [UInt8], on link: Int, to end: LinkEnd, at now: MonotonicTime, _ agenda: inout Agenda<Occurrence>
  ) {
    guard !bytes.isEmpty, !pipe(link, end).isEnded else { return }
    if bytes.count > 1, chance.draw(0...15) == 0 {
      // A socket keeps no frames together: a cut anywhere, also in the length before a message.
      let cut = Int(chance.draw(1...Int64(bytes.count) - 1))
      push(.bytes(Array(bytes[..<cut])), link, end, now, &agenda)
      push(.bytes(Array(bytes[cut...])), link, end, now, &agenda)
    } else {
      push(.bytes(bytes), link, end, now, &agenda)
    }
  }

  /// Nothing more is sent towards an end: it learns so behind everything that is on its way.
  mutating func endSending(
    on link: Int, to end: LinkEnd, at now: MonotonicTime, _ agenda: inout Agenda<Occurrence>
  ) {
    guard !pipe(link, end).isEnded else { return }
    push(.end, link, end, now, &agenda)
    change(link, end) { $0.isEnded = true }
  }

  /// Takes what arrives now; nil where it was lost on the way.
  mutating func take(from link: Int, at end: LinkEnd) -> Arrival? {
    var arrival: Arrival?
    change(link, end) { pipe in
      arrival = pipe.parcels[pipe.head]
      pipe.parcels[pipe.head] = nil
      pipe.head += 1
    }
    return arrival
  }

  /// Loses the last of what is on its way towards an end, as many parcels as chance says. Returns how many.
  mutating func loseTail(of link: Int, towards end: LinkEnd) -> Int {
    let standing = pipe(link, end).parcels.count - pipe(link, end).head
    guard standing > 0 else { return 0 }
    let lost = Int(chance.draw(1...Int64(standing)))
    var bytesLost = 0
    change(link, end) { pipe in
      for place in pipe.parcels.count - lost..<pipe.parcels.count {
        if case .bytes = pipe.parcels[place] {
          pipe.parcels[place] = nil
          bytesLost += 1
        }
      }
    }
    return bytesLost
  }

  private mutating func push(
    _ arrival: Arrival, _ link: Int, _ end: LinkEnd, _ now: MonotonicTime, _ agenda: inout Agenda<Occurrence>
  ) {
    let delay = TimeSpan(nanoseconds: chance.draw(Self.usualDelay))
    var due = now + delay
    change(link, end) { pipe in
      due = max(due, pipe.lastDue)
      pipe.lastDue = due
      pipe.parcels.append(arrival)
    }
    agenda.add(.delivery(link: link, to: end), at: due)
  }

  private func pipe(_ link: Int, _ end: LinkEnd) -> Pipe {
    end == .server ? links[link].toServer : links[link].toPeer
  }

  private mutating func change(_ link: Int, _ end: LinkEnd, _ body: (inout Pipe) -> Void) {
    if end == .server { body(&links[link].toServer) } else { body(&links[link].toPeer) }
  }
}
