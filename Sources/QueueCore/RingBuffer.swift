// Queue in a circular array.
// Invariant: the elements are in `count` slots from `head` on. After the last slot of the array, they continue at its
// first slot. All other slots are empty.

/// First-in, first-out queue that neither moves elements nor allocates while it has capacity. If an element is
/// removed from the middle, the elements after it move up.
struct RingBuffer<Element> {
  /// Slots; their number is 0 or a power of two.
  private var slots: [Element?] = []
  /// Slot of the first element.
  private var head = 0
  private(set) var count = 0

  init() {}

  /// Slot of the element at this position.
  private func slot(_ position: Int) -> Int { (head &+ position) & (slots.count &- 1) }

  /// Adds an element at the end.
  mutating func append(_ element: consuming Element) {
    if count == slots.count { grow() }
    slots[slot(count)] = element
    count += 1
  }

  /// Removes and returns the first element. The queue must not be empty.
  mutating func removeFirst() -> Element {
    precondition(count > 0, "an empty ring has no first element")
    // The element is moved, not copied, to avoid its retain and release.
    guard let first = slots[head].take() else { preconditionFailure("a place in a ring is empty") }
    head = slot(1)
    count -= 1
    return first
  }

  /// Removes and returns an element. The elements after it move up by one.
  mutating func remove(at position: Int) -> Element {
    let removed = self[position]
    for behind in position..<count - 1 { slots[slot(behind)] = slots[slot(behind + 1)] }
    slots[slot(count - 1)] = nil
    count -= 1
    return removed
  }

  /// Doubles the number of slots, to at least 4.
  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(Swift.max(4, 2 * slots.count))
    for position in 0..<count { larger.append(slots[slot(position)]) }
    while larger.count < Swift.max(4, 2 * slots.count) { larger.append(nil) }
    (slots, head) = (larger, 0)
  }
}

extension RingBuffer: Sendable where Element: Sendable {}

extension RingBuffer: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(position: Int) -> Element {
    get {
      guard 0..<count ~= position, let element = slots[slot(position)] else {
        preconditionFailure("there is no element at position \(position) of \(count)")
      }
      return element
    }
    set {
      precondition(0..<count ~= position, "there is no element at position \(position) of \(count)")
      slots[slot(position)] = newValue
    }
  }
}
