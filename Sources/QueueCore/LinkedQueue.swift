// Owns the linked list in which customers stand. It knows nothing of customers.
// The nodes live in one array (a slab) and freed places are used again, so that a queue in steady use allocates
// nothing. Every operation takes constant time for each element that it touches.
// Invariant: following `next` from `head` visits `count` nodes and ends at `tail`; following `previous` does the reverse.

/// A first-in, first-out queue as a doubly linked list.
public struct LinkedQueue<Element> {
  fileprivate struct Node {
    var element: Element?
    var previous: Int32
    var next: Int32
  }

  private static var none: Int32 { -1 }

  private var nodes: [Node] = []
  private var free: Int32 = -1
  private var head: Int32 = -1
  private var tail: Int32 = -1

  /// How many stand in the queue.
  public private(set) var count = 0

  public init() {}
  /// Whether nobody stands in the queue.
  public var isEmpty: Bool { count == 0 }
  /// The first element, which stays; nil when empty.
  public var peek: Element? { head == Self.none ? nil : nodes[Int(head)].element }
  /// The last element, which stays; nil when empty.
  public var peekLast: Element? { tail == Self.none ? nil : nodes[Int(tail)].element }
  /// Adds an element at the end.
  public mutating func enqueue(_ element: Element) { link(element, before: Self.none) }
  /// Takes the first element out; nil when empty.
  public mutating func dequeue() -> Element? { head == Self.none ? nil : unlink(head) }
  /// Takes the last element out; nil when empty.
  public mutating func dequeueLast() -> Element? { tail == Self.none ? nil : unlink(tail) }

  /// Puts an element before the first one for which `isLater` is true, else at the end: a search from the head,
  /// because those who come back to a line belong near its head.
  public mutating func insert(_ element: Element, before isLater: (Element) -> Bool) {
    var place = head
    while place != Self.none, let standing = nodes[Int(place)].element, !isLater(standing) {
      place = nodes[Int(place)].next
    }
    link(element, before: place)
  }

  /// Takes the first element out for which `isWanted` is true; nil when there is none.
  public mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
    var place = head
    while place != Self.none {
      if let standing = nodes[Int(place)].element, isWanted(standing) { return unlink(place) }
      place = nodes[Int(place)].next
    }
    return nil
  }

  /// Sends everyone away.
  public mutating func clear() {
    nodes.removeAll(keepingCapacity: true)
    free = Self.none
    head = Self.none
    tail = Self.none
    count = 0
  }

  /// Takes everyone out, in order.
  public mutating func takeAll() -> [Element] {
    let all = Array(self)
    clear()
    return all
  }

  private mutating func link(_ element: Element, before following: Int32) {
    let previous = following == Self.none ? tail : nodes[Int(following)].previous
    let place = take(Node(element: element, previous: previous, next: following))
    if previous == Self.none { head = place } else { nodes[Int(previous)].next = place }
    if following == Self.none { tail = place } else { nodes[Int(following)].previous = place }
    count += 1
  }

  private mutating func take(_ node: Node) -> Int32 {
    guard free != Self.none else {
      precondition(nodes.count < Int(Int32.max), "a line holds fewer than 2³¹ customers in memory")
      nodes.append(node)
      return Int32(nodes.count - 1)
    }
    let place = free
    free = nodes[Int(place)].next
    nodes[Int(place)] = node
    return place
  }

  private mutating func unlink(_ place: Int32) -> Element? {
    let (previous, next) = (nodes[Int(place)].previous, nodes[Int(place)].next)
    if previous == Self.none { head = next } else { nodes[Int(previous)].next = next }
    if next == Self.none { tail = previous } else { nodes[Int(next)].previous = previous }
    nodes[Int(place)].previous = Self.none
    nodes[Int(place)].next = free
    free = place
    count -= 1
    // Taken and not copied: what an element holds would be counted up and down again.
    return nodes[Int(place)].element.take()
  }
}

extension LinkedQueue: Sendable where Element: Sendable {}
extension LinkedQueue.Node: Sendable where Element: Sendable {}

/// Everyone who stands in the queue, from the first to the last, without taking anybody out.
extension LinkedQueue: Sequence {
  /// Walks from the first to the last.
  public struct Iterator: IteratorProtocol {
    fileprivate let queue: LinkedQueue
    fileprivate var place: Int32

    /// The next one; nil at the end.
    public mutating func next() -> Element? {
      guard place != -1 else { return nil }
      let node = queue.nodes[Int(place)]
      place = node.next
      return node.element
    }
  }

  /// Begins at the first.
  public func makeIterator() -> Iterator { Iterator(queue: self, place: head) }
  /// The exact number, since it is known.
  public var underestimatedCount: Int { count }
}
