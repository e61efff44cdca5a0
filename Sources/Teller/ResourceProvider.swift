// Contract between a worker and the component that obtains what a customer needs or runs the customer's whole
// work.
// Invariant: a repeated request for the same ticket of the same day takes nothing twice, whichever process repeats
// it.
// Errors: ``ProvisionResult/unknown(_:)`` counts as a failed attempt of the customer.
// ``ProvisionResult/later(_:)`` does not: the worker asks again, or returns the customer.

import BankModel
import Posix
import Time
import Wire

/// Obtains what a customer needs without blocking the worker's loop.
public protocol ResourceProvider: AnyObject {
  /// Receives the results. Must not be called from within ``provide(_:)``, ``abandon()`` or the
  /// ``finishIteration()`` that directly follows ``provide(_:)``.
  var onResult: ((Lease, ProvisionResult) -> Void)? { get set }

  /// Receives the settings that the coordinator sent in its welcome.
  func begin(_ settings: TellerSettings)

  /// Starts to obtain what this customer needs, for one customer at a time. A new call abandons the request for the
  /// previous customer. A provider that does the whole work is called again only after it has reported a result.
  func provide(_ assignment: Assignment)

  /// Time at which ``finishIteration()`` has something to do without an event; nil for never.
  var nextDeadline: MonotonicTime? { get }

  /// Does the work that is due: starts, continues or abandons requests, sends pending output, and may report a result.
  /// Called at the end of a loop iteration and after ``provide(_:)``.
  func finishIteration()

  /// True if the last customer's work was so short that the next result is worth waiting for before messages are sent.
  var isWorkShort: Bool { get }

  /// Gives up the whole work of the current customer. Reports ``ProvisionResult/returned`` once no process of the work
  /// is left, or the result if the work ended before this call.
  func abandon()

  /// Ends everything that was started, because the process exits. No result is reported afterwards.
  func end()

  /// True after ``end()`` once no process is left, or only processes that could not be ended in time.
  var hasEnded: Bool { get }
}

/// Defaults for providers that only obtain what the work needs, while the worker does the work itself.
extension ResourceProvider {
  /// False: the worker holds no messages back.
  public var isWorkShort: Bool { false }
  /// Does nothing: the worker gives up its own work without help.
  public func abandon() {}
  /// Does nothing: there are no processes.
  public func end() {}
  /// True: such a provider starts no processes.
  public var hasEnded: Bool { true }
}
