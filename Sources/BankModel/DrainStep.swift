// Steps by which a bank closes, with their names.
// Invariant: the raw values are part of the wire format and never get a new meaning.

/// A step of closing a bank. The steps follow one another in the order of the raw values.
public enum DrainStep: UInt8, NameCodable, Comparable {
  /// No new customers are accepted.
  case stopAccepting = 1
  /// Waiting customers are served.
  case serveWaiting = 2
  /// No customer is assigned any more; customers at a window are finished.
  case finishServing = 3
  /// Tellers exit; a teller that does not exit is killed.
  case kill = 4

  /// Names in the order of the raw values.
  public static let names = ["refuse_new", "serve_waiting", "finish_serving", "kill"]

  /// The step after this one; nil after the last.
  public var next: DrainStep? { DrainStep(rawValue: rawValue + 1) }
}
