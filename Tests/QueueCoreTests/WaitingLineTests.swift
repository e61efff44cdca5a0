// One line of waiting customers: the first of them in memory, the others in a store that the tests play.

import BankModel
import Testing

@testable import QueueCore

@Suite struct WaitingLineTests {
  private func page(_ tickets: TicketNumber...) -> [Customer] { tickets.map { .numbered($0) } }

  /// A line with this many customers in memory, numbered from 1.
  private func line(_ count: TicketNumber, capacity: Int) -> WaitingLine {
    var line = WaitingLine(stored: 0, capacity: capacity)
    for ticket in 1...count { line.admit(.numbered(ticket)) }
    line.settleNewcomers()
    return line
  }

  private func front(_ line: WaitingLine) -> [TicketNumber] { line.front.map(\.ticket) }

  @Test("a line that is only in the store requests a page as large as its memory, and only once")
  func firstPage() {
    var line = WaitingLine(stored: 10, capacity: 4)
    #expect(line.count == 10)
    #expect(line.dequeue() == nil)
    #expect(line.nextPage(lowWater: 2) == 4)
    #expect(line.isLoading)
    #expect(line.nextPage(lowWater: 2) == 0)
    line.append(page: page(1, 2, 3, 4)) { _ in false }
    #expect(!line.isLoading)
    #expect(front(line) == [1, 2, 3, 4])
    #expect((line.count, line.unloaded, line.cursor) == (10, 6, 4))
  }

  @Test("the next page is requested when few customers are in memory, and not before")
  func lowWater() {
    var line = WaitingLine(stored: 6, capacity: 4)
    _ = line.nextPage(lowWater: 2)
    line.append(page: page(1, 2, 3, 4)) { _ in false }
    #expect(line.dequeue()?.ticket == 1)
    #expect(line.dequeue()?.ticket == 2)
    #expect(line.nextPage(lowWater: 2) == 0)
    #expect(line.dequeue()?.ticket == 3)
    #expect(line.nextPage(lowWater: 2) == 2, "no more than are known to be in the store")
    line.append(page: page(5, 6)) { _ in false }
    #expect(front(line) == [4, 5, 6])
    #expect(line.nextPage(lowWater: 9) == 0)
  }

  @Test("a page is never larger than the room in memory")
  func roomInMemory() {
    var line = WaitingLine(stored: 9, capacity: 4)
    _ = line.nextPage(lowWater: 2)
    line.append(page: page(1, 2, 3, 4)) { _ in false }
    _ = line.dequeue()
    #expect(line.nextPage(lowWater: 4) == 1)
  }

  @Test("a line over its capacity requests no page, and requests one again when there is room")
  func noRoomInMemory() {
    var line = WaitingLine(stored: 5, capacity: 2)
    _ = line.nextPage(lowWater: 3)
    line.append(page: [.numbered(3), .numbered(4)]) { _ in false }
    _ = line.dequeue()
    #expect(line.nextPage(lowWater: 3) == 1)
    // Two customers come back while the page is being read.
    line.returnToLine(.numbered(1))
    line.returnToLine(.numbered(2))
    line.append(page: page(5)) { _ in false }
    #expect(front(line) == [1, 2, 4, 5])
    #expect(line.nextPage(lowWater: 9) == 0)
    #expect(!line.isLoading)
    for _ in 0..<3 { _ = line.dequeue() }
    #expect(line.nextPage(lowWater: 9) == 1)
  }

  @Test("newcomers are in line only when their tickets are on disk")
  func newcomersSettle() {
    var line = WaitingLine(stored: 0, capacity: 4)
    line.admit(.numbered(1))
    line.admit(.numbered(2))
    #expect((line.count, line.newcomerCount) == (0, 2))
    #expect(line.dequeue() == nil)
    line.settleNewcomers()
    #expect((line.count, line.newcomerCount) == (2, 0))
    #expect(front(line) == [1, 2])
  }

  @Test("newcomers whose tickets were refused leave no trace")
  func newcomersDrop() {
    var line = line(1, capacity: 4)
    line.admit(.numbered(2))
    line.dropNewcomers()
    line.settleNewcomers()
    #expect(front(line) == [1])
    #expect((line.count, line.newcomerCount) == (1, 0))
  }

  @Test("newcomers beyond the capacity are only in the store, and come by page")
  func newcomersBeyondCapacity() {
    var line = WaitingLine(stored: 0, capacity: 2)
    for ticket in 1...5 as ClosedRange<TicketNumber> { line.admit(.numbered(ticket)) }
    line.settleNewcomers()
    #expect(front(line) == [1, 2])
    #expect((line.count, line.unloaded, line.cursor) == (5, 3, 2))
  }

  @Test("newcomers do not overtake customers in the store")
  func newcomersBehindStore() {
    var line = WaitingLine(stored: 3, capacity: 4)
    line.admit(.numbered(4))
    line.settleNewcomers()
    #expect(front(line) == [])
    #expect((line.count, line.unloaded) == (4, 4))
  }

