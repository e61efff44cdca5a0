// Connections of the attackers: opened, used, kept for a while, closed.
// Invariant: waits for a connection or an answer are limited, and so is the number of connections that are kept open.
// Errors: FuzzFailure if no connection is accepted any more; SystemError if a socket cannot be made.
import BankModel
import Glibc
import Posix
import Time

/// Makes the connections of attacks, and keeps some of them open.
final class Attackers {
  /// A connection that stays open after its attack.
  private final class AttackClient {
    let socket: FileDescriptor
    let neverReads: Bool

    init(_ socket: consuming FileDescriptor, neverReads: Bool) {
      self.socket = socket
      self.neverReads = neverReads
    }
  }

  private let path: String
  private var clients: [AttackClient] = []
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  private static let maxClients = 200
  private static let timeout = TimeSpan.seconds(30)

  init(path: String) { self.path = path }
  deinit { buffer.deallocate() }

  /// Makes one attack. May also end a connection that was kept open, and read from another one.
  func run(_ attack: Attack, _ chance: inout SeededGenerator) throws {
    let socket = try connect()
    guard send(attack.portions, on: socket) else { return }
    switch attack.attackKind {
    case .cut: return
    case .halfClosed:
      // A refused connection has no peer any more, so the call may fail.
      try? UnixSocket.shutdownWriting(socket)
      drainInput(socket, within: 3)
    case .staysOpen, .neverReads:
      clients.append(AttackClient(socket, neverReads: attack.attackKind == .neverReads))
    }
    if clients.count > Self.maxClients { clients.remove(at: Int(chance.draw(0...Int64(clients.count - 1)))) }
    if !clients.isEmpty {
      let guest = clients[Int(chance.draw(0...Int64(clients.count - 1)))]
      if !guest.neverReads { drainInput(guest.socket, within: 0) }
    }
  }

  /// Closes all connections that were kept open.
  func disconnect() { clients.removeAll() }

  /// Connects to the attacked socket, and retries while it is busy.
  private func connect() throws -> FileDescriptor {
    let deadline = SystemClock.monotonic() + Self.timeout
    while true {
      let outcome = try UnixSocket.connect(path: path, nonBlocking: true)
      switch consume outcome {
      case .connected(let socket): return socket
      case .busy:
        guard SystemClock.monotonic() < deadline else {
          throw FuzzFailure.harmed("no connection was accepted for \(Self.timeout)")
        }
        _ = poll(nil, 0, 1)
      case .noSuchFile: throw FuzzFailure.harmed("\(path) does not exist")
      case .refused: throw FuzzFailure.harmed("no process is listening on \(path)")
      case .permissionDenied: throw FuzzFailure.harmed("connecting to \(path) is not permitted")
      }
    }
  }

  /// Sends the portions until one is not accepted whole. Returns false if the connection was closed.
  private func send(_ portions: [[UInt8]], on socket: borrowing FileDescriptor) -> Bool {
    for portion in portions {
      let result = portion.withUnsafeBytes { bytes in try? socket.send(bytes) }
      switch result {
      case .bytes(let count) where count == portion.count: continue
      case .bytes, .wouldBlock: return true
      case .peerClosed, nil: return false
      }
    }
    return true
  }

  /// Reads until the end of the stream, or until nothing has arrived for a moment, in a limited number of steps.
  private func drainInput(_ socket: borrowing FileDescriptor, within milliseconds: CInt) {
    for _ in 0..<64 {
      switch try? socket.read(into: buffer) {
      case .bytes: continue
      case .endOfFile, nil: return
      case .wouldBlock:
        var wait = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, milliseconds) > 0 else { return }
      }
    }
  }
}
