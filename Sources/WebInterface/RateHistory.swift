// Number of customers served per service and interval, for the plots. A first snapshot contains a history; the
// customers served later are counted here.
// Invariant: each service has the same number of counts.
import BankModel
import Wire

struct RateHistory {
  /// Counts of each service per interval, the oldest first. The last interval is the running one.
  private var parts: [ServiceName: [Int64]] = [:]
  /// Start of the running interval, in milliseconds since 1970.
  private var since: Int64 = 0
  /// Customers served on the day, from the last frame.
  private var served: [ServiceName: Int64] = [:]
  /// Business day of the last frame.
  private var day: Int64 = 0

  /// Time of the last frame.
  private var time: Int64 = 0

  /// The counts of a service; empty for an unknown service. The last count is an estimate for the interval that ends
  /// with the last frame, because an interval that has just started would look as if the service had stopped.
  subscript(service: ServiceName) -> [Int64] {
    guard var own = parts[service] else { return [] }
    let before = own[own.count - 2]
    let left = min(max(0, BoardHistory.part - max(0, time &- since)), BoardHistory.part)
    own[own.count - 1] &+=
      before / BoardHistory.part * left + before % BoardHistory.part * left / BoardHistory.part
    return own
  }

  /// Counts the customers served since the last snapshot of the bank, or adopts the history that a first snapshot
  /// contains.
  mutating func record(_ frame: BoardFrame) {
    if let history = frame.history { loadHistory(history, of: frame) } else { count(frame) }
    served = Dictionary(frame.services.map { ($0.service, $0.served ?? 0) }) { first, _ in first }
    (day, time) = (frame.day, frame.time)
  }

  /// Adds the customers served since the last snapshot of the bank to the running interval.
  private mutating func count(_ frame: BoardFrame) {
    advance(to: frame.time)
    var counted: [ServiceName: [Int64]] = [:]
    for service in frame.services {
      let now = service.served ?? 0
      let before = day == frame.day ? served[service.service] ?? now : 0
      var own = parts[service.service] ?? Self.emptyHistory
      // Wrapping arithmetic: a socket may send any number.
      own[own.count - 1] &+= max(0, now &- before)
      counted[service.service] = own
    }
    parts = counted
  }

  /// Replaces the counts by those of the coordinator, padded with zeros at the start.
  private mutating func loadHistory(_ history: BoardHistory, of frame: BoardFrame) {
    var loaded: [ServiceName: [Int64]] = [:]
    for (index, service) in frame.services.enumerated() {
      let reported = index < history.served.count ? history.served[index].suffix(Self.emptyHistory.count) : []
      loaded[service.service] = Self.emptyHistory.dropLast(reported.count) + reported
    }
    (parts, since) = (loaded, history.since)
  }

  /// Starts new intervals until this time, and drops the oldest ones.
  private mutating func advance(to moment: Int64) {
    let passed = max(0, moment &- since) / BoardHistory.part
    guard passed > 0 else { return }
    let zeros = Int(min(passed, Int64(Self.emptyHistory.count)))
    for service in parts.keys {
      parts[service]?.removeFirst(zeros)
      parts[service]?.append(contentsOf: repeatElement(0, count: zeros))
    }
    since &+= passed &* BoardHistory.part
  }

  /// Counts of a service that has served no customer.
  private static let emptyHistory = [Int64](repeating: 0, count: BoardHistory.intervalsAtMost)
}
