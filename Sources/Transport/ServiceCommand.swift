// Owns what a service has to say of itself so that there is a client of it (ServiceClient): what it is asked and answers,
// and what somebody who follows it is told. A new service costs its messages and a conformance here.
// It knows no service.

/// What a service can be asked, and by it the service itself.
public protocol ServiceCommand: Codable, Sendable, Equatable {
  /// What the service answers.
  associatedtype Answer: Codable & Sendable & Equatable
  /// What somebody who follows the service has seen of it.
  associatedtype View: ServiceView where View.Command == Self, View.Answer == Answer

  /// What the service is called in a log, in English: `the stock service`.
  static var serviceName: String { get }
  /// Whether something is another when it is done; the request has a name then, so that it can be repeated.
  var changesSomething: Bool { get }
  /// Whether the answer may take minutes, because every row is read for it.
  var isLong: Bool { get }
}

/// What somebody who follows a service has seen, so that the next connection goes on there.
public protocol ServiceView {
  /// What the service can be asked.
  associatedtype Command
  /// What the service answers.
  associatedtype Answer
  /// What is told to whoever follows.
  associatedtype News

  /// What a new connection is asked, so that whoever follows misses nothing.
  var question: Command { get }
  /// Takes an answer to it.
  mutating func hear(_ answer: Answer) -> ViewStep<News>
}

/// What an answer means for somebody who follows a service.
public enum ViewStep<News> {
  case news(News)
  /// Something was missed: it is asked for anew.
  case askAgain
  /// It was known before, or says nothing.
  case nothing
}
