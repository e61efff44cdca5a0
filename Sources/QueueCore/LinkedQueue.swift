// Doubly linked list. The nodes are in one array (a slab), their links in another. Free slots are reused, so that a
// queue in steady use allocates nothing.
// Invariant: following `next` from `head` visits `count` nodes and ends at `tail`; following `previous` does the
// reverse.

/// First-in, first-out queue as a doubly linked list.
public struct LinkedQueue<Element> {
  /// Links of one node. Links and elements are in separate arrays, so that following links copies no element.
  fileprivate struct Link: Sendable {
    var previous: Int32
    var next: Int32
  }

  /// Link value that stands for no node.
  private static var none: Int32 { -1 }

  /// Elements by slot; nil in a free slot.
  fileprivate private(set) var nodes: [Element?] = []
  /// Links by slot. In a free slot, `next` is the next free slot.
  fileprivate private(set) var links: [Link] = []
  /// First free slot; -1 for none.
  private var free: Int32 = -1
  /// Slot of the first element; -1 for none.
  private var head: Int32 = -1
  /// Slot of the last element; -1 for none.
  private var tail: Int32 = -1

  /// Number of elements.
  public private(set) var count = 0

  public init() {}
  /// True if there are no elements.
  public var isEmpty: Bool { count == 0 }
  /// The first element, without removing it; nil if empty.
  public var peek: Element? { head == Self.none ? nil : nodes[Int(head)] }
  /// The last element, without removing it; nil if empty.
  public var peekLast: Element? { tail == Self.none ? nil : nodes[Int(tail)] }
  /// Adds an element at the end.
  public mutating func enqueue(_ element: Element) { link(element, before: Self.none) }
  /// Removes and returns the first element; nil if empty.
  public mutating func dequeue() -> Element? { head == Self.none ? nil : unlink(head) }
  /// Removes and returns the last element; nil if empty.
  public mutating func dequeueLast() -> Element? { tail == Self.none ? nil : unlink(tail) }

  /// Inserts an element before the first element for which `isLater` is true, or at the end if there is none.
  /// The search starts at the head, because a returning customer usually belongs there.
  public mutating func insert(_ element: Element, before isLater: (Element) -> Bool) {
    var place = head
    while place != Self.none, let openCount = nodes[Int(place)], !isLater(openCount) {
      place = links[Int(place)].next
    }
    link(element, before: place)
  }

  /// Removes and returns the first element for which `isWanted` is true; nil if there is none.
  public mutating func removeFirst(where isWanted: (Element) -> Bool) -> Element? {
    var place = head
    while place != Self.none {
      if let openCount = nodes[Int(place)], isWanted(openCount) { return unlink(place) }
      place = links[Int(place)].next
    }
    return nil
  }

  /// Removes all elements, and keeps the memory.
  public mutating func clear() {
    nodes.removeAll(keepingCapacity: true)
    links.removeAll(keepingCapacity: true)
    free = Self.none
    head = Self.none
    tail = Self.none
    count = 0
  }

  /// Removes all elements and returns them in order.
  public mutating func takeAll() -> [Element] {
    let all = Array(self)
    clear()
    return all
  }

  /// Inserts an element before the node in slot `following`, or at the end if `following` is -1.
  private mutating func link(_ element: Element, before following: Int32) {
    let previous = following == Self.none ? tail : links[Int(following)].previous
    let place = take(element, Link(previous: previous, next: following))
    if previous == Self.none { head = place } else { links[Int(previous)].next = place }
    if following == Self.none { tail = place } else { links[Int(following)].previous = place }
    count += 1
  }

  /// Stores an element in a free or new slot. Returns the slot.
  private mutating func take(_ element: Element, _ link: Link) -> Int32 {
    guard free != Self.none else {
      precondition(nodes.count < Int(Int32.max), "a line holds fewer than 2³¹ customers in memory")
      nodes.append(element)
      links.append(link)
      return Int32(nodes.count - 1)
    }
    let place = free
    free = links[Int(place)].next
    nodes[Int(place)] = element
    links[Int(place)] = link
    return place
  }

  /// Removes the node in slot `place` from the list, frees the slot, and returns its element.
  private mutating func unlink(_ place: Int32) -> Element? {
    let link = links[Int(place)]
    if link.previous == Self.none { head = link.next } else { links[Int(link.previous)].next = link.next }
    if link.next == Self.none { tail = link.previous } else { links[Int(link.next)].previous = link.previous }
    links[Int(place)] = Link(previous: Self.none, next: free)
    free = place
    count -= 1
    // The element is moved, not copied, to avoid its retain and release.
    return nodes[Int(place)].take()
  }
}

extension LinkedQueue: Sendable where Element: Sendable {}

/// Iteration from first to last, without removing elements.
extension LinkedQueue: Sequence {
  /// Iterator from the first to the last element.
  public struct Iterator: IteratorProtocol {
    fileprivate let queue: LinkedQueue
    fileprivate var place: Int32

    /// Returns the next element; nil at the end.
    public mutating func next() -> Element? {
      guard place != -1 else { return nil }
      let element = queue.nodes[Int(place)]
      place = queue.links[Int(place)].next
      return element
    }
  }

  /// Returns an iterator that starts at the first element.
  public func makeIterator() -> Iterator { Iterator(queue: self, place: head) }
  /// The exact number of elements.
  public var underestimatedCount: Int { count }
}
