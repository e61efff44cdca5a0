// A relay between a client and a server, on the client's own loop: it forwards bytes, gives the client
// another number for the server's process, as PgBouncer does, and stops forwarding on request. Invariant: it
// is at a Unix socket of the name that the library looks for. Failure: the calling test fails.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

public final class PostgresRelay {
  /// The directory of its socket, as `host=`; the port is the server's.
  public let directory: String
  /// True if nothing is forwarded any more, in either direction.
  public var isSilent = false
  /// True if the server's bytes are not forwarded any more.
  public var withholdsReplies = false
  /// Number of the server's bytes that are forwarded at once, and the pause after them: a slow line.
  public var bytesPerPass = 64 << 10
  public var pause = TimeSpan.zero
  /// True if the client gets another number of the process than the server's.
  public var hidesBackendPID = false

  private let loop: EventLoop
  private let target: String
  private let listener: FileDescriptor
  private var ends: [CInt: End] = [:]
  /// Until then the slow line is busy.
  private var freeAt = MonotonicTime(nanoseconds: 0)

  private final class End {
    let socket: FileDescriptor
    let isServer: Bool
    weak var other: End?
    var registration: Registration?
    /// The server's bytes until its process number; nil after that.
    var head: [UInt8]?
    init(_ socket: consuming FileDescriptor, isServer: Bool) {
      self.socket = socket
      self.isServer = isServer
      head = isServer ? [] : nil
    }
  }

  public init(to cluster: PostgresCluster, loop: EventLoop) throws {
    self.loop = loop
    let name = ".s.PGSQL.\(cluster.port)"
    var template = Array("/tmp/postgres-relay-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", subject: "/tmp", code: errno) }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    target = Paths.join(cluster.directory, name)
    listener = try UnixSocket.listen(path: Paths.join(directory, name))
    _ = try loop.register(fd: listener.rawValue, interest: .read) { [weak self] _ in try? self?.accept() }
  }

  deinit { Directory.removeTree(directory) }

  private func accept() throws {
    guard let socket = try UnixSocket.accept(listener) else { return }
    guard case .connected(let upstream) = try UnixSocket.connect(path: target) else { return }
    let client = End(socket, isServer: false)
    let server = End(upstream, isServer: true)
    (client.other, server.other) = (server, client)
    for end in [client, server] {
      try end.socket.setNonBlocking(true)
      ends[end.socket.rawValue] = end
      end.registration = try loop.register(fd: end.socket.rawValue, interest: .read) {
        [weak self, weak end] _ in
        if let self, let end { try? self.pass(from: end) }
      }
    }
  }

  private func pass(from end: End) throws {
    guard !isSilent, !(withholdsReplies && end.isServer) else { return }
    if end.isServer {
      guard SystemClock.monotonic() >= freeAt else { return }
      freeAt = SystemClock.monotonic() + pause
    }
    var chunk = [UInt8](repeating: 0, count: end.isServer ? bytesPerPass : 64 << 10)
    guard case .bytes(let count) = try chunk.withUnsafeMutableBytes({ try end.socket.receive(into: $0) })
    else { return finish(end) }
    var bytes = Array(chunk[..<count])
    if end.head != nil, hidesBackendPID {
      end.head?.append(contentsOf: bytes)
      guard let changed = Self.replacingBackendPID(end.head ?? []) else { return }
      bytes = changed
      end.head = nil
    }
    var rest = bytes[...]
    while !rest.isEmpty, let other = end.other {
      switch try rest.withUnsafeBytes({ try other.socket.send($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock: break
      case .peerClosed: return finish(end)
      }
    }
  }

  /// Ends all connections, with what was not forwarded.
  public func cut() {
    for end in Array(ends.values) { finish(end) }
  }

  /// Closes both ends. A descriptor of the same number may come again.
  private func finish(_ end: End) {
    for end in [end, end.other].compactMap({ $0 }) {
      if let registration = end.registration { loop.deregister(registration) }
      ends[end.socket.rawValue] = nil
    }
  }

  /// The server's first messages with another number in BackendKeyData; nil until that has come.
  private static func replacingBackendPID(_ head: [UInt8]) -> [UInt8]? {
    var place = 0
    while place + 5 <= head.count {
      let length = head[(place + 1)..<(place + 5)].reduce(0) { $0 << 8 | Int($1) }
      if head[place] == UInt8(ascii: "K"), place + 9 <= head.count {
        var changed = head
        changed[place + 8] ^= 0x55
        return changed
      }
      place += 1 + length
    }
    return nil
  }
}
