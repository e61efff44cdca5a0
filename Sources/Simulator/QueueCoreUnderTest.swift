// Owns what the simulated coordinator needs of a queue's core: the real one, or one with a planted bug.
// It must not know what such a core decides. Invariant: the real core conforms without a line of its own, so that
// what is simulated is what runs in production. There is nothing that can fail.

import BankModel
import QueueCore

/// A queue's core: an event and a moment go in, effects come out.
protocol QueueCoreUnderTest {
  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  mutating func apply(_ event: QueueEvent, at now: Moment, into effects: inout [QueueEffect])

  var books: Books { get }
  var arriving: ArrivingRequest? { get }
  var nextDeadline: MonotonicTime? { get }
  var isUnsettled: Bool { get }
  var hasUnsettledTickets: Bool { get }
  var hasPromises: Bool { get }
  var isTakingIn: Bool { get }
  var roomBeside: Int64 { get }
  var isJammed: Bool { get }
  var isShort: Bool { get }
  var waitingCount: Int64 { get }
  var serving: Int64 { get }
  var issuedCount: Int64 { get }

  /// One window; nil when there is none of this name.
  func numbers(of window: Window) -> QueueMachine.WindowNumbers?

  /// Everything that the core knows of itself and that does not agree, a sentence each.
  func contradictions() -> [Remark]
}

extension QueueMachine: QueueCoreUnderTest {}
