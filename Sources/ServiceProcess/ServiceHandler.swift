// The part of a service that differs between services: its requests and their effects. The other parts are in
// `ServiceServer` and `ServiceProcess`.

import BankModel
import Logging
import Posix
import Time
import Transport
import Wire

/// A service: its machine, and the commands of its clients.
public protocol ServiceHandler: AnyObject {
  /// State machine.
  associatedtype Machine: PureStateMachine
  where Machine.Event == Persistence.Event, Machine.Effect == Persistence.Effect
  /// Store of the machine.
  associatedtype Persistence: ServicePersistence
  /// Requests of clients.
  associatedtype Command: Codable & Sendable & Equatable
  /// Answers to clients.
  associatedtype Reply: Codable & Sendable & Equatable

  /// A request that still needs an answer.
  typealias Call = ServiceCall<Command, Reply>
  /// Subscriptions of all clients.
  typealias Views = ServiceSubscriptions<ServiceRequest<Command>, Reply>

  /// Name of the executable, as `ps` shows it, such as `bank-stockd`.
  static var executable: String { get }
  /// English text that states which requests are accepted while the store uses its reserve.
  static var lowSpaceNotice: String { get }
  /// The query that reads every row. Pending queries of this kind share one answer.
  static var audit: Command { get }
  /// Driver of the state machine and its store.
  var driver: MachineDriver<Machine, Persistence> { get }
  /// Clock of the service.
  var clock: IterationClock { get }
  /// The sockets; the first has the name of the service.
  var endpoints: [ServiceEndpoint] { get }
  /// Subscriptions of the clients.
  var views: Views { get }

  /// Continues unfinished work, before the first client can connect.
  func begin()
  /// Adds fields to the log line that reports the service ready.
  func describe(in fields: inout LogFields)

  /// Decides how a request is handled.
  func react(to request: ServiceRequest<Command>, _ call: Call) -> ServiceReaction<Machine.Event, Reply>
  /// True if an answer of the machine shows that its request has changed data, which counts as work of the service.
  static func changesData(_ answer: Persistence.Answer) -> Bool
  /// Sends the machine's answer to a client.
  func reply(_ answer: Persistence.Answer, to call: Call)

  /// True if a query can be answered now. A query that cannot be answered waits for at most the time that its
  /// reaction allows.
  func isReady(for query: Command) -> Bool
  /// Answer to a query that could not be answered in time.
  func timeoutReply(for query: Command) -> Reply
  /// Answers a query while no entry is staged. Returns nil if the disk has failed, or if the client has become a
  /// subscriber.
  func answer(_ query: Command, of call: Call) -> Reply?

  /// Handles other sources of input, before the commit of the iteration.
  func beforeCommit()
  /// Performs work that depends on the commit of the iteration.
  func afterCommit()
  /// Publishes committed data to subscribers.
  func publish()
  /// Time of the next work that no event triggers; nil if there is none.
  var nextDeadline: MonotonicTime? { get }
}

extension ServiceHandler {
  /// True: every query can be answered.
  public func isReady(for query: Command) -> Bool { true }
  /// Not called, because every query can be answered.
  public func timeoutReply(for query: Command) -> Reply {
    preconditionFailure("every question can be answered")
  }
  /// Does nothing, for a service without other sources of input.
  public func beforeCommit() {}
  /// Does nothing, for a service without work after a commit.
  public func afterCommit() {}
  /// Nil: all work is triggered by events.
  public var nextDeadline: MonotonicTime? { nil }
}

/// Decision about a request.
public enum ServiceReaction<Event, Reply> {
  /// An immediate answer.
  case answer(Reply)
  /// An event for the machine, whose answer contains the number of the call.
  case event(Event)
  /// A query of committed data, which is answered when nothing is staged and the service is ready. If the service is
  /// not ready within this time, it answers with `timeoutReply(for:)`.
  case query(within: TimeSpan = .zero)
  /// The service keeps the call and answers it later.
  case later
}

/// Clock of a service. It is read before and after the handlers of an iteration, so that all handlers see the same
/// time.
public final class IterationClock {
  /// Time of the last reading.
  public private(set) var now = SystemClock.moment()

  public init() {}

  func runIteration() { now = SystemClock.moment() }
}
