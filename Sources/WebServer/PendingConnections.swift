// Connections without a complete request head. Each costs a descriptor and no memory of libmicrohttpd. Heads that are
// too large, malformed or too slow are answered here.
// Invariant: at most `limits.waiting` connections of each kind of socket wait, each for a limited time. One more
// connection closes the one of its kind that has waited longest.
import Glibc
import Posix
import Time
import WebCore

/// Accepted connections whose first request head is not complete yet.
final class PendingConnections {
  /// Origin of a connection: whether it came over the socket in the home, and from a process of the bank's user.
  struct Origin {
    /// True if the connection came over the socket in the home.
    let isLocal: Bool
    /// True if the peer is a process of the bank's user or of root.
    let isFromOwner: Bool
  }

  /// One connection that waits for its head, or for the client to read a refusal.
  private final class PendingConnection {
    let socket: FileDescriptor
    let origin: Origin
    var registration: Registration?
    var deadline: MonotonicTime
    /// Time of the next poll of an incomplete head; nil while the event loop watches the descriptor.
    var nextPoll: MonotonicTime?
    /// Delay of the poll that is scheduled next.
    var pause = PendingConnections.firstPause
    /// Number of bytes at the last poll.
    var peekedBytes = 0
    /// True after the head was refused. Further input is read and dropped.
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

  /// First and longest polling interval of an incomplete head; it doubles with each poll. The first bytes of the head
  /// stay unread in the socket, so epoll cannot report new ones.
  private static let (firstPause, longestPause) = (TimeSpan.milliseconds(10), TimeSpan.milliseconds(320))
  /// Time for which the rest of a refused request is read. Closing with unread data could reset the
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

  /// Makes the event loop report input of a connection.
  private func watch(_ connection: PendingConnection) {
    do throws(SystemError) {
      connection.registration = try loop.register(fd: connection.socket.rawValue, interest: .read) {
        [unowned self, unowned connection] _ in pollHead(connection)
      }
    } catch { close(connection) }
  }

  /// Stops the event loop's reports of input of a connection.
  private func unwatch(_ connection: PendingConnection) {
    if let registration = connection.registration { loop.deregister(registration) }
    connection.registration = nil
  }

  /// Removes a connection. Its descriptor is closed when no reference to the connection is left.
  private func close(_ connection: PendingConnection) {
    unwatch(connection)
    connections.removeAll { $0 === connection }
  }

  /// Checks the bytes received so far, which stay in the socket: passes the connection on, refuses it, closes it, or
  /// schedules another check.
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

  /// True if the client has closed its end.
  private func isPeerClosed(_ connection: PendingConnection) -> Bool {
    // The event bits of epoll have the same values as those of poll(2).
    let closed = Int16(truncatingIfNeeded: Interest.peerClosed.rawValue)
    var item = pollfd(fd: connection.socket.rawValue, events: closed, revents: 0)
    return poll(&item, 1, 0) > 0
  }

  /// Removes a connection with a complete head, and passes it to `onHead`.
  private func passToLibrary(_ connection: PendingConnection) {
    close(connection)
    // The library closes the descriptor that it receives, and `connection` closes its own, so pass a duplicate.
    let own = fcntl(connection.socket.rawValue, F_DUPFD_CLOEXEC, 3)
    guard own >= 0 else { return }
    onHead?(FileDescriptor(owning: own), connection.origin)
  }

  /// Sends the answer to a refused head, and keeps the connection until the client closes it, at most for `lingerTime`.
  private func refuse(_ connection: PendingConnection, _ status: Int, _ request: HTTPRequest) {
    guard let response = onRefusal?(status, request) else { return close(connection) }
    let bytes = response.serialized()
    // A fresh socket normally has room for the answer. Without room, the answer is dropped.
    _ = try? bytes.withUnsafeBytes { try connection.socket.send($0) }
    _ = shutdown(connection.socket.rawValue, CInt(SHUT_WR))
    connection.isAnswered = true
    connection.deadline = SystemClock.monotonic() + Self.lingerTime
    connection.nextPoll = nil
    if connection.registration == nil { watch(connection) }
  }

  /// Reads and drops input of an answered connection; closes the connection at its end.
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
    // All entries are scanned, because polls and the deadlines of answered connections are not in order.
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

  /// Handles a passed deadline: answers 408 to a client that has sent a part of a head. Closes a connection without any
  /// data, and one whose head was refused.
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
