// Description of a service process for ``ServiceClient``: its requests, its answers, and the news for subscribers.
// A new service needs its messages and a conformance to ``ServiceCommand``.

/// A request to a service process. The conforming type identifies the service.
public protocol ServiceCommand: Codable, Sendable, Equatable {
  /// Answer of the service to any of these requests.
  associatedtype Answer: Codable & Sendable & Equatable
  /// State that a subscriber of the service has seen.
  associatedtype Cursor: SubscriptionCursor where Cursor.Command == Self, Cursor.Answer == Answer

  /// Name of the service in a log, in English: `the stock service`.
  static var serviceName: String { get }
  /// True if the request changes data. The client then sends it with an order name, so that it can be repeated.
  var changesSomething: Bool { get }
  /// True if the answer may take long.
  var isLong: Bool { get }
}

/// State that a subscriber has seen, from which the subscription continues on the next connection.
public protocol SubscriptionCursor {
  /// Requests to the service.
  associatedtype Command
  /// Answers of the service.
  associatedtype Answer
  /// News for the subscriber.
  associatedtype Update

  /// Request that continues the subscription on a new connection without a gap.
  var request: Command { get }
  /// Processes an answer to `request`.
  mutating func handle(_ answer: Answer) -> SubscriptionStep<Update>
}

/// Meaning of an answer for a subscriber.
public enum SubscriptionStep<Update> {
  /// The answer contains news for the subscriber.
  case news(Update)
  /// The subscriber has missed an answer, or was too slow. The client sends ``SubscriptionCursor/request`` again.
  case resubscribe
  /// The answer contains nothing new.
  case nothing
}