  @Test("newcomers join memory only as an unbroken run: after a gap they stay in the store")
  func newcomersUnbroken() {
    var line = line(2, capacity: 2)
    line.admit(.numbered(3))
    // A customer leaves, so that there is room for the second newcomer, but not before the first.
    _ = line.dequeue()
    line.admit(.numbered(4))
    line.settleNewcomers()
    #expect(front(line) == [2])
    #expect((line.unloaded, line.cursor) == (2, 2))
    #expect(line.nextPage(lowWater: 2) == 1)
    line.append(page: page(3)) { _ in false }
    #expect(front(line) == [2, 3])
  }

  @Test("newcomers who fitted when they came, and no longer fit, are in the store")
  func newcomersCrowdedOut() {
    var line = line(3, capacity: 3)
    let back = [line.dequeue(), line.dequeue()].compactMap { $0 }
    line.admit(.numbered(4))
    line.admit(.numbered(5))
    back.forEach { line.returnToLine($0) }
    line.settleNewcomers()
    #expect(front(line) == [1, 2, 3])
    #expect((line.unloaded, line.cursor) == (2, 3))
  }

  @Test("a customer that comes back before the cursor is at the place of its number")
  func takeBackBeforeCursor() {
    var line = line(4, capacity: 8)
    let first = line.dequeue()
    let second = line.remove(3)
    line.returnToLine(second ?? .numbered(99))
    line.returnToLine(first ?? .numbered(99))
    #expect(front(line) == [1, 2, 3, 4])
  }

  @Test("a customer that comes back beyond the cursor is in the store, unless it is the only one")
  func takeBackBeyondCursor() {
    var line = WaitingLine(stored: 3, capacity: 2)
    _ = line.nextPage(lowWater: 1)
    line.append(page: page(1, 2)) { _ in false }
    line.returnToLine(.numbered(9))
    #expect(front(line) == [1, 2])
    #expect((line.unloaded, line.cursor) == (2, 2))

    var short = WaitingLine(stored: 0, capacity: 2)
    short.returnToLine(.numbered(9))
    #expect(front(short) == [9])
    #expect((short.unloaded, short.cursor) == (0, 9))
  }

  @Test("when memory is full the last one returns to the store, and the next page starts before it")
  func eviction() {
    var line = line(3, capacity: 3)
    let first = line.dequeue()
    line.admit(.numbered(4))
    line.settleNewcomers()
    line.returnToLine(first ?? .numbered(99))
    #expect(front(line) == [1, 2, 3])
    #expect((line.unloaded, line.cursor, line.count) == (1, 3, 4))
    for _ in 0..<3 { _ = line.dequeue() }
    #expect(line.nextPage(lowWater: 1) == 1)
    line.append(page: page(4)) { _ in false }
    #expect(front(line) == [4])
  }

  @Test("no customer returns to the store while a page is being read")
  func noEvictionWhileLoading() {
    var line = WaitingLine(stored: 4, capacity: 2)
    _ = line.nextPage(lowWater: 2)
    line.append(page: page(2, 3)) { _ in false }
    _ = line.dequeue()
    #expect(line.nextPage(lowWater: 2) == 1)
    line.returnToLine(.numbered(2))
    line.returnToLine(.numbered(1))
    #expect(front(line) == [1, 2, 3])
    line.append(page: page(4)) { _ in false }
    #expect(front(line) == [1, 2, 3, 4])
    #expect(line.count == 5)
  }

  @Test("customers of a page who are at windows are skipped and not counted")
  func pageWithCustomersAtWindows() {
    var line = WaitingLine(stored: 2, capacity: 4)
    _ = line.nextPage(lowWater: 2)
    line.append(page: page(1, 2)) { $0 == 1 }
    #expect(front(line) == [2])
    #expect((line.unloaded, line.cursor) == (1, 2))
    #expect(line.nextPage(lowWater: 2) == 1)
    line.append(page: page(3)) { _ in false }
    #expect(front(line) == [2, 3])
  }

  @Test("a page of customers at windows alone moves the cursor past them")
  func pageOfCustomersAtWindows() {
    var line = WaitingLine(stored: 1, capacity: 4)
    _ = line.nextPage(lowWater: 2)
    line.append(page: page(1)) { _ in true }
    #expect(front(line) == [])
    #expect((line.unloaded, line.cursor) == (1, 1))
    #expect(line.nextPage(lowWater: 2) == 1)
  }

  @Test("a customer can leave from memory or from the store, and the places close up")
  func leaving() {
    var line = WaitingLine(stored: 4, capacity: 3)
    _ = line.nextPage(lowWater: 1)
    line.append(page: page(1, 2, 3)) { _ in false }
    #expect(line.remove(2)?.ticket == 2)
    #expect(line.remove(4) == nil)
    #expect(line.position(of: 3) == 2)
    #expect(line.position(of: 2) == nil)
    line.removeBeyond()
    #expect(line.count == 2)
  }
}
