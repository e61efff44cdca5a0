// Feeds of event streams and their viewers: the position of a viewer in a feed,
// and its notification about new pieces.
import WebCore

/// A source of an event stream. Its pieces (encoded events) are sent in order to any number of viewers.
public protocol EventFeed: AnyObject {
  /// Adds a viewer, which the feed wakes for each new piece.
  func join(_ viewer: EventViewer)
  /// Returns the next piece for a viewer, and counts it as sent; nil if there is none yet.
  func next(for viewer: EventViewer) -> EventBytes?
  /// Removes a viewer.
  func leave(_ viewer: EventViewer)
}

/// One encoded piece of a feed, which viewers can share.
public final class EventBytes: Sendable {
  /// The encoded piece.
  public let bytes: [UInt8]
  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// One viewer of a feed. This base class has no connection.
open class EventViewer {
  /// Number of the last piece that was sent, or after which the client resumes; 0 for none. The feed counts the pieces.
  public final var position: Int64 = 0

  public init() {}

  /// Called when the feed has a new piece.
  open func wake() {}
  /// Makes the stream send a comment, to detect a client that has disappeared without closing.
  open func keepAlive() {}
  /// Ends the viewer after the piece that is being sent.
  open func end() {}
}
