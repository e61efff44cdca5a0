// Owns the order in which the parts of a long list are taken in: the first of them last, so that there is a gap before the
// others as long as the list is not whole, and other requests have numbers; see `QueueMachine`. It knows no store.
// Invariant: each part comes once, and `heldBack` is exactly how many tickets those are issued who are still held back.
// So whoever of them has a known key is counted before anybody of the list comes in, and a list that names one of them
// twice holds nobody back: how many those are would be known too late.

import Wire

/// A list whose parts are taken in one by one.
struct SlicedList {
  /// Where the parts are.
  let list: ListSpool
  /// New customers who are held back: they come before those who were taken, by the order of the list.
  private(set) var heldBack: Int64 = 0
  /// Parts that are held back at first.
  private let begin: Int
  /// New customers in each of them, as far as they were counted.
  private var fresh: [Int64] = []
  /// The hashes of their keys. Whoever is counted as new must find nobody under the key in the end.
  private var keysHeldBack: Set<Int> = []
  /// Parts that were taken.
  private var taken = 0

  /// At most so many are held back, and never more than half.
  init(_ list: ListSpool, heldBackAtMost limit: Int64) {
    self.list = list
    let most = list.hasKeys ? ListSpool.watchedParts : Int(limit) / list.partLimit
    begin = list.mayRepeat ? 0 : min(list.parts / 2, most)
    lookAnew()
  }

  /// The part that has to be looked through before any is taken; nil when the customers of all who are held back were
  /// counted.
  var uncounted: Int? { fresh.count < begin ? fresh.count : nil }

  /// So many of the part that was looked through are new, those under these keys among them.
  mutating func count(fresh count: Int64, under keys: [String]) {
    fresh.append(count)
    heldBack += count
    for key in keys { keysHeldBack.insert(ListSpool.hash(of: key)) }
  }

  /// Whether nobody may come before the list under this key. Of a long list that is so for those who were counted as new
  /// and are held back. Any other finds whoever has come before, or was found by the store.
  func reserves(_ key: String) -> Bool {
    list.hasSeveralParts ? keysHeldBack.contains(ListSpool.hash(of: key)) : list.hasKeyInRest(key)
  }

  /// Forgets what was counted: keys were taken back.
  mutating func lookAnew() {
    precondition(taken == 0, "what was counted has become certain with the first part that was taken")
    // Nobody without a key is known, and every part but the last one is full.
    fresh = list.hasKeys ? [] : Array(repeating: Int64(list.partLimit), count: begin)
    heldBack = fresh.reduce(0, +)
    keysHeldBack = []
  }

  /// How many of the next part are new, where it is one that is held back.
  var expected: Int64? { taken < list.parts - begin ? nil : fresh[nextPart] }

  private var nextPart: Int { taken < list.parts - begin ? begin + taken : list.parts - 1 - taken }

  /// The next part; nil when there is none left.
  mutating func next() throws(Failure) -> [EnqueueEntry]? {
    precondition(uncounted == nil, "nobody comes before everybody who is held back was counted")
    guard taken < list.parts else { return nil }
    let entries = try list.part(nextPart)
    heldBack -= expected ?? 0
    taken += 1
    return entries
  }
}
