// The linked list of customers, operation by operation and compared with an array.

import BankModel
import Glibc
import QueueCore
import Testing

@Suite struct LinkedQueueTests {
  private func queue(_ elements: Int...) -> LinkedQueue<Int> {
    var queue = LinkedQueue<Int>()
    for element in elements { queue.enqueue(element) }
    return queue
  }

  @Test("the first element added is the first removed")
  func firstInFirstOut() {
    var queue = queue(3, 1, 2)
    #expect([queue.dequeue(), queue.dequeue(), queue.dequeue()] == [3, 1, 2])
  }

  @Test("removing from an empty queue gives nil, at either end, and changes nothing")
  func emptyQueue() {
    var queue = queue()
    #expect(queue.dequeue() == nil)
    #expect(queue.dequeueLast() == nil)
    #expect(queue.peek == nil)
    #expect(queue.peekLast == nil)
    #expect(queue.count == 0)
    queue.enqueue(1)
    #expect(queue.dequeue() == 1)
    #expect(queue.dequeue() == nil)
  }

  @Test("peek shows the first and leaves it")
  func peek() {
    let queue = queue(5, 6)
    #expect(queue.peek == 5)
    #expect(queue.peekLast == 6)
    #expect(queue.count == 2)
  }

  @Test("a queue is empty before the first element and after the last")
  func isEmpty() {
    var queue = queue()
    #expect(queue.isEmpty)
    queue.enqueue(1)
    #expect(!queue.isEmpty)
    _ = queue.dequeue()
    #expect(queue.isEmpty)
  }

  @Test("clear removes all elements, and the queue can still be used")
  func clear() {
    var queue = queue(1, 2, 3)
    queue.clear()
    #expect(queue.isEmpty)
    #expect(queue.peek == nil)
    #expect(Array(queue) == [])
    queue.enqueue(4)
    #expect(Array(queue) == [4])
  }

  @Test("takeAll returns all elements in order and leaves the queue empty")
  func takeAll() {
    var queue = queue(1, 2, 3)
    #expect(queue.takeAll() == [1, 2, 3])
    #expect(queue.isEmpty)
    #expect(queue.takeAll() == [])
  }

  @Test("iteration shows all elements in order and removes none")
  func iteration() {
    let queue = queue(1, 2, 3)
    #expect(Array(queue) == [1, 2, 3])
    #expect(queue.map { $0 * 2 } == [2, 4, 6])
    #expect(queue.underestimatedCount == 3)
    #expect(queue.count == 3)
  }

  @Test("an iteration sees the queue as it was when the iteration started")
  func iterationIsAView() {
    var queue = queue(1, 2, 3)
    var seen: [Int] = []
    for element in queue {
      seen.append(element)
      _ = queue.dequeue()
    }
    #expect(seen == [1, 2, 3])
    #expect(queue.isEmpty)
  }

  @Test("an element is inserted before the first later one: at the head, between two, or at the end")
  func insert() {
    var queue = queue(10, 20, 30)
    for element in [5, 25, 35] { queue.insert(element) { $0 > element } }
    #expect(Array(queue) == [5, 10, 20, 25, 30, 35])
    #expect(queue.peek == 5)
    #expect(queue.peekLast == 35)
    var empty = LinkedQueue<Int>()
    empty.insert(1) { _ in true }
    #expect(Array(empty) == [1])
  }

  @Test("the first matching element is removed from head, middle or end; no match gives nil")
  func removeFirst() {
    var queue = queue(1, 2, 3, 4, 5)
    #expect(queue.removeFirst { $0 == 3 } == 3)
    #expect(queue.removeFirst { $0 == 1 } == 1)
    #expect(queue.removeFirst { $0 == 5 } == 5)
    #expect(queue.removeFirst { $0 == 9 } == nil)
    #expect(Array(queue) == [2, 4])
    #expect(queue.removeFirst { $0 > 1 } == 2)
    #expect(queue.removeFirst { $0 > 1 } == 4)
    #expect(queue.isEmpty)
  }

  @Test("the last element can be removed until the queue is empty")
  func dequeueLast() {
    var queue = queue(1, 2, 3)
    #expect([queue.dequeueLast(), queue.dequeueLast(), queue.dequeueLast()] == [3, 2, 1])
    queue.enqueue(7)
    #expect(queue.dequeue() == 7)
  }

  @Test("freed places are reused: a queue in steady use does not grow")
  func slabIsReused() {
    var queue = queue(0, 1, 2, 3)
    let places = slab(queue)
    for element in 4..<100_000 {
      queue.enqueue(element)
      _ = element % 3 == 0 ? queue.dequeueLast() : queue.dequeue()
    }
    #expect(queue.count == 4)
    #expect(slab(queue) <= places + 1)
  }

  @Test("a removed element is not kept alive by its place")
  func elementsAreReleased() {
    final class Thing {}
    var queue = LinkedQueue<Thing>()
    weak var thing: Thing?
    do {
      let made = Thing()
      thing = made
      queue.enqueue(made)
    }
    #expect(thing != nil)
    _ = queue.dequeue()
    #expect(thing == nil)
  }

  /// Places that the queue holds, used and free.
  private func slab(_ queue: LinkedQueue<Int>) -> Int {
    guard let nodes = Mirror(reflecting: queue).descendant("nodes") else { return -1 }
    return Mirror(reflecting: nodes).children.count
  }

  @Test("after any operations in any order the queue agrees with an array")
  func agreesWithArray() {
    let chosen = getenv("BANK_QUEUE_SEED").flatMap { UInt64(String(cString: $0)) }
    for seed in chosen.map({ [$0] }) ?? Array(1...200) {
      var chance = SeededGenerator(seed: seed)
      var queue = LinkedQueue<Int64>()
      var array: [Int64] = []
      for step in 0..<300 {
        switch chance.draw(0...99) {
        case 0..<35:
          queue.enqueue(Int64(step))
          array.append(Int64(step))
        case 35..<60: #expect(queue.dequeue() == (array.isEmpty ? nil : array.removeFirst()))
        case 60..<70: #expect(queue.dequeueLast() == array.popLast())
        case 70..<82:
          let wanted = chance.draw(0...300)
          queue.insert(wanted) { $0 > wanted }
          array.insert(wanted, at: array.firstIndex { $0 > wanted } ?? array.count)
        case 82..<97:
          let wanted = chance.draw(0...300)
          let place = array.firstIndex { $0 >= wanted }
          #expect(queue.removeFirst { $0 >= wanted } == place.map { array.remove(at: $0) })
        case 97..<99:
          #expect(queue.takeAll() == array)
          array.removeAll()
        default:
          queue.clear()
          array.removeAll()
        }
        guard Array(queue) == array, queue.count == array.count, queue.peek == array.first,
          queue.peekLast == array.last
        else {
          Issue.record(
            """
            seed \(seed), step \(step): \(Array(queue)) is not \(array); \
            repeat: BANK_QUEUE_SEED=\(seed) scripts/test LinkedQueueTests
            """
          )
          return
        }
      }
    }
  }
}
