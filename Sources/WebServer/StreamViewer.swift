// A viewer that writes to the connection of its request itself, instead of libmicrohttpd.
// Invariant: it holds a descriptor and the piece that is being written, and no request memory. It takes no CPU time
// until its feed has a new piece, a pulse is due, or its client sends something.
// Errors: the connection of a client that does not read is closed after some pulses.
import Glibc
import Posix
import WebCore

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
  private var item: EventBytes?
  private var offset = 0
  /// True while the viewer is in the server's list of viewers to write.
  private var isDue = false
  /// True while the socket buffer of the viewer is full.
  private var isBlocked = false
  private var isEnding = false
  private(set) var hasLeft = false
  private var owesPulse = false
  /// Consecutive pulses with a full socket buffer.
  private var stalls = 0
  /// Number of unexpected bytes from the client.
  private var noise = 0

  private static let head = EventBytes(HTTPResponse.events.written(isStream: true))
  private static let pulseBytes = EventBytes(Array(":\n\n".utf8))
  /// Consecutive pulses after which the connection of a client that does not read is closed.
  private static let patience = 4
  private static let mostNoise = 64 << 10

  init(
    _ feed: any EventFeed, _ socket: consuming FileDescriptor, isLocal: Bool, place: Int64,
    _ server: HTTPServer
  ) {
    self.socket = socket
    (self.feed, self.isLocal, self.server, loop) = (feed, isLocal, server, server.loop)
    item = Self.head
    super.init()
    self.place = place
  }

  /// Starts the viewer; false if the event loop cannot watch its descriptor.
  func begin() -> Bool {
    registration = try? loop.register(fd: socket.rawValue, interest: .read) { [unowned self] in hear($0) }
    guard registration != nil else { return false }
    feed?.join(self)
    wake()
    return true
  }

  override func wake() {
    guard !isDue, !isBlocked, !hasLeft else { return }
    isDue = true
    server.owe(self)
  }

  override func pulse() {
    guard !hasLeft else { return }
    stalls = isBlocked ? stalls + 1 : 0
    guard stalls < Self.patience else { return leave() }
    owesPulse = true
    wake()
  }

  override func end() {
    isEnding = true
    // If the socket buffer is full, the viewer ends without waiting for room.
    if isBlocked { leave() } else { wake() }
  }

  /// Writes all available pieces that fit the socket buffer.
  func write() {
    isDue = false
    while !hasLeft {
      guard let item = item ?? next() else {
        if isEnding || feed == nil { leave() }
        return
      }
      self.item = item
      let result = try? item.bytes.withUnsafeBytes {
        try socket.send(UnsafeRawBufferPointer(rebasing: $0[offset...]))
      }
      switch result {
      case .bytes(let count):
        (offset, stalls) = (offset + count, 0)
        if offset == item.bytes.count { (self.item, offset) = (nil, 0) }
      case .wouldBlock: return block(true)
      case .peerClosed, nil: leave()
      }
    }
  }

  private func next() -> EventBytes? {
    guard !isEnding else { return nil }
    let more = feed?.next(for: self) ?? (owesPulse ? Self.pulseBytes : nil)
    owesPulse = false
    return more
  }

  private func block(_ isBlocked: Bool) {
    self.isBlocked = isBlocked
    guard let registration else { return }
    do throws(SystemError) {
      try loop.modify(registration, interest: isBlocked ? [.read, .write] : .read)
    } catch { leave() }
  }

  private func hear(_ readiness: Readiness) {
    if readiness.contains(.hangUp) || readiness.contains(.error) { return leave() }
    if readiness.contains(.read), !isQuiet() { return leave() }
    guard readiness.contains(.write), isBlocked else { return }
    block(false)
    wake()
  }

  /// Reads and drops input of the client; false if the client has closed its end, or sends too much.
  private func isQuiet() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 1_024)
    guard let result = try? chunk.withUnsafeMutableBytes({ try socket.receive(into: $0) }) else {
      return false
    }
    switch result {
    case .bytes(let count):
      noise += count
      return noise <= Self.mostNoise
    case .wouldBlock: return true
    case .endOfFile: return false
    }
  }

  /// Ends the viewer, for example because its client has disconnected or has received everything.
  func leave() {
    guard !hasLeft else { return }
    abandon()
    server.left(self)
  }

  /// Ends the viewer when the server ends.
  func abandon() {
    hasLeft = true
    if let registration { loop.deregister(registration) }
    (registration, item) = (nil, nil)
    feed?.leave(self)
  }
}
