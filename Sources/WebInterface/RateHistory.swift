// Owns how many customers each service has served over the last ten minutes, as the small plots show it. It knows no page.
// Invariant: the coordinator tells what was before somebody looked, back to its own opening, and what comes is counted from
// there on.
import BankModel
import Wire

struct RateHistory {
  /// Parts of each service, the oldest first, always ``BoardHistory/partsAtMost``: the last one runs.
  private var parts: [ServiceName: [Int64]] = [:]
  /// When the part that runs has begun, in milliseconds since 1970.
  private var since: Int64 = 0
  /// Who was served on the day, as of the last frame.
  private var served: [ServiceName: Int64] = [:]
  private var day: Int64 = 0

  /// When the last frame was so.
  private var time: Int64 = 0

  /// The parts of a service; none where nobody has told of it. The last one is of the six seconds before the last frame: a
  /// part that has only just begun would look as if nobody was served any more.
  subscript(service: ServiceName) -> [Int64] {
    guard var own = parts[service] else { return [] }
    let before = own[own.count - 2]
    let left = min(max(0, BoardHistory.part - max(0, time &- since)), BoardHistory.part)
    own[own.count - 1] &+=
      before / BoardHistory.part * left + before % BoardHistory.part * left / BoardHistory.part
    return own
  }

  /// Counts who was served since the last frame, or takes over what was counted before somebody looked.
  mutating func note(_ frame: BoardFrame) {
    if let history = frame.history { adopt(history, of: frame) } else { count(frame) }
    served = Dictionary(frame.services.map { ($0.service, $0.served ?? 0) }) { first, _ in first }
    (day, time) = (frame.day, frame.time)
  }

  private mutating func count(_ frame: BoardFrame) {
    advance(to: frame.time)
    var counted: [ServiceName: [Int64]] = [:]
    for service in frame.services {
      let now = service.served ?? 0
      let before = day == frame.day ? served[service.service] ?? now : 0
      var own = parts[service.service] ?? Self.nothing
      // Wrapping: what a socket tells may be any number.
      own[own.count - 1] &+= max(0, now &- before)
      counted[service.service] = own
    }
    parts = counted
  }

  private mutating func adopt(_ history: BoardHistory, of frame: BoardFrame) {
    var adopted: [ServiceName: [Int64]] = [:]
    for (index, service) in frame.services.enumerated() {
      let told = index < history.served.count ? history.served[index].suffix(Self.nothing.count) : []
      adopted[service.service] = Self.nothing.dropLast(told.count) + told
    }
    (parts, since) = (adopted, history.since)
  }

  /// Begins as many parts as have passed.
  private mutating func advance(to moment: Int64) {
    let passed = max(0, moment &- since) / BoardHistory.part
    guard passed > 0 else { return }
    let zeros = Int(min(passed, Int64(Self.nothing.count)))
    for service in parts.keys {
      parts[service]?.removeFirst(zeros)
      parts[service]?.append(contentsOf: repeatElement(0, count: zeros))
    }
    since &+= passed &* BoardHistory.part
  }

  private static let nothing = [Int64](repeating: 0, count: BoardHistory.partsAtMost)
}
