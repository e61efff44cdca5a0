// Owns the names of the steps by which a bank closes, and their order. It knows no queue and no process.
// The raw values stand on the wire: they are never given a new meaning.

/// A step of the end of a bank. They come in this order, and none is left out, however short it is.
public enum DrainStep: UInt8, Named, Comparable {
  /// Nobody new is let in; requests for tickets that are half taken in are finished.
  case closeDoor = 1
  /// Those who wait are served.
  case serveWaiting = 2
  /// Nobody is left to be handed out; those at a window are finished.
  case finishServing = 3
  /// The tellers go, and those that do not are killed. Their customers wait for the next start.
  case kill = 4

  /// The names in JSON and logs, in the order of the numbers.
  public static let names = ["close_door", "serve_waiting", "finish_serving", "kill"]

  /// The step after this one; nil after the last.
  public var next: DrainStep? { DrainStep(rawValue: rawValue + 1) }
}
