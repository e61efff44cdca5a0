// Position of one viewer in a feed, and its notification about new pieces.
// Invariant: viewers that receive the same piece share its encoded bytes, so a thousand viewers cost one encoding.
import WebCore

/// A source whose pieces are sent to viewers.
public protocol EventFeed: AnyObject {
  func join(_ viewer: EventViewer)
  /// Returns the next piece for a viewer; nil if there is none yet.
  func next(for viewer: EventViewer) -> EventBytes?
  func leave(_ viewer: EventViewer)
}

/// Bytes that are sent to many viewers.
public final class EventBytes: Sendable {
  /// The encoded piece.
  public let bytes: [UInt8]
  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// One viewer of a feed. This base class has no connection: its owner polls the feed, or it is a part of
/// another viewer.
open class EventViewer {
  /// Number of the last piece that was sent, as counted by the feed; 0 before the first.
  public final var position: Int64 = 0

  public init() {}

  /// Called when there is a new piece; requests it from the feed as soon as the connection accepts data.
  open func wake() {}
  /// Sends a comment, to detect a client that has disappeared without closing.
  open func keepAlive() {}
  /// Ends the viewer after the piece that is being sent.
  open func end() {}
}
