// Owns the order in which the simulated coordinator takes the parts of a list in, after the real one: the first of them
// last, so that others have numbers meanwhile. It must not know who is known: it is told.

import Wire

/// A list of customers that is taken in part by part.
struct SimulatedList {
  let parts: [[EnqueueEntry]]
  /// New customers who are held back.
  private(set) var heldBack: Int64 = 0
  private let begin: Int
  private var fresh: [Int64] = []
  private var taken = 0

  init(_ parts: [[EnqueueEntry]]) {
    self.parts = parts
    let keys = parts.joined().compactMap { $0.key.map { Array($0.utf8) } }
    // Where somebody stands twice nobody is held back: how many those are would be known too late.
    begin = Set(keys).count < keys.count ? 0 : min(parts.count / 2, 2)
  }

  var hasKeys: Bool { parts.joined().contains { $0.key != nil } }

  /// Counts who is new among those who are held back; gives how many are known.
  mutating func count(isKnown: (String) -> Bool) -> Int64 {
    fresh = parts[..<begin].map { part in Int64(part.count { !($0.key.map(isKnown) ?? false) }) }
    heldBack = fresh.reduce(0, +)
    return parts[..<begin].reduce(0) { $0 + Int64($1.count) } - heldBack
  }

  /// How many of the next part are new, where it is one that is held back.
  var expected: Int64? { taken < parts.count - begin ? nil : fresh[parts.count - 1 - taken] }

  /// The next part.
  mutating func next() -> [EnqueueEntry] {
    let entries = parts[taken < parts.count - begin ? begin + taken : parts.count - 1 - taken]
    heldBack -= expected ?? 0
    taken += 1
    return entries
  }
}
