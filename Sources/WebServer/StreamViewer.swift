// A viewer with a connection of its own: the connection of its request, which the library has given up.
// Invariant: it holds a descriptor and the piece that is being written, and none of the memory in which requests are read. One
// that was sent everything costs nothing until its feed has more. Failure: one that does not read is closed after some pulses.
import Glibc
import Posix
import WebCore

final class StreamViewer: EventViewer {
  private weak var feed: (any EventFeed)?
  private let socket: FileDescriptor
  /// True if it came over the socket in the home.
  let isLocal: Bool
  /// Whose stream it is; nil for no one's.
  var owner: String?
  private unowned let server: HTTPServer
  private let loop: EventLoop
  private var registration: Registration?
  private var item: EventBytes?
  private var offset = 0
  /// True while it stands in the server's list of those to write to.
  private var isDue = false
  /// True while its socket has no room.
  private var isBlocked = false
  private var isEnding = false
  private(set) var hasLeft = false
  private var owesPulse = false
  /// Pulses in a row that found it without room.
  private var stalls = 0
  /// Bytes that came though nothing was to come.
  private var noise = 0

  private static let head = EventBytes(HTTPResponse.events.written(isStream: true))
  private static let pulseBytes = EventBytes(Array(":\n\n".utf8))
  /// Pulses after which one that reads nothing is closed.
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

  /// Begins; false if its descriptor cannot be watched.
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
    // A client without room is not waited for.
    if isBlocked { leave() } else { wake() }
  }

  /// Writes what there is, as far as there is room.
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

  /// Forgets what the client sends; false if it has closed its end, or sends on and on.
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

  /// Its client is gone, or it was sent everything that it is to be sent.
  func leave() {
    guard !hasLeft else { return }
    abandon()
    server.left(self)
  }

  /// The server ends.
  func abandon() {
    hasLeft = true
    if let registration { loop.deregister(registration) }
    (registration, item) = (nil, nil)
    feed?.leave(self)
  }
}
