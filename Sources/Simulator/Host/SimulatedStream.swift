// Stream sockets of the simulated host: two ends with the bytes in flight between them, and listening
// sockets. A process may be ahead of the host's time, so every event has a time from which it is visible.
// Invariant: the bytes of one direction arrive in order, before the end of the stream, and never twice. Bytes sent to
// an end that still receives are lost only with their connection, the last ones first.
import BankModel
import Glibc
import Posix
import Time

/// One end of a connection or pipe, with the bytes in flight to it.
final class StreamEnd {
  /// Bytes, or the end of the stream.
  enum Arrival {
    case bytes([UInt8])
    case end
  }

  /// The process to wake when something arrives; nil until a process has accepted the connection, and after the close.
  weak var owner: SimulatedProcess?
  let number: Int
  /// Process id that the peer sees, as in SO_PEERCRED.
  let creator: pid_t
  let isServerSide: Bool
  /// True for an end of a pipe: written bytes arrive without delay.
  let isPipe: Bool
  /// The other end. Both retain each other while one is open.
  private(set) var peer: StreamEnd?
  private var arrivals: [(due: MonotonicTime, arrival: Arrival)] = []
  /// Index of the first arrival that was not read, and number of its bytes that were read.
  private var head = 0
  private var taken = 0
  private var lastDue = MonotonicTime(nanoseconds: 0)
  /// Bytes that are in flight to this end or that it has not read.
  private(set) var unreadBytes = 0
  /// Number of descriptors for this end, in all processes.
  var references = 1
  private(set) var closedAt: MonotonicTime?
  private var isWriteClosed = false
  /// Time from which nothing sent to this end arrives.
  private var readClosedAt: MonotonicTime?
  private var delayFactor: Int64 = 1

  init(
    _ number: Int, owner: SimulatedProcess?, creator: pid_t, isServerSide: Bool = false, isPipe: Bool = false
  ) {
    (self.number, self.isServerSide, self.owner, self.creator) = (number, isServerSide, owner, creator)
    self.isPipe = isPipe
  }

  static func pair(_ first: StreamEnd, _ second: StreamEnd) {
    first.peer = second
    second.peer = first
  }

  /// The next arrival, if it is visible at this time.
  private func first(at moment: MonotonicTime) -> Arrival? {
    head < arrivals.count && arrivals[head].due <= moment ? arrivals[head].arrival : nil
  }

  /// Time of the next unread arrival; nil if there is none.
  var nextDue: MonotonicTime? { head < arrivals.count ? arrivals[head].due : nil }

