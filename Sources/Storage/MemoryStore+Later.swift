// Owns the commits of the store in memory that come back later. Whoever plays the disk says when, and for how many.
// Invariant: what is on its way is shown and not kept: a refusal and a crash leave what was said to be on disk, or, after a
// crash, a beginning of what was on its way besides.

import BankModel
import QueueCore
import Time

extension MemoryStore {
  /// Everything that a transaction changes.
  struct Image {
    var contents: MemoryContents
    var books: Books?
    var closedDays: [Books]
    var arrivingFrom: TicketNumber?
  }

  var image: Image {
    Image(contents: contents, books: books, closedDays: closedDays, arrivingFrom: arrivingFrom)
  }

  var imageWithoutStaged: Image {
    var image = image
    image.contents.rollBack()
    return image
  }

  /// Transactions on their way to the disk.
  public var underwayCount: Int { underway.count }

  /// So many transactions have come to the disk, the oldest first; it is said when it is asked for.
  public func comeToDisk(_ count: Int = 1) {
    precondition(results + count <= underway.count, "No more can come to the disk than are on their way.")
    results += count
  }

  /// What has come to pass. See `QueueStore`.
  public func takeResult() throws(StoreError) -> QueueEvent? {
    if let end { throw end }
    guard results > 0 else { return nil }
    try attempt { () throws(StoreError) in try meet(.commit) }
    results -= 1
    keepUnderway(1)
    try attempt { () throws(StoreError) in try meet(.commitThatIsKept) }
    return .committed
  }

  /// Everything that is on its way comes to the disk, or is refused.
  public func awaitResults() { results = underway.count }

  /// The first so many of those on their way are on disk.
  func keepUnderway(_ count: Int) {
    guard count > 0 else { return }
    onDisk = underway[count - 1]
    underway.removeFirst(count)
    commits += count
    if underway.isEmpty { onDisk = nil }
  }

  /// There is nothing but what is on disk.
  func restore(_ image: Image) {
    (contents, books) = (image.contents, image.books)
    (closedDays, arrivingFrom) = (image.closedDays, image.arrivingFrom)
    (onDisk, underway, results) = (nil, [], 0)
  }

  /// Another store that holds what this one holds, to go on with.
  public convenience init(copyOf other: MemoryStore) {
    self.init()
    precondition(!other.hasStagedChanges, "Only what is on disk can be copied.")
    restore(other.image)
    takeOver(other)
  }
}
