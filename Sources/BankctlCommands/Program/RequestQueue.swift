// Requests that keys of a full-screen command have made to a service. One request is in flight, the others
// wait for its answer.
// Invariant: a request is sent soon after its key, or never. If the service stops answering, all requests
// that were not sent are dropped and counted. Further keys are also counted and refused until the service
// answers again.
import Posix
import Time

/// Requests that the keys of a screen make to one service, sent one after the other.
struct RequestQueue<Request> {
  /// How fast the service answers the request in flight.
  enum Pace: Sendable, Equatable {
    case prompt
    /// Without an answer for so long that a user notices.
    case slow
    /// Not answering; requests are refused.
    case silent
  }

  private(set) var sent: Request?
  /// The request that got no answer in time; the service may still execute this request.
  private(set) var unanswered: Request?
  /// How fast the service answers at present.
  private(set) var pace = Pace.prompt
  /// Number of keys refused since the service stopped answering, or while too many requests wait.
  private(set) var refused = 0

  /// Requests that were not sent yet, in order.
  private var waiting: [Request] = []
  /// Time at which the request in flight was sent.
  private var sentAt = MonotonicTime(nanoseconds: 0)

  /// Time after which a user notices a delay.
  static var slowAfter: TimeSpan { .milliseconds(300) }
  /// Time after which the service counts as not answering.
  static var silentAfter: TimeSpan { .milliseconds(1_500) }
  /// Upper bound of waiting requests.
  private static var capacity: Int { 256 }
  /// True if requests are in flight or waiting.
  var isBusy: Bool { sent != nil || !waiting.isEmpty }
  /// A request that was sent and whose effect is unknown.
  var inDoubt: Request? { sent ?? unanswered }
  /// The request in flight, and those that wait for its answer.
  var all: [Request] { [sent].compactMap { $0 } + waiting }

  /// Adds a request, or counts it as refused if the service does not answer or too many requests wait.
  mutating func add(_ request: Request) {
    guard pace != .silent, waiting.count < Self.capacity else { return refused += 1 }
    if !isBusy { refused = 0 }
    waiting.append(request)
  }

  /// Returns the request to send now, and records it as sent; nil if none waits, or while another one is in flight.
  mutating func next(at now: MonotonicTime) -> Request? {
    guard sent == nil, pace != .silent, !waiting.isEmpty else { return nil }
    sent = waiting.removeFirst()
    sentAt = now
    return sent
  }

  /// Records an answer. Returns the number of keys refused meanwhile.
  @discardableResult
  mutating func answered() -> Int {
    defer { refused = 0 }
    (sent, unanswered, pace) = (nil, nil, .prompt)
    return refused
  }

  /// Records that the request in flight got no answer in time. The service counts as not answering until its next
  /// answer.
  mutating func gaveUp() {
    (sent, unanswered) = (nil, sent ?? unanswered)
    fallSilent()
  }

  /// Updates the pace from the elapsed time. Returns true if the display changes.
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

  /// Time at which ``settle(at:)`` changes the pace; nil for never.
  var due: MonotonicTime? {
    guard sent != nil else { return nil }
    return switch pace {
    case .prompt: sentAt + Self.slowAfter
    case .slow: sentAt + Self.silentAfter
    case .silent: nil
    }
  }

  /// Marks the service as not answering, and drops and counts the requests that were not sent.
  private mutating func fallSilent() {
    pace = .silent
    refused += waiting.count
    waiting = []
  }
}
