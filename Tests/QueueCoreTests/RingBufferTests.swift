// The ring of customers that were assigned ahead, operation by operation and compared with an array.

import BankModel
import Glibc
import Testing

@testable import QueueCore

@Suite struct RingBufferTests {
  @Test("the first element added leaves first, also around the end of the array")
  func firstInFirstOut() {
    var ring = RingBuffer<Int>()
    for number in 0..<3 { ring.append(number) }
    for number in 3..<100 {
      ring.append(number)
      #expect(ring.removeFirst() == number - 3)
    }
    #expect(Array(ring) == [97, 98, 99])
    #expect(Mirror(reflecting: ring).descendant("slots").map { Mirror(reflecting: $0).children.count } == 4)
  }

  @Test("a removed element is not retained any longer")
  func releases() {
    final class Thing {}
    weak var thing: Thing?
    var ring = RingBuffer<Thing>()
    do {
      let made = Thing()
      thing = made
      ring.append(made)
      ring.append(Thing())
    }
    #expect(thing != nil)
    _ = ring.removeFirst()
    #expect(thing == nil)
  }

  @Test("after any operations in any order the ring agrees with an array")
  func agreesWithArray() {
    let chosen = getenv("BANK_QUEUE_SEED").flatMap { UInt64(String(cString: $0)) }
    for seed in chosen.map({ [$0] }) ?? Array(1...200) {
      var chance = SeededGenerator(seed: seed)
      var ring = RingBuffer<Int64>()
      var array: [Int64] = []
      for step in 0..<300 {
        let place = array.isEmpty ? nil : Int(chance.draw(0...Int64(array.count - 1)))
        switch (chance.draw(0...9), place) {
        case (0..<5, _), (_, nil):
          ring.append(Int64(step))
          array.append(Int64(step))
        case (5..<8, _): #expect(ring.removeFirst() == array.removeFirst())
        case (8, let place?): #expect(ring.remove(at: place) == array.remove(at: place))
        case (_, let place?):
          ring[place] = -Int64(step)
          array[place] = -Int64(step)
        }
        guard Array(ring) == array, ring.count == array.count, ring.first == array.first else {
          Issue.record(
            """
            seed \(seed), step \(step): \(Array(ring)) is not \(array); \
            repeat: BANK_QUEUE_SEED=\(seed) scripts/test RingBufferTests
            """
          )
          return
        }
      }
    }
  }

  @Test("an empty ring gives nothing, also in a release build")
  func empty() async {
    await #expect(processExitsWith: .failure) {
      var ring = RingBuffer<Int>()
      _ = ring.removeFirst()
    }
  }
}
