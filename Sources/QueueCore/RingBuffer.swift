// Owns a queue in an array whose end is joined to its beginning. It knows nothing of customers.
// Invariant: the elements stand from `head` on in as many places as there are, and around the end of the array; every
// other place is empty.

/// A first-in, first-out queue in which nothing moves and nothing is allocated while it has room: whoever comes takes the
/// place behind the last one, whoever leaves first leaves its place empty. Out of the middle an element can be taken, too,
/// and those behind it move up.
struct RingBuffer<Element> {
  /// A power of two of them, or none.
  private var places: [Element?] = []
  private var head = 0
  private(set) var count = 0

  init() {}

  private func place(_ position: Int) -> Int { (head &+ position) & (places.count &- 1) }

  /// Adds an element behind the last one.
  mutating func append(_ element: consuming Element) {
    if count == places.count { grow() }
    places[place(count)] = element
    count += 1
  }

  /// Takes the first element out; there has to be one.
  mutating func removeFirst() -> Element {
    precondition(count > 0, "the first of nobody was asked for")
    // Taken and not copied: what an element holds would be counted up and down again.
    guard let first = places[head].take() else { preconditionFailure("a place in a ring is empty") }
    head = place(1)
    count -= 1
    return first
  }

  /// Takes an element out; those behind it move up by one.
  mutating func remove(at position: Int) -> Element {
    let removed = self[position]
    for behind in position..<count - 1 { places[place(behind)] = places[place(behind + 1)] }
    places[place(count - 1)] = nil
    count -= 1
    return removed
  }

  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(Swift.max(4, 2 * places.count))
    for position in 0..<count { larger.append(places[place(position)]) }
    while larger.count < Swift.max(4, 2 * places.count) { larger.append(nil) }
    (places, head) = (larger, 0)
  }
}

extension RingBuffer: Sendable where Element: Sendable {}

extension RingBuffer: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(position: Int) -> Element {
    get {
      guard 0..<count ~= position, let element = places[place(position)] else {
        preconditionFailure("nobody stands at position \(position) of \(count)")
      }
      return element
    }
    set {
      precondition(0..<count ~= position, "nobody stands at position \(position) of \(count)")
      places[place(position)] = newValue
    }
  }
}
