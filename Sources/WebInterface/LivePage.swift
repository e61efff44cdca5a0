// Owns one page that somebody looks at: its present regions, and the differences that led to them, each encoded once for all
// viewers. It knows no page's contents; whoever makes them hands them in.
// Lists of which very much changes are told less often than everything else, and all of them together, so that nobody stands in
// two of them.
// Invariant: a viewer at a place is told the differences behind it, in order and without a gap, or everything anew. What is
// kept is bounded, however slowly somebody reads.
import BankModel
import Time
import WebCore
import WebPages
import WebServer

/// Whom a page is encoded for: viewers with the same key see the same.
struct PageKey: Hashable {
  var path: PagePath
  /// The path and the query, as the page's own links have them.
  var address: String
  var language: Language
  var isManager: Bool
  var role = WebRole.operator
}

final class LivePage: EventFeed {
  let key: PageKey
  /// Whether something has changed that may change the page.
  var isStale = true
  var isLoading = false
  /// Whether it has waited for what it is made of.
  var wasPutOff = false
  /// When the page may be made anew.
  var nextLoad = MonotonicTime(nanoseconds: 0)
  private(set) var viewers: [ObjectIdentifier: EventViewer] = [:]
  /// The last change, from 1; 0 before there is anything.
  private(set) var sequence: Int64 = 0
  private let epoch: UInt64
  /// What viewers have been told.
  private var regions: [Region] = []
  /// What there is; it has other lists than they were told of while those are held back.
  private var latest: [Region] = []
  /// Until when lists are held back; nil where they are not.
  private(set) var heldUntil: MonotonicTime?
  private var pace = ListPace()
  private var changes: [EventBytes] = []
  private var bytesKept = 0
  private var snapshot: EventBytes?
  private let onEmpty: (LivePage) -> Void

  /// Changes that are kept for whoever is behind, and their bytes.
  private static let kept = 64
  private static let bytesAtMost = 256 << 10
  /// More viewers than so many are told less often, and so that what has happened is on the screen of each within a tenth of a
  /// second.
  private static let (crowd, intervalInCrowd) = (50, TimeSpan.milliseconds(75))

  init(_ key: PageKey, epoch: UInt64, onEmpty: @escaping (LivePage) -> Void) {
    (self.key, self.epoch, self.onEmpty) = (key, epoch, onEmpty)
  }

  private var hasCrowd: Bool { viewers.count > Self.crowd }

  /// How long there is at least between two changes. Where there is more to tell than anybody reads, it is twice as long.
  var interval: TimeSpan {
    let interval = hasCrowd ? max(key.path.interval, Self.intervalInCrowd) : key.path.interval
    return heldUntil == nil ? interval : interval * 2
  }

  /// The place behind which somebody goes on; 0 where that is not known here.
  func place(of id: String?) -> Int64 {
    guard let id = id.flatMap({ EventID($0) }), id.epoch == epoch, id.sequence <= sequence else { return 0 }
    return id.sequence
  }

  /// The page is like this now.
  func show(_ new: [Region], at now: MonotonicTime) {
    latest = new
    guard sequence > 0 else {
      sequence = 1
      regions = new
      return wakeAll()
    }
    if let heldUntil, now < heldUntil { return tell(blocks()) }
    tellLists(now)
  }

  /// Tells what was held back, where it is time.
  func catchUp(_ now: MonotonicTime) {
    guard let heldUntil, heldUntil <= now else { return }
    tellLists(now)
  }

  /// The last word: what stands around the page, and everything that was held back.
  func finish(_ frame: PageFrame, at now: MonotonicTime) {
    let connection = frame.connection
    guard sequence > 0, let place = latest.firstIndex(where: { $0.name == connection.name }) else { return }
    latest[place] = connection
    heldUntil = nil
    let difference = RegionDifference(from: regions, to: latest)
    regions = latest
    tell(difference)
  }

  private func tellLists(_ now: MonotonicTime) {
    let difference = RegionDifference(from: regions, to: latest)
    let json = difference.json
    heldUntil = nil
    if difference.hasLists, let later = pace.take(json.utf8.count, at: now, inCrowd: hasCrowd) {
      heldUntil = later
      tell(blocks())
    } else {
      regions = latest
      tell(difference, json)
    }
  }

  /// What has changed beside the lists, which viewers are told of from now on.
  private func blocks() -> RegionDifference {
    let difference = RegionDifference(from: regions, to: latest, withoutLists: true)
    let lists = Dictionary(
      regions.filter(\.isList).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    regions = latest.map { lists[$0.name] ?? $0 }
    return difference
  }

  private func tell(_ difference: RegionDifference, _ json: String? = nil) {
    guard !difference.isEmpty else { return }
    sequence += 1
    keep(
      EventBytes(
        EventText.event(
          "change", EventID(epoch: epoch, sequence: sequence), data: json ?? difference.json)))
    wakeAll()
  }

  private func wakeAll() {
    snapshot = nil
    for viewer in viewers.values { viewer.wake() }
  }

  private func keep(_ change: EventBytes) {
    changes.append(change)
    bytesKept += change.bytes.count
    while changes.count > Self.kept || bytesKept > Self.bytesAtMost, !changes.isEmpty {
      bytesKept -= changes.removeFirst().bytes.count
    }
  }

  /// Writes to everybody, so that who has left is found.
  func pulse() { for viewer in viewers.values { viewer.pulse() } }

  // MARK: - Viewers

  func join(_ viewer: EventViewer) { viewers[ObjectIdentifier(viewer)] = viewer }

  func leave(_ viewer: EventViewer) {
    viewers[ObjectIdentifier(viewer)] = nil
    if viewers.isEmpty { onEmpty(self) }
  }

  func next(for viewer: EventViewer) -> EventBytes? {
    guard viewer.place < sequence else { return nil }
    let behind = sequence - viewer.place
    if viewer.place > 0, behind <= Int64(changes.count) {
      viewer.place += 1
      return changes[changes.count - Int(behind)]
    }
    viewer.place = sequence
    return wholePage()
  }

  private func wholePage() -> EventBytes {
    if let snapshot { return snapshot }
    let id = EventID(epoch: epoch, sequence: sequence)
    let event = EventText.event("snapshot", id, data: RegionDifference(snapshot: regions).json)
    let made = EventBytes(EventText.retry(300) + event)
    snapshot = made
    return made
  }
}
