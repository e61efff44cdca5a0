// Steps by which a bank closes, their names and their order.
// Invariant: the raw values are part of the wire format and never get a new meaning.

/// A step of closing a bank. All steps occur, in the order of the raw values. A step may end at once, or be cut short.
public enum DrainStep: UInt8, NameCodable, Comparable {
  /// No new customers are accepted; requests that have arrived in part are completed.
  case stopAccepting = 1
  /// Waiting customers are served.
  case serveWaiting = 2
  /// No customer is assigned any more; customers at a window are finished.
  case finishServing = 3
  /// Tellers exit; a teller that does not exit is killed. Its customers wait for the next start.
  case kill = 4

  /// Names in JSON and logs, in the order of the raw values.
  public static let names = ["refuse_new", "serve_waiting", "finish_serving", "kill"]

  /// The step after this one; nil after the last.
  public var next: DrainStep? { DrainStep(rawValue: rawValue + 1) }
}
