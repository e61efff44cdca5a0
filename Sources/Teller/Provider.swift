// Owns the contract between a worker and whoever gets it what its customers need, or has their whole work done.
// Invariant: the same ticket of the same day asked for again, by any process at any time, gets the same answer and
// takes nothing twice; where the work is a command, whatever it does can be done once, because it is told the customer's
// key, which is the same each time. Failure: ``Provision/unknown(_:)``, with the reason; the customer is tried again later. What is
// nobody's failure is ``Provision/later(_:)``: the customer stays in hand, and it is asked for again.

import BankModel
import Posix
import Time
import Wire

/// Gets what a customer needs, without making the worker's loop wait.
public protocol Provider: AnyObject {
  /// Told every result, in the loop, and never from within ``provide(_:)``, ``abandon()`` or the end of the turn that
  /// follows ``provide(_:)`` at once.
  var onProvided: ((Lease, Provision) -> Void)? { get set }

  /// The worker was welcomed with these orders.
  func begin(_ orders: TellerOrders)

  /// Begins to get what this customer needs. One customer at a time; a new one ends the search for the one before.
  func provide(_ assignment: Assignment)

  /// When ``endTurn()`` has something to do by itself; nil for never.
  var nextDeadline: MonotonicTime? { get }

  /// The end of a turn of the loop: sends what is to be sent, and gives up what has taken too long.
  func endTurn()

  /// Whether the last customer's work was over so soon that the next answer is expected with it.
  var isBrief: Bool { get }

  /// Gives up the whole work of the present customer. Once nothing of it is left the answer is ``Provision/returned``; or
  /// what has come of it, where it had ended before anybody wanted that.
  func abandon()

  /// The process ends: ends at once whatever was begun. Nothing is answered from now on.
  func end()

  /// Whether nothing is left after ``end()``, or nothing that could be ended in time.
  var hasEnded: Bool { get }
}

/// For who only gets what the work needs: it is the worker's own.
extension Provider {
  /// Its answer is waited for.
  public var isBrief: Bool { false }
  /// Does nothing: the worker gives up its own work by itself.
  public func abandon() {}
  /// Does nothing: there are no processes.
  public func end() {}
  /// Nothing was begun that could be left.
  public var hasEnded: Bool { true }
}