  /// Reads the available bytes, and returns their number; nil if none has arrived.
  func read(into buffer: UnsafeMutableRawBufferPointer, at moment: MonotonicTime) -> Int? {
    var done = 0
    while done < buffer.count, let arrival = first(at: moment) {
      guard case .bytes(let bytes) = arrival else { break }
      let count = min(bytes.count - taken, buffer.count - done)
      bytes[taken..<taken + count].withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(from: $0)
      }
      done += count
      taken += count
      if taken == bytes.count { drop() }
    }
    guard done > 0 else { return nil }
    unreadBytes -= done
    return done
  }

  private func drop() {
    head += 1
    taken = 0
    guard head > 64, head * 2 > arrivals.count else { return }
    arrivals.removeFirst(head)
    head = 0
  }

  /// True if the end of the stream is the next arrival.
  func isAtEnd(at moment: MonotonicTime) -> Bool { if case .end? = first(at: moment) { true } else { false } }
  /// Number of bytes that can be written now.
  func room(on host: SimulatedHost) -> Int { max(0, host.streamCapacity - (peer?.unreadBytes ?? 0)) }

  /// True if the peer does not read any more.
  func isPeerReadClosed(at moment: MonotonicTime) -> Bool {
    guard let peer else { return true }
    return [peer.closedAt, peer.readClosedAt].compactMap { $0 }.contains { $0 <= moment }
  }

  /// Sends bytes to the other end, sometimes in two pieces.
  func send(_ bytes: [UInt8], at moment: MonotonicTime, on host: SimulatedHost) {
    guard let peer, !isWriteClosed, peer.readClosedAt == nil else { return }
    var rest = bytes[...]
    if rest.count > 1, !isPipe, host.chance.draw(0...15) == 0 {
      // A stream does not preserve frames: cut anywhere, including inside the length of a message.
      let cut = Int(host.chance.draw(1...Int64(rest.count) - 1))
      peer.push(.bytes(Array(rest.prefix(cut))), at: moment, on: host)
      rest = rest.dropFirst(cut)
    }
    peer.push(.bytes(Array(rest)), at: moment, on: host)
  }

  /// Schedules an arrival at this end, and wakes its process then.
  private func push(_ arrival: Arrival, at moment: MonotonicTime, on host: SimulatedHost) {
    let delay =
      isPipe ? .zero : TimeSpan(nanoseconds: host.chance.draw(5_000...120_000) * delayFactor)
    lastDue = max(moment + delay, lastDue)
    if case .bytes(let bytes) = arrival { unreadBytes += bytes.count }
    arrivals.append((lastDue, arrival))
    if let owner { host.wake(owner, at: lastDue) }
  }

  /// Ends the direction to the other end, which then reads the end of the stream.
  func shut(at moment: MonotonicTime, on host: SimulatedHost) {
    guard !isWriteClosed else { return }
    isWriteClosed = true
    peer?.push(.end, at: moment, on: host)
  }

  /// Stops receiving: everything sent before arrives at once, followed by the end of the stream.
  func stopReceiving(at moment: MonotonicTime, on host: SimulatedHost) {
    guard readClosedAt == nil else { return }
    readClosedAt = moment
    for place in arrivals.indices { arrivals[place].due = min(arrivals[place].due, moment) }
    arrivals.append((moment, .end))
    lastDue = max(lastDue, moment)
    if let owner { host.wake(owner, at: moment) }
  }

  /// Closes this end: the other end reads the end of the stream, and nothing can be sent here any more.
  func close(at moment: MonotonicTime, on host: SimulatedHost) {
    guard closedAt == nil else { return }
    shut(at: moment, on: host)
    closedAt = moment
    owner = nil
    guard let peer, peer.closedAt != nil else { return }
    peer.peer = nil
    self.peer = nil
  }

  /// Multiplies the delay of this connection in both directions from now on.
  func slow(by factor: Int64) {
    delayFactor = factor
    peer?.delayFactor = factor
  }

  /// Breaks the connection, and may lose the bytes sent last. Returns the number of lost chunks.
  func breakConnection(at moment: MonotonicTime, on host: SimulatedHost) -> Int {
    let lost = loseTail(on: host) + (peer?.loseTail(on: host) ?? 0)
    let other = peer
    shut(at: moment, on: host)
    other?.shut(at: moment, on: host)
    return lost
  }

  /// Loses some of the unread chunks, the last ones first. Returns their number.
  private func loseTail(on host: SimulatedHost) -> Int {
    let unread = arrivals.count - head - (taken > 0 ? 1 : 0)
    guard unread > 0 else { return 0 }
    var lost = 0
    for _ in 0..<Int(host.chance.draw(1...Int64(unread))) {
      guard case .bytes(let bytes) = arrivals[arrivals.count - 1].arrival else { break }
      unreadBytes -= bytes.count
      arrivals.removeLast()
      lost += 1
    }
    return lost
  }

  /// What can be done with this end now.
  func readiness(at moment: MonotonicTime, on host: SimulatedHost) -> Readiness {
    var ready: Readiness = []
    let isGone = isPeerReadClosed(at: moment)
    if let arrival = first(at: moment) {
      ready.insert(.read)
      if case .end = arrival, isGone { ready.insert(.hangUp) }
    }
    if isGone || room(on: host) > 0 { ready.insert(.write) }
    return ready
  }
}

/// A socket that accepts connections under a name.
final class ListeningSocket {
  weak var owner: SimulatedProcess?
  let backlog: Int
  let openedAt: MonotonicTime
  var closedAt: MonotonicTime?
  /// True if a connection could not be accepted for want of descriptors.
  var hasFailed = false
  /// True if the watch of the socket was ended after that.
  var hasPaused = false
  /// Connections that were not accepted yet, and the times at which they arrive.
  var waiting: [(due: MonotonicTime, end: StreamEnd)] = []

  init(owner: SimulatedProcess, backlog: Int, at moment: MonotonicTime) {
    (self.owner, self.backlog) = (owner, backlog)
    openedAt = moment
  }

  /// True if the socket accepts connections at this time.
  func isOpen(at moment: MonotonicTime) -> Bool { openedAt <= moment && closedAt.map { $0 > moment } ?? true }
}
