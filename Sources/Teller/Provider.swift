// Owns the contract between a worker and whoever gets it what its customers need.
// Invariant: the same ticket of the same day asked for again, by any process at any time, gets the same answer and
// takes nothing twice. Failure: ``Provision/unknown(_:)``, with the reason; the customer is tried again later. What is
// nobody's failure is ``Provision/later(_:)``: the customer stays in hand, and it is asked for again.

import BankModel
import Posix
import Time
import Wire

/// Gets what a customer needs, without making the worker's loop wait.
public protocol Provider: AnyObject {
  /// Told every result, in the loop, and never from within ``provide(_:)``.
  var onProvided: ((Lease, Provision) -> Void)? { get set }

  /// The worker was welcomed with these orders.
  func begin(_ orders: TellerOrders)

  /// Begins to get what this customer needs. One customer at a time; a new one ends the search for the one before.
  func provide(_ assignment: Assignment)

  /// When ``endTurn()`` has something to do by itself; nil for never.
  var nextDeadline: MonotonicTime? { get }

  /// The end of a turn of the loop: sends what is to be sent, and gives up what has taken too long.
  func endTurn()
}
