// The last events of the bank for its viewers: those on disk, in their order, and never one whose change was discarded.

import Testing

@testable import Coordinator

@Suite("Last events")
struct EventRingTests {
  private static func add(_ times: ClosedRange<Int64>, to ring: EventRing) {
    for time in times { ring.append(EventRing.Event(kind: .reset, time: time)) }
  }

  @Test("discarded events are not shown, although they have overwritten older ones")
  func discarded() {
    let ring = EventRing()
    ring.isWatched = true
    Self.add(1...40, to: ring)
    ring.confirm()
    #expect(ring.latest.map(\.time) == Array(1...40))
    Self.add(1_041...1_070, to: ring)
    ring.discardUncommitted()
    Self.add(41...41, to: ring)
    ring.confirm()
    // The discarded events 66 to 70 have the places of the events 2 to 6.
    #expect(ring.latest.map(\.time) == Array(7...41))
    #expect(ring.latest.map(\.sequence) == Array(7...41))
  }
}
