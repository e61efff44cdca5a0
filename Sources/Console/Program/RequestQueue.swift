// Owns what the keys of a full screen have asked a service for: one request is with the service, the others wait behind it
// for its answer, and whether the service answers at all.
// Invariant: a request that was not sent is never sent later than a moment after its key: where the service falls silent,
// everything behind the request that it has is dropped and counted, and so is every key until it answers.
import Posix
import Time

struct RequestQueue<Request> {
  enum Pace: Sendable, Equatable {
    case prompt
    /// A person notices that it takes its time.
    case slow
    /// It does not answer, and nothing more is taken for it.
    case silent
  }

  /// The one that the service was sent and has not answered.
  private(set) var sent: Request?
  /// The one that the service was sent and did not answer in time: it may still be done.
  private(set) var unanswered: Request?
  private(set) var pace = Pace.prompt
  /// How many keys were not taken since the service fell silent.
  private(set) var refused = 0

  private var waiting: [Request] = []
  private var sentAt = MonotonicTime(nanoseconds: 0)

  /// When a person begins to wonder.
  static var slowAfter: TimeSpan { .milliseconds(300) }
  /// When a service counts as silent. A slow disk takes less.
  static var silentAfter: TimeSpan { .milliseconds(1_500) }
  /// More keys than anybody means.
  private static var capacity: Int { 256 }
  /// Whether there is something that was asked for and has not ended.
  var isBusy: Bool { sent != nil || !waiting.isEmpty }
  /// What was sent, and may or may not be done.
  var inDoubt: Request? { sent ?? unanswered }
  /// Everything that was asked for and has not ended, the one that was sent first.
  var all: [Request] { [sent].compactMap { $0 } + waiting }

  /// Takes a request, or counts it where the service does not answer.
  mutating func add(_ request: Request) {
    guard pace != .silent, waiting.count < Self.capacity else { return refused += 1 }
    if !isBusy { refused = 0 }
    waiting.append(request)
  }

  /// What is to be sent now; nil while the service has something in hand.
  mutating func next(at now: MonotonicTime) -> Request? {
    guard sent == nil, pace != .silent, !waiting.isEmpty else { return nil }
    sent = waiting.removeFirst()
    sentAt = now
    return sent
  }

  /// The service has answered; gives back how many keys were not taken meanwhile.
  @discardableResult
  mutating func answered() -> Int {
    defer { refused = 0 }
    (sent, unanswered, pace) = (nil, nil, .prompt)
    return refused
  }

  /// The time for an answer is over. The service counts as silent until it answers something.
  mutating func gaveUp() {
    (sent, unanswered) = (nil, sent ?? unanswered)
    fallSilent()
  }

  /// Looks at how long the service has had; gives back whether there is something else to be shown.
  mutating func settle(at now: MonotonicTime) -> Bool {
    guard sent != nil, pace != .silent else { return false }
    let before = pace
    if now.since(sentAt) >= Self.silentAfter {
      fallSilent()
    } else if now.since(sentAt) >= Self.slowAfter {
      pace = .slow
    }
    return pace != before
  }

  /// When ``settle(at:)`` has something to say; nil for never.
  var due: MonotonicTime? {
    guard sent != nil else { return nil }
    return switch pace {
    case .prompt: sentAt + Self.slowAfter
    case .slow: sentAt + Self.silentAfter
    case .silent: nil
    }
  }

  private mutating func fallSilent() {
    pace = .silent
    refused += waiting.count
    waiting = []
  }
}
