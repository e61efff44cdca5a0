// A viewer that writes to the connection of its request itself, instead of libmicrohttpd.
// Invariant: a viewer holds a descriptor and the piece that is being written, and no memory of its request.
// Errors: the connection of a client that does not read is closed after `maximumStalls` keep-alives.
import Glibc
import Posix
import WebCore

/// The viewer of an event stream, which writes to a connection of its own.
final class StreamViewer: EventViewer {
  private weak var feed: (any EventFeed)?
  private let socket: FileDescriptor
  /// True if the connection came over the socket in the home.
  let isLocal: Bool
  /// Owner of the stream; nil for none.
  var owner: String?
  private unowned let server: HTTPServer
  private let loop: EventLoop
  private var registration: Registration?
  /// The piece that is being written; nil between pieces.
  private var currentBytes: EventBytes?
  /// Number of bytes of `currentBytes` that were written.
  private var offset = 0
  /// True while the viewer is in the server's list of viewers to write.
  private var isScheduled = false
  /// True while the socket buffer of the viewer is full.
  private var isBlocked = false
  /// True after `end()`: the viewer leaves when the present piece is written.
  private var isEnding = false
  /// True after the viewer has left its feed.
  private(set) var hasLeft = false
  /// True if a keep-alive has to be sent unless the feed has a piece.
  private var needsKeepAlive = false
  /// Consecutive keep-alives with a full socket buffer.
  private var stalls = 0
  /// Number of unexpected bytes from the client.
  private var unexpectedBytes = 0

  /// Head of the HTTP response.
  private static let head = EventBytes(HTTPResponse.eventStreamHead.serialized(isStream: true))
  /// A comment of the stream, which browsers ignore.
  private static let keepAliveBytes = EventBytes(Array(":\n\n".utf8))
  /// Consecutive keep-alives after which the connection of a client that does not read is closed.
  private static let maximumStalls = 4
  /// Number of unexpected bytes after which the viewer ends.
  private static let maximumUnexpectedBytes = 64 << 10

  init(
    _ feed: any EventFeed, _ socket: consuming FileDescriptor, isLocal: Bool, position: Int64,
    _ server: HTTPServer
  ) {
    self.socket = socket
    (self.feed, self.isLocal, self.server, loop) = (feed, isLocal, server, server.loop)
    currentBytes = Self.head
    super.init()
    self.position = position
  }

  /// Starts the viewer; false if the event loop cannot watch its descriptor.
  func start() -> Bool {
    registration = try? loop.register(fd: socket.rawValue, interest: .read) { [unowned self] in handle($0) }
    guard registration != nil else { return false }
    feed?.join(self)
    wake()
    return true
  }

  /// Schedules the viewer for writing, unless its socket buffer is full.
  override func wake() {
    guard !isScheduled, !isBlocked, !hasLeft else { return }
    isScheduled = true
    server.schedule(self)
  }

  /// Schedules a keep-alive; ends the viewer if its client has not read for too long.
  override func keepAlive() {
    guard !hasLeft else { return }
    stalls = isBlocked ? stalls + 1 : 0
    guard stalls < Self.maximumStalls else { return leave() }
    needsKeepAlive = true
    wake()
  }

  /// Ends the viewer after the piece that is being written, or at once if its socket buffer is full.
  override func end() {
    isEnding = true
    if isBlocked { leave() } else { wake() }
  }

  /// Writes all available pieces that fit the socket buffer.
  func write() {
    isScheduled = false
    while !hasLeft {
      guard let currentBytes = currentBytes ?? next() else {
        if isEnding || feed == nil { leave() }
        return
      }
      self.currentBytes = currentBytes
      let result = try? currentBytes.bytes.withUnsafeBytes {
        try socket.send(UnsafeRawBufferPointer(rebasing: $0[offset...]))
      }
      switch result {
      case .bytes(let count):
        (offset, stalls) = (offset + count, 0)
        if offset == currentBytes.bytes.count { (self.currentBytes, offset) = (nil, 0) }
      case .wouldBlock: return block(true)
      case .peerClosed, nil: leave()
      }
    }
  }

  /// The next piece of the feed, or a keep-alive that is due; nil if there is nothing to write.
  private func next() -> EventBytes? {
    guard !isEnding else { return nil }
    let more = feed?.next(for: self) ?? (needsKeepAlive ? Self.keepAliveBytes : nil)
    needsKeepAlive = false
    return more
  }

  /// Records whether the socket buffer is full, and watches for room if it is.
  private func block(_ isBlocked: Bool) {
    self.isBlocked = isBlocked
    guard let registration else { return }
    do throws(SystemError) {
      try loop.modify(registration, interest: isBlocked ? [.read, .write] : .read)
    } catch { leave() }
  }

  /// Handles input, room in the socket buffer, or the end of the connection.
  private func handle(_ readiness: Readiness) {
    if readiness.contains(.hangUp) || readiness.contains(.error) { return leave() }
    if readiness.contains(.read), !drainInput() { return leave() }
    guard readiness.contains(.write), isBlocked else { return }
    block(false)
    wake()
  }

  /// Reads and drops input of the client; false if the client has closed its end, or sends too much.
  private func drainInput() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1_024)
    guard let result = try? chunk.withUnsafeMutableBytes({ try socket.receive(into: $0) }) else {
      return false
    }
    switch result {
    case .bytes(let count):
      unexpectedBytes += count
      return unexpectedBytes <= Self.maximumUnexpectedBytes
    case .wouldBlock: return true
    case .endOfFile: return false
    }
  }

  /// Ends the viewer and removes it from the server, for example because its client has disconnected.
  func leave() {
    guard !hasLeft else { return }
    abandon()
    server.viewerEnded(self)
  }

  /// Ends the viewer without removing it from the server's list.
  func abandon() {
    hasLeft = true
    if let registration { loop.deregister(registration) }
    (registration, currentBytes) = (nil, nil)
    feed?.leave(self)
  }
}
