// Connections without a complete request head. Each costs a descriptor and no memory of libmicrohttpd. The gate answers
// a head that is too large or malformed.
// Invariant: at most `limits.waiting` connections of each kind of socket wait, each for a limited time. One more
// connection closes the one of its kind that has waited longest.
import Glibc
import Posix
import Time
import WebCore

final class Gate {
  /// Origin of a connection, from its descriptor.
  struct Origin {
    /// True if the connection came over the socket in the home.
    let isLocal: Bool
    /// True if the peer is a process of the bank's user or of root.
    let isOwners: Bool
  }

  private final class Newcomer {
    let socket: FileDescriptor
    let origin: Origin
    var registration: Registration?
    var deadline: MonotonicTime
    /// Time of the next poll of an incomplete head, and the delay of the poll after it.
    var nextLook: MonotonicTime?
    var pause = Gate.firstPause
    /// Number of bytes at the last poll.
    var seen = 0
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
  private var newcomers: [Newcomer] = []
  private var room = [UInt8](repeating: 0, count: HeadCheck.longest + 1)

  /// Polling interval of an incomplete head. Its first bytes stay unread in the socket, so epoll cannot
  /// report new ones.
  private static let (firstPause, longestPause) = (TimeSpan.milliseconds(10), TimeSpan.milliseconds(320))
  /// Time for which the rest of a refused request is read. Closing with unread data would reset the
  /// connection before the client reads the answer.
  private static let farewell = TimeSpan.seconds(2)

  init(_ loop: EventLoop, _ limits: HTTPServer.Limits) { (self.loop, self.limits) = (loop, limits) }

  var count: Int { newcomers.count }

  /// Adds a connection. If too many of the same kind of socket wait, closes the one that has waited longest.
  func take(_ socket: consuming FileDescriptor, _ origin: Origin) {
    if newcomers.count(where: { $0.origin.isLocal == origin.isLocal }) >= limits.waiting,
      let oldest = newcomers.first(where: { $0.origin.isLocal == origin.isLocal })
    {
      close(oldest)
    }
    let newcomer = Newcomer(socket, origin, deadline: SystemClock.monotonic() + limits.request)
    newcomers.append(newcomer)
    watch(newcomer)
  }

  private func watch(_ newcomer: Newcomer) {
    do throws(SystemError) {
      newcomer.registration = try loop.register(fd: newcomer.socket.rawValue, interest: .read) {
        [unowned self, unowned newcomer] _ in look(newcomer)
      }
    } catch { close(newcomer) }
  }

  private func unwatch(_ newcomer: Newcomer) {
    if let registration = newcomer.registration { loop.deregister(registration) }
    newcomer.registration = nil
  }

  private func close(_ newcomer: Newcomer) {
    unwatch(newcomer)
    newcomers.removeAll { $0 === newcomer }
  }

  private func look(_ newcomer: Newcomer) {
    guard !newcomer.isAnswered else { return drain(newcomer) }
    let count = room.withUnsafeMutableBytes { bytes in
      recv(newcomer.socket.rawValue, bytes.baseAddress, bytes.count, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
    }
    if count < 0, [EAGAIN, EINTR].contains(errno) { return lookLater(newcomer) }
    guard count > 0 else { return close(newcomer) }
    // Without new bytes, reading cannot show whether the stream ends after the unread bytes, so check for its end
    // separately.
    if count == newcomer.seen { return hasEnded(newcomer) ? close(newcomer) : lookLater(newcomer) }
    newcomer.seen = count
    switch HeadCheck(Array(room[..<count])) {
    case .incomplete: lookLater(newcomer)
    case .good: handOver(newcomer)
    case .refused(let status, let request): refuse(newcomer, status, request)
    }
  }

  /// Stops watching the descriptor until the next poll, because the unread bytes keep it readable.
  private func lookLater(_ newcomer: Newcomer) {
    unwatch(newcomer)
    newcomer.nextLook = SystemClock.monotonic() + newcomer.pause
    newcomer.pause = min(newcomer.pause * 2, Self.longestPause)
  }

  private func hasEnded(_ newcomer: Newcomer) -> Bool {
    // The event bits of epoll have the same values as those of poll(2).
    let closed = Int16(truncatingIfNeeded: Interest.peerClosed.rawValue)
    var item = pollfd(fd: newcomer.socket.rawValue, events: closed, revents: 0)
    return poll(&item, 1, 0) > 0
  }

  private func handOver(_ newcomer: Newcomer) {
    close(newcomer)
    // The library closes the descriptor that it receives, and the newcomer closes its own, so pass a duplicate.
    let own = fcntl(newcomer.socket.rawValue, F_DUPFD_CLOEXEC, 3)
    guard own >= 0 else { return }
    onHead?(FileDescriptor(owning: own), newcomer.origin)
  }

  private func refuse(_ newcomer: Newcomer, _ status: Int, _ request: HTTPRequest) {
    guard let response = onRefusal?(status, request) else { return close(newcomer) }
    let bytes = response.written()
    // A fresh socket has room for the answer; if it does not, the answer is dropped.
    _ = try? bytes.withUnsafeBytes { try newcomer.socket.send($0) }
    _ = shutdown(newcomer.socket.rawValue, CInt(SHUT_WR))
    newcomer.isAnswered = true
    newcomer.deadline = SystemClock.monotonic() + Self.farewell
    newcomer.nextLook = nil
    if newcomer.registration == nil { watch(newcomer) }
  }

  private func drain(_ newcomer: Newcomer) {
    for _ in 0..<16 {
      let count = room.withUnsafeMutableBytes { bytes in
        recv(newcomer.socket.rawValue, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT))
      }
      if count < 0, [EAGAIN, EINTR].contains(errno) { return }
      guard count > 0 else { return close(newcomer) }
    }
  }

  // MARK: - Loop

  /// Deadline for the next call of ``endTurn(_:)``; nil for none.
  var nextDeadline: MonotonicTime? {
    // All entries are scanned: deadlines are in order except for those of the few answered connections.
    newcomers.reduce(nil) { .earlier($0, .earlier($1.nextLook, $1.deadline)) }
  }

  /// Polls incomplete heads, and answers or closes connections that took too long.
  func endTurn(_ now: MonotonicTime) {
    guard let next = nextDeadline, next <= now else { return }
    for newcomer in newcomers {
      if newcomer.deadline <= now {
        expire(newcomer)
      } else if let again = newcomer.nextLook, again <= now {
        newcomer.nextLook = nil
        look(newcomer)
      }
    }
  }

  /// Answers 408 to a client that has sent data. Closes a connection without any data, and one that was answered
  /// before.
  private func expire(_ newcomer: Newcomer) {
    var byte: UInt8 = 0
    let hasBegun =
      !newcomer.isAnswered
      && recv(newcomer.socket.rawValue, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
    guard hasBegun else { return close(newcomer) }
    refuse(newcomer, 408, HTTPRequest(method: .get, target: RequestTarget(path: "/")))
  }

  func close() { for newcomer in newcomers { close(newcomer) } }
}
