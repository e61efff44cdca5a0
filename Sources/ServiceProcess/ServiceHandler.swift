// Owns what a service at work is to its server: which requests there are, and what they come to. Everything else, from the
// sockets to the exit code, is the server's.

import BankModel
import Logbook
import Posix
import Time
import Transport
import Wire

/// A service: a machine, the commands that are for it, and those that are not.
public protocol ServiceHandler: AnyObject {
  /// The rules.
  associatedtype Machine: Decisions
  where Machine.Event == Persistence.Event, Machine.Effect == Persistence.Effect
  /// The store of them.
  associatedtype Persistence: ServicePersistence
  /// What clients ask for.
  associatedtype Command: Codable & Sendable & Equatable
  /// What they are told.
  associatedtype Reply: Codable & Sendable & Equatable

  /// A request that somebody is owed an answer to.
  typealias Call = ServiceCall<Command, Reply>
  /// Those who follow.
  typealias Views = ServiceViews<ServiceRequest<Command>, Reply>

  /// The executable, as people see it in `ps`: `bank-stockd`.
  static var executable: String { get }
  /// What is done and what is not while the store lives on its reserve, in English.
  static var whileShort: String { get }
  /// The question that reads every row: all who have asked it by now share one answer.
  static var audit: Command { get }
  /// The machine at work.
  var driver: MachineDriver<Machine, Persistence> { get }
  /// The moment of the turn.
  var clock: TurnClock { get }
  /// The sockets; the first has the name of the service.
  var endpoints: [ServiceEndpoint] { get }
  /// Those who follow.
  var views: Views { get }

  /// Goes on with what was left open, before anybody can connect.
  func begin()
  /// Adds what is worth a word in the log when the service is ready.
  func describe(in fields: inout LogFields)

  /// What a request comes to.
  func react(to request: ServiceRequest<Command>, _ call: Call) -> ServiceReaction<Machine.Event, Reply>
  /// Whether an answer says that something was done.
  static func isWork(_ answer: Persistence.Answer) -> Bool
  /// Tells a client what the machine has answered.
  func reply(_ answer: Persistence.Answer, to call: Call)

  /// Whether a question can be answered now; one that cannot waits for as long as its reaction said.
  func isReady(for question: Command) -> Bool
  /// What somebody is told whose question could not be answered in time.
  func excuse(for question: Command) -> Reply
  /// The answer to a question. Nothing is staged. Nil where there is none: the disk has failed, or the client has become a
  /// view.
  func answer(_ question: Command, of call: Call) -> Reply?

  /// Hears whoever else has a say, before everything of the turn is committed.
  func beforeCommit()
  /// Does what follows from the commit.
  func afterCommit()
  /// Hands what is on disk to those who follow.
  func publish()
  /// When there is something to do by itself; nil for never.
  var nextDeadline: MonotonicTime? { get }
}

extension ServiceHandler {
  /// Every question can be answered.
  public func isReady(for question: Command) -> Bool { true }
  /// Nobody waits.
  public func excuse(for question: Command) -> Reply { preconditionFailure("every question can be answered") }
  /// There is nobody else.
  public func beforeCommit() {}
  /// Nothing follows.
  public func afterCommit() {}
  /// Never.
  public var nextDeadline: MonotonicTime? { nil }
}

/// What a request comes to.
public enum ServiceReaction<Event, Reply> {
  /// The answer is known.
  case answer(Reply)
  /// Something happens to the machine, which answers under the number of the call.
  case event(Event)
  /// The answer is on disk: it is given when nothing is staged, and the service is ready for it.
  case question(within: TimeSpan = .zero)
  /// The service answers by itself.
  case later
}

/// The time of a service.
/// Invariant: within a turn all parts of a service have the same moment.
public final class TurnClock {
  /// The moment of this turn.
  public private(set) var now = SystemClock.moment()

  /// A clock that shows the present.
  public init() {}

  func turn() { now = SystemClock.moment() }
}
