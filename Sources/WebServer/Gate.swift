// Connections that have not sent a whole head yet. They cost a descriptor and no memory of the library; a head that is too large
// or malformed is answered here. Invariant: at most `limit` connections wait, each for a limited time; when one more comes, the
// one that has waited longest is closed.
import Glibc
import Posix
import Time
import WebCore

final class Gate {
  /// What the descriptor of a connection says of its client.
  struct Origin {
    /// True if it came over the socket in the home.
    let isLocal: Bool
    /// True if its process is of the bank's user.
    let isOwners: Bool
  }

  private final class Newcomer {
    let socket: FileDescriptor
    let origin: Origin
    var registration: Registration?
    var deadline: MonotonicTime
    /// When the head is looked at again though nothing says that more has come, and how long that takes the next time.
    var nextLook: MonotonicTime?
    var pause = Gate.firstPause
    /// Bytes that were there at the last look.
    var seen = 0
    /// True after an answer was sent: what still comes is read and forgotten.
    var isAnswered = false

    init(_ socket: consuming FileDescriptor, _ origin: Origin, deadline: MonotonicTime) {
      self.socket = socket
      (self.origin, self.deadline) = (origin, deadline)
    }
  }

  private let loop: EventLoop
  private let limits: HTTPServer.Limits
  /// Takes a connection over whose head is there.
  var onHead: ((consuming FileDescriptor, Origin) -> Void)?
  /// The answer to a head that is refused.
  var onRefusal: ((Int, HTTPRequest) -> HTTPResponse)?
  /// In the order in which they came.
  private var newcomers: [Newcomer] = []
  private var room = [UInt8](repeating: 0, count: HeadCheck.longest + 1)

  /// A head that comes in pieces is looked at again after this time: its first bytes stay unread, so nothing says that more came.
  private static let (firstPause, longestPause) = (TimeSpan.milliseconds(10), TimeSpan.milliseconds(320))
  /// How long the rest of a refused request is read, so that the client can read the answer.
  private static let farewell = TimeSpan.seconds(2)

  init(_ loop: EventLoop, _ limits: HTTPServer.Limits) { (self.loop, self.limits) = (loop, limits) }

  /// Connections that wait.
  var count: Int { newcomers.count }

  /// Takes a connection in. If there are too many of its kind, the one that has waited longest is closed.
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
    // What a client has sent piece by piece and left stays there, and the end behind it is not read.
    if count == newcomer.seen { return hasEnded(newcomer) ? close(newcomer) : lookLater(newcomer) }
    newcomer.seen = count
    switch HeadCheck(Array(room[..<count])) {
    case .incomplete: lookLater(newcomer)
    case .good: handOver(newcomer)
    case .refused(let status, let request): refuse(newcomer, status, request)
    }
  }

  /// The bytes that are there stay unread, so the descriptor stays readable: it is not watched for a moment.
  private func lookLater(_ newcomer: Newcomer) {
    unwatch(newcomer)
    newcomer.nextLook = SystemClock.monotonic() + newcomer.pause
    newcomer.pause = min(newcomer.pause * 2, Self.longestPause)
  }

  private func hasEnded(_ newcomer: Newcomer) -> Bool {
    // The bits of epoll are those of poll(2).
    let closed = Int16(truncatingIfNeeded: Interest.peerClosed.rawValue)
    var item = pollfd(fd: newcomer.socket.rawValue, events: closed, revents: 0)
    return poll(&item, 1, 0) > 0
  }

  private func handOver(_ newcomer: Newcomer) {
    close(newcomer)
    // The library closes what it is given, and the newcomer what it has.
    let own = fcntl(newcomer.socket.rawValue, F_DUPFD_CLOEXEC, 3)
    guard own >= 0 else { return }
    onHead?(FileDescriptor(owning: own), newcomer.origin)
  }

  private func refuse(_ newcomer: Newcomer, _ status: Int, _ request: HTTPRequest) {
    guard let response = onRefusal?(status, request) else { return close(newcomer) }
    let bytes = response.written()
    // A socket that nothing was written to has room for an answer; if it has not, its client is not waited for.
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

  // MARK: - Turns

  /// When ``endTurn(_:)`` has something to do by itself; nil for never.
  var nextDeadline: MonotonicTime? {
    // The first one that waits has the first deadline but for those that were answered, of which there are few.
    newcomers.reduce(nil) { .earlier($0, .earlier($1.nextLook, $1.deadline)) }
  }

  /// Looks at heads that come in pieces, and answers or closes those that took too long.
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

  /// A client that began to ask is told; one that sent nothing is not.
  private func expire(_ newcomer: Newcomer) {
    var byte: UInt8 = 0
    let hasBegun =
      !newcomer.isAnswered
      && recv(newcomer.socket.rawValue, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
    guard hasBegun else { return close(newcomer) }
    refuse(newcomer, 408, HTTPRequest(method: .get, target: RequestTarget(path: "/")))
  }

  /// Closes all connections.
  func close() { for newcomer in newcomers { close(newcomer) } }
}
