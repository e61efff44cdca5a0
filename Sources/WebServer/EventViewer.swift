// What one viewer of a feed has got: the place up to which it was sent, and how it is woken when there is more.
// Invariant: the feed's own copy of the bytes is written, so a thousand viewers cost one encoding.
import WebCore

/// A source that viewers are sent piece by piece.
public protocol EventFeed: AnyObject {
  /// A viewer follows it from now on.
  func join(_ viewer: EventViewer)
  /// The next piece for a viewer; nil if there is nothing more now.
  func next(for viewer: EventViewer) -> EventBytes?
  /// A viewer has left.
  func leave(_ viewer: EventViewer)
}

/// Bytes that are written to many viewers.
public final class EventBytes: Sendable {
  /// The bytes.
  public let bytes: [UInt8]
  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// One viewer of a feed. This one has no connection: it is asked by hand, or stands for a part of another viewer.
open class EventViewer {
  /// The last piece that was sent, as the feed counts; 0 before the first.
  public final var place: Int64 = 0

  public init() {}

  /// There is more: the feed is asked for it when there is room to write.
  open func wake() {}
  /// Writes a comment, so that a client that has left without a word is found.
  open func pulse() {}
  /// Ends behind the piece that is being written.
  open func end() {}
}
