// Description of a service for ``ServiceClient``: its requests, its answers, and the news for subscribers. A
// new service needs only its messages and a conformance to this protocol.

/// Requests of a service; the type represents the service itself.
public protocol ServiceCommand: Codable, Sendable, Equatable {
  associatedtype Answer: Codable & Sendable & Equatable
  /// State that a subscriber of the service has seen.
  associatedtype View: ServiceView where View.Command == Self, View.Answer == Answer

  /// Name of the service in a log, in English: `the stock service`.
  static var serviceName: String { get }
  /// True if the request changes data; it then has a name, so that it can be repeated.
  var changesSomething: Bool { get }
  /// True if the answer may take minutes, because every row is read for it.
  var isLong: Bool { get }
}

/// State that a subscriber has seen, so that the next connection continues from there.
public protocol ServiceView {
  associatedtype Command
  associatedtype Answer
  /// News for the subscriber.
  associatedtype News

  /// Request for a new connection that makes the subscriber miss nothing.
  var question: Command { get }
  /// Processes an answer to `question`.
  mutating func hear(_ answer: Answer) -> ViewStep<News>
}

/// Meaning of an answer for a subscriber.
public enum ViewStep<News> {
  case news(News)
  /// An answer was missed: ask again from the current state.
  case askAgain
  /// Nothing new.
  case nothing
}
