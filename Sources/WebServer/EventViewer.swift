// Owns what one viewer has got of a feed: the item that is being written to it, and where it is in that.
// Invariant: what is written is the feed's own copy of the bytes, so a thousand viewers cost one encoding. A viewer who has
// everything is suspended, and costs nothing until the feed has more.
// Failure: one who has left, or does not read, is told nothing more.
import CMicrohttpd
import Glibc
import Posix
import Time
import WebCore

/// Something that viewers can be told piece by piece.
public protocol EventFeed: AnyObject {
  /// Somebody views it from now on.
  func join(_ viewer: EventViewer)
  /// What a viewer is told next; nil where there is nothing more now.
  func next(for viewer: EventViewer) -> EventBytes?
  /// Somebody has left.
  func leave(_ viewer: EventViewer)
}

/// Bytes that are written to many viewers.
public final class EventBytes: Sendable {
  /// The bytes.
  public let bytes: [UInt8]
  public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// One viewer of a feed.
public final class EventViewer {
  /// What was told last, as the feed counts it; 0 before anything was.
  public var place: Int64 = 0
  private weak var feed: (any EventFeed)?
  private var item: EventBytes?
  private var offset = 0
  private var isWaiting = false
  private var isEnding = false
  private var hasLeft = false
  private var owesPulse = false
  /// How many pulses in a row have found it writing the same item.
  private var stalls = 0
  /// The answer whose headers the library keeps though they have been sent, and they.
  private var head: (answer: OpaquePointer, headers: [(name: String, value: String)])?
  private let connection: HTTPConnection
  private let library: OpaquePointer
  private unowned let server: HTTPServer

  /// Bytes that the library sets aside for whoever speaks an old version of HTTP.
  static let blockSize = 256
  private static let pulseBytes = EventBytes(Array(":\n\n".utf8))
  /// Pulses after which somebody who reads nothing is let go.
  private static let patience = 4

  init(
    _ feed: any EventFeed, _ connection: HTTPConnection, _ library: OpaquePointer, _ server: HTTPServer
  ) {
    (self.feed, self.connection, self.library, self.server) = (feed, connection, library, server)
  }

  /// The stream begins with this head.
  func begin(_ answer: OpaquePointer, _ headers: [(name: String, value: String)]) {
    head = (answer, headers)
  }

  /// A fifth of what a viewer takes is its head, which nobody reads again however long the stream lasts.
  private func forgetHead() {
    guard let (answer, headers) = head else { return }
    head = nil
    for (name, value) in headers { _ = MHD_del_response_header(answer, name, value) }
  }

  /// There is more: it is asked for when there is room to write it.
  public func wake() {
    guard isWaiting, !hasLeft else { return }
    isWaiting = false
    MHD_resume_connection(library)
    server.owe()
  }

  /// Writes a comment, by which a viewer who has left without a word is found; one who has read nothing for some pulses is
  /// let go.
  public func pulse() {
    guard !hasLeft else { return }
    stalls = isWaiting ? 0 : stalls + 1
    guard stalls < Self.patience else {
      connection.end()
      return server.owe()
    }
    owesPulse = true
    wake()
  }

  /// Ends the stream behind what is being written.
  public func end() {
    isEnding = true
    wake()
  }

  func leave() {
    guard !hasLeft else { return }
    hasLeft = true
    head = nil
    isWaiting = false
    feed?.leave(self)
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    // The library asks for the first bytes when the head has been written.
    forgetHead()
    if item == nil {
      offset = 0
      item = isEnding ? nil : feed?.next(for: self)
      if item == nil, owesPulse, !isEnding { item = Self.pulseBytes }
      owesPulse = false
    }
    guard let item else {
      if isEnding || feed == nil || hasLeft { return Self.endOfStream }
      isWaiting = true
      MHD_suspend_connection(library)
      return 0
    }
    let count = min(buffer.count, item.bytes.count - offset)
    item.bytes.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + count)]))
    }
    offset += count
    stalls = 0
    if offset == item.bytes.count { self.item = nil }
    return count
  }

  /// MHD_CONTENT_READER_END_OF_STREAM
  private static let endOfStream = -1

  static let read: MHD_ContentReaderCallback = { context, _, buffer, room in
    guard let context, let buffer else { return endOfStream }
    let viewer = Unmanaged<EventViewer>.fromOpaque(context).takeUnretainedValue()
    return viewer.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: room))
  }

  static let release: MHD_ContentReaderFreeCallback = { context in
    guard let context else { return }
    Unmanaged<EventViewer>.fromOpaque(context).takeRetainedValue().leave()
  }
}
