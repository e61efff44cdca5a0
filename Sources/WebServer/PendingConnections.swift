// Connections without a complete request head. Each costs a descriptor and no memory of libmicrohttpd. The gate answers
// a head that is too large or malformed.
// Invariant: at most `limits.waiting` connections of each kind of socket wait, each for a limited time. One more
// connection closes the one of its kind that has waited longest.
import Glibc
import Posix
import Time
import WebCore

final class PendingConnections {
  /// Origin of a connection, from its descriptor.
  struct Origin {
    /// True if the connection came over the socket in the home.
    let isLocal: Bool
    /// True if the peer is a process of the bank's user or of root.
    let isFromOwner: Bool
  }

  private final class PendingConnection {
    let socket: FileDescriptor
    let origin: Origin
    var registration: Registration?
    var deadline: MonotonicTime
    /// Time of the next poll of an incomplete head, and the delay of the poll after it.
    var nextPoll: MonotonicTime?
    var pause = PendingConnections.firstPause
    /// Number of bytes at the last poll.
    var peekedBytes = 0
    /// True after an answer was sent. Further input is read and dropped.
    var isAnswered = false

    init(_ socket: consuming FileDescriptor, _ origin: Origin, deadline: MonotonicTime) {
      self.socket = socket
      (self.origin, self.deadline) = (origin, deadline)
    }
  }

  private let loop: EventLoop
  private let limits: HTTPServer.Limits
  /// Called with a connection whose head is complete.
  var onHead: ((consuming FileDescriptor, Origin) -> Void)?
  /// Returns the answer to a refused head.
  var onRefusal: ((Int, HTTPRequest) -> HTTPResponse)?
  /// The waiting connections, in the order of arrival.
  private var connections: [PendingConnection] = []
  private var buffer = [UInt8](repeating: 0, count: HeadCheck.longest + 1)

  /// Polling interval of an incomplete head. Its first bytes stay unread in the socket, so epoll cannot
  /// report new ones.
  private static let (firstPause, longestPause) = (TimeSpan.milliseconds(10), TimeSpan.milliseconds(320))
  /// Time for which the rest of a refused request is read. Closing with unread data would reset the
  /// connection before the client reads the answer.
  private static let lingerTime = TimeSpan.seconds(2)

  init(_ loop: EventLoop, _ limits: HTTPServer.Limits) { (self.loop, self.limits) = (loop, limits) }

  var count: Int { connections.count }

  /// Adds a connection. If too many of the same kind of socket wait, closes the one that has waited longest.
  func take(_ socket: consuming FileDescriptor, _ origin: Origin) {
    if connections.count(where: { $0.origin.isLocal == origin.isLocal }) >= limits.waiting,
      let oldest = connections.first(where: { $0.origin.isLocal == origin.isLocal })
    {
      close(oldest)
    }
    let connection = PendingConnection(socket, origin, deadline: SystemClock.monotonic() + limits.request)
    connections.append(connection)
    watch(connection)
  }

  private func watch(_ connection: PendingConnection) {
    do throws(SystemError) {
      connection.registration = try loop.register(fd: connection.socket.rawValue, interest: .read) {
        [unowned self, unowned connection] _ in pollHead(connection)
      }
    } catch { close(connection) }
  }

  private func unwatch(_ connection: PendingConnection) {
    if let registration = connection.registration { loop.deregister(registration) }
    connection.registration = nil
  }

  private func close(_ connection: PendingConnection) {
    unwatch(connection)
    connections.removeAll { $0 === connection }
  }

  private func pollHead(_ connection: PendingConnection) {
    guard !connection.isAnswered else { return drain(connection) }
    let count = buffer.withUnsafeMutableBytes { bytes in
      recv(connection.socket.rawValue, bytes.baseAddress, bytes.count, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
    }
    if count < 0, [EAGAIN, EINTR].contains(errno) { return schedulePoll(connection) }
    guard count > 0 else { return close(connection) }
    // Without new bytes, reading cannot show whether the stream ends after the unread bytes, so check for its end
    // separately.
    if count == connection.peekedBytes {
      return isPeerClosed(connection) ? close(connection) : schedulePoll(connection)
    }
    connection.peekedBytes = count
    switch HeadCheck(Array(buffer[..<count])) {
    case .incomplete: schedulePoll(connection)
    case .good: passToLibrary(connection)
    case .refused(let status, let request): refuse(connection, status, request)
    }
  }

  /// Stops watching the descriptor until the next poll, because the unread bytes keep it readable.
  private func schedulePoll(_ connection: PendingConnection) {
    unwatch(connection)
    connection.nextPoll = SystemClock.monotonic() + connection.pause
    connection.pause = min(connection.pause * 2, Self.longestPause)
  }

  private func isPeerClosed(_ connection: PendingConnection) -> Bool {
    // The event bits of epoll have the same values as those of poll(2).
    let closed = Int16(truncatingIfNeeded: Interest.peerClosed.rawValue)
    var item = pollfd(fd: connection.socket.rawValue, events: closed, revents: 0)
    return poll(&item, 1, 0) > 0
  }

  private func passToLibrary(_ connection: PendingConnection) {
    close(connection)
    // The library closes the descriptor that it receives, and the newcomer closes its own, so pass a duplicate.
    let own = fcntl(connection.socket.rawValue, F_DUPFD_CLOEXEC, 3)
    guard own >= 0 else { return }
    onHead?(FileDescriptor(owning: own), connection.origin)
  }

  private func refuse(_ connection: PendingConnection, _ status: Int, _ request: HTTPRequest) {
    guard let response = onRefusal?(status, request) else { return close(connection) }
    let bytes = response.serialized()
    // A fresh socket has room for the answer; if it does not, the answer is dropped.
    _ = try? bytes.withUnsafeBytes { try connection.socket.send($0) }
    _ = shutdown(connection.socket.rawValue, CInt(SHUT_WR))
    connection.isAnswered = true
    connection.deadline = SystemClock.monotonic() + Self.lingerTime
    connection.nextPoll = nil
    if connection.registration == nil { watch(connection) }
  }

  private func drain(_ connection: PendingConnection) {
    for _ in 0..<16 {
      let count = buffer.withUnsafeMutableBytes { bytes in
        recv(connection.socket.rawValue, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT))
      }
      if count < 0, [EAGAIN, EINTR].contains(errno) { return }
      guard count > 0 else { return close(connection) }
    }
  }

  // MARK: - Loop

  /// Deadline for the next call of ``finishIteration(_:)``; nil for none.
  var nextDeadline: MonotonicTime? {
    // All entries are scanned: deadlines are in order except for those of the few answered connections.
    connections.reduce(nil) { .earlier($0, .earlier($1.nextPoll, $1.deadline)) }
  }

  /// Polls incomplete heads, and answers or closes connections that took too long.
  func finishIteration(_ now: MonotonicTime) {
    guard let next = nextDeadline, next <= now else { return }
    for connection in connections {
      if connection.deadline <= now {
        expire(connection)
      } else if let again = connection.nextPoll, again <= now {
        connection.nextPoll = nil
        pollHead(connection)
      }
    }
  }

  /// Answers 408 to a client that has sent data. Closes a connection without any data, and one that was answered
  /// before.
  private func expire(_ connection: PendingConnection) {
    var byte: UInt8 = 0
    let hasBegun =
      !connection.isAnswered
      && recv(connection.socket.rawValue, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
    guard hasBegun else { return close(connection) }
    refuse(connection, 408, HTTPRequest(method: .get, target: RequestTarget(path: "/")))
  }

  func close() { for connection in connections { close(connection) } }
}
