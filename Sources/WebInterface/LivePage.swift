// One viewed page: its present regions, and the recent differences, each encoded once for all viewers. Lists with very
// many changes are sent less often than the other regions, and together, so that no customer is in two of them.
// Invariant: a viewer receives the differences after its position, in order and without a gap, or a full snapshot.
// Storage is bounded, however slowly a viewer reads.
import BankModel
import Time
import WebCore
import WebPages
import WebServer

/// Everything on which the encoding of a page depends. Viewers with the same key share one encoding.
struct PageKey: Hashable {
  var path: PagePath
  /// Path and query, as in the links of the page.
  var address: String
  var language: Language
  /// True if the visitor has the manager's rights.
  var isManager: Bool
  var role = WebRole.operator
}

/// A page that is being viewed.
final class LivePage: EventFeed {
  let key: PageKey
  /// True if a source has changed since the last load.
  var isStale = true
  /// True while the contents are being loaded.
  var isLoading = false
  /// True if the load was delayed once because its sources had no value yet.
  var wasPostponed = false
  /// Earliest time of the next load.
  var nextLoad = MonotonicTime(nanoseconds: 0)
  private(set) var viewers: [ObjectIdentifier: EventViewer] = [:]
  /// Number of the last change. The first content has the number 1; 0 before it.
  private(set) var sequence: Int64 = 0
  /// Epoch of the ids of this page's events.
  private let epoch: UInt64
  /// The regions after the last change that was sent.
  private var regions: [Region] = []
  /// The present regions. Their lists differ from `regions` while lists are held back.
  private var latest: [Region] = []
  /// Time until which lists are held back; nil if they are not held back.
  private(set) var heldUntil: MonotonicTime?
  private var rateLimiter = ListRateLimiter()
  /// The last changes, the oldest first.
  private var changes: [EventBytes] = []
  /// Number of bytes of `changes`.
  private var storedBytes = 0
  /// The encoded snapshot at `sequence`; nil until a viewer needs it.
  private var snapshot: EventBytes?
  /// Called when the last viewer has left.
  private let onEmpty: (LivePage) -> Void

  /// Limits of the stored changes: number and bytes.
  private static let maximumChanges = 64
  private static let maximumBytes = 256 << 10
  /// With more than `manyViewers` viewers, the page is loaded at most once per this interval.
  private static let (manyViewers, intervalWithManyViewers) = (50, TimeSpan.milliseconds(75))

  init(_ key: PageKey, epoch: UInt64, onEmpty: @escaping (LivePage) -> Void) {
    (self.key, self.epoch, self.onEmpty) = (key, epoch, onEmpty)
  }

  private var hasManyViewers: Bool { viewers.count > Self.manyViewers }

  /// Minimum time between two loads. It is longer while lists are held back, because there are then more changes than a
  /// user can read.
  var interval: TimeSpan {
    let interval = hasManyViewers ? max(key.path.interval, Self.intervalWithManyViewers) : key.path.interval
    return heldUntil == nil ? interval : interval * 2
  }

  /// Number of the last change that a client has received, from the id of this event; 0 if the id is missing, or is not
  /// that of an event of this page.
  func position(of id: String?) -> Int64 {
    guard let id = id.flatMap({ EventID($0) }), id.epoch == epoch, id.sequence <= sequence else { return 0 }
    return id.sequence
  }

  /// Sets the newly loaded regions of the page, and sends their changes. Changes of lists may be held back to limit the
  /// bytes per second.
  func show(_ new: [Region], at now: MonotonicTime) {
    latest = new
    guard sequence > 0 else {
      sequence = 1
      regions = new
      return wakeAll()
    }
    if let heldUntil, now < heldUntil { return send(blocks()) }
    sendLists(now)
  }

  /// Sends the lists that were held back if their time has come and the limit of bytes per second allows them.
  func sendHeldLists(_ now: MonotonicTime) {
    guard let heldUntil, heldUntil <= now else { return }
    sendLists(now)
  }

  /// At the end of the bank, sends the last change: the banner about the connection, and the changes that were held
  /// back.
  func finish(_ frame: PageFrame, at now: MonotonicTime) {
    let connection = frame.connection
    guard sequence > 0, let position = latest.firstIndex(where: { $0.name == connection.name }) else {
      return
    }
    latest[position] = connection
    heldUntil = nil
    let difference = RegionDifference(from: regions, to: latest)
    regions = latest
    send(difference)
  }

  /// Sends the changes, without the lists if the limit of bytes per second does not allow them yet.
  private func sendLists(_ now: MonotonicTime) {
    let difference = RegionDifference(from: regions, to: latest)
    let json = difference.json
    heldUntil = nil
    if difference.hasLists,
      let later = rateLimiter.consume(json.utf8.count, at: now, withManyViewers: hasManyViewers)
    {
      heldUntil = later
      send(blocks())
    } else {
      regions = latest
      send(difference, json)
    }
  }

  /// Returns the changes outside the lists, and records them as sent.
  private func blocks() -> RegionDifference {
    let difference = RegionDifference(from: regions, to: latest, withoutLists: true)
    let lists = Dictionary(
      regions.filter(\.isList).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    regions = latest.map { lists[$0.name] ?? $0 }
    return difference
  }

  /// Numbers and stores a change, and wakes the viewers; does nothing if it is empty. `json` is its encoding, if it was
  /// encoded before.
  private func send(_ difference: RegionDifference, _ json: String? = nil) {
    guard !difference.isEmpty else { return }
    sequence += 1
    store(
      EventBytes(
        EventText.event(
          "change", EventID(epoch: epoch, sequence: sequence), data: json ?? difference.json)))
    wakeAll()
  }

  /// Notifies all viewers of a new change, and drops the outdated snapshot.
  private func wakeAll() {
    snapshot = nil
    for viewer in viewers.values { viewer.wake() }
  }

  /// Stores a change, and drops the oldest ones beyond the limits.
  private func store(_ change: EventBytes) {
    changes.append(change)
    storedBytes += change.bytes.count
    while changes.count > Self.maximumChanges || storedBytes > Self.maximumBytes, !changes.isEmpty {
      storedBytes -= changes.removeFirst().bytes.count
    }
  }

  /// Makes each viewer's stream send a comment, to detect disconnected clients.
  func keepAlive() { for viewer in viewers.values { viewer.keepAlive() } }

  // MARK: - Viewers

  func join(_ viewer: EventViewer) { viewers[ObjectIdentifier(viewer)] = viewer }

  /// Removes a viewer. Without viewers the page ends.
  func leave(_ viewer: EventViewer) {
    viewers[ObjectIdentifier(viewer)] = nil
    if viewers.isEmpty { onEmpty(self) }
  }

  /// The first change that the viewer has not received, or a snapshot if that change is not stored; nil if there is
  /// none. It counts as sent.
  func next(for viewer: EventViewer) -> EventBytes? {
    guard viewer.position < sequence else { return nil }
    let missed = sequence - viewer.position
    if viewer.position > 0, missed <= Int64(changes.count) {
      viewer.position += 1
      return changes[changes.count - Int(missed)]
    }
    viewer.position = sequence
    return wholePage()
  }

  /// The snapshot of all regions, encoded once for all viewers.
  private func wholePage() -> EventBytes {
    if let snapshot { return snapshot }
    let id = EventID(epoch: epoch, sequence: sequence)
    let event = EventText.event("snapshot", id, data: RegionDifference(snapshot: regions).json)
    let made = EventBytes(EventText.retry(300) + event)
    snapshot = made
    return made
  }
}
