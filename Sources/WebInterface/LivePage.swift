// Owns one page that somebody looks at: its present regions, and the differences that led to them, each encoded once for all
// viewers. It knows no page's contents; whoever makes them hands them in.
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
  private var regions: [Region] = []
  private var changes: [EventBytes] = []
  private var bytesKept = 0
  private var snapshot: EventBytes?
  private let onEmpty: (LivePage) -> Void

  /// Changes that are kept for whoever is behind, and their bytes.
  private static let kept = 64
  private static let bytesAtMost = 256 << 10
  /// More viewers than so many are told half as often.
  private static let crowd = 50

  init(_ key: PageKey, epoch: UInt64, onEmpty: @escaping (LivePage) -> Void) {
    (self.key, self.epoch, self.onEmpty) = (key, epoch, onEmpty)
  }

  /// How long there is at least between two changes.
  var interval: TimeSpan {
    viewers.count > Self.crowd ? max(key.path.interval, .milliseconds(100)) : key.path.interval
  }

  /// The place behind which somebody goes on; 0 where that is not known here.
  func place(of id: String?) -> Int64 {
    guard let id = id.flatMap({ EventID($0) }), id.epoch == epoch, id.sequence <= sequence else { return 0 }
    return id.sequence
  }

  /// The page is like this now.
  func show(_ new: [Region]) {
    if sequence == 0 {
      sequence = 1
    } else {
      let difference = RegionDifference(from: regions, to: new)
      guard !difference.isEmpty else { return }
      sequence += 1
      keep(
        EventBytes(
          EventText.event("change", EventID(epoch: epoch, sequence: sequence), data: difference.json)))
    }
    regions = new
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
