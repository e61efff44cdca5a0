// Owns the library's daemon, and its turns within the loop of this process: the only file that speaks with libmicrohttpd about
// more than one connection. Connections are handed to it; it listens nowhere itself.
// Invariant: the library runs only from `runLibrary`, never from within one of its own calls; what it has called back about is
// found through the contexts that it was given, each of which is released exactly once, by `completed` or `connection`.
// Failure: a daemon that cannot be started; what a peer does can end its own connection and nothing else.
import CMicrohttpd
import Glibc
import Posix
import Time
import WebCore

/// What answers requests.
public protocol HTTPHandler: AnyObject {
  /// Looks at a request whose body has not come yet. An answer is its end.
  func admit(_ request: HTTPRequest) -> HTTPResponse?
  /// Answers a request at once or later, with ``HTTPExchange/respond(_:)`` or ``HTTPExchange/stream(_:)``.
  func serve(_ exchange: HTTPExchange)
  /// The answer to a request whose head is refused with a status; of the request only the beginning is known.
  func answer(refused status: Int, _ request: HTTPRequest) -> HTTPResponse
}

/// HTTP on an ``EventLoop``. Not Sendable: everything happens on the loop's thread.
///
/// The caller calls ``endTurn(_:)`` at the end of each turn, and wakes by ``nextDeadline``.
public final class HTTPServer {
  /// How much of everything there may be, and for how long.
  public struct Limits: Sendable {
    /// Requests that are read and answered at the same time, of each kind of socket.
    public var connections = 256
    /// Connections without a request at the same time, of each kind of socket.
    public var waiting = 1_024
    /// Streams of events at the same time, of each kind of socket.
    public var streams = 2_000
    /// Bytes of memory for a request that is read, of which the library uses half for its head, and for its answer.
    public var memory = 40 << 10
    /// Bytes of a body.
    public var body = 64 << 10
    /// How long a request may take to be there as a whole, and how long a connection may wait for its first.
    public var request = TimeSpan.seconds(15)
    /// How long a connection may be kept without a request.
    public var idle = TimeSpan.seconds(75)
    /// How long whoever has asked may take to read the answer.
    public var answer = TimeSpan.seconds(60)

    public init() {}
  }

  /// What answers.
  public weak var handler: HTTPHandler?
  let limits: Limits
  let loop: EventLoop
  private let gate: Gate
  private var viewers: [ObjectIdentifier: StreamViewer] = [:]
  /// Those that have something to write.
  private var due: [StreamViewer] = []
  private let daemon: OpaquePointer
  private var registration: Registration?
  private var connections: [ObjectIdentifier: HTTPConnection] = [:]
  /// The next look at whoever is slow; nobody has a deadline before it.
  private var nextLook: MonotonicTime?
  /// How many connections have a deadline.
  private var timed = 0
  private var isRunning = false
  private var owesRun = false
  /// Whether whoever is done is let go.
  private(set) var isClosing = false
  /// Where the connection comes from that is being handed over.
  private var handedOver = Gate.Origin(isLocal: false, isOwners: false)
  /// How many connections there are.
  public var count: Int { connections.count + viewers.count + gate.count }

  /// Starts a server without connections.
  public init(loop: EventLoop, limits: Limits = Limits()) throws(SystemError) {
    self.loop = loop
    self.limits = limits
    gate = Gate(loop, limits)
    let context = UnsafeMutablePointer<Unmanaged<HTTPServer>?>.allocate(capacity: 1)
    context.initialize(to: nil)
    var orders = httpd_orders(
      context: context, on_access: Callbacks.access, on_completed: Callbacks.completed,
      on_connection: Callbacks.connection, on_target: Callbacks.target, memory: limits.memory,
      // Those that are being closed count until the library has run.
      connections: CUnsignedInt(2 * limits.connections + 64))
    guard let daemon = httpd_start(&orders) else {
      context.deallocate()
      throw SystemError(call: "MHD_start_daemon", subject: "", code: errno == 0 ? ENOMEM : errno)
    }
    self.daemon = daemon
    self.context = context
    context.pointee = Unmanaged.passUnretained(self)
    registration = try loop.register(fd: httpd_descriptor(daemon), interest: .read) { [unowned self] _ in
      runLibrary()
    }
    gate.onHead = { [unowned self] in take($0, $1) }
    gate.onRefusal = { [unowned self] in
      handler?.answer(refused: $0, $1) ?? .words($0, "the request cannot be understood")
    }
  }
  private let context: UnsafeMutablePointer<Unmanaged<HTTPServer>?>

  deinit {
    if let registration { loop.deregister(registration) }
    // The library wants nobody to be suspended when it ends.
    for connection in connections.values { connection.exchange?.abandon() }
    for viewer in viewers.values { viewer.abandon() }
    gate.close()
    _ = MHD_run(daemon)
    MHD_stop_daemon(daemon)
    context.deallocate()
  }

  /// Takes a connection over. If there are as many as there may be, the one that was idle the longest is closed.
  ///
  /// - Parameters:
  ///   - isLocal: true if it came over the socket in the home.
  ///   - isOwners: true if its process is of the bank's user; nil for the same as `isLocal`.
  public func take(_ socket: consuming FileDescriptor, isLocal: Bool, isOwners: Bool? = nil) {
    guard !isClosing else { return }
    gate.take(socket, Gate.Origin(isLocal: isLocal, isOwners: isOwners ?? isLocal))
  }

  /// A head is there: the library reads it.
  private func take(_ socket: consuming FileDescriptor, _ origin: Gate.Origin) {
    let alike = connections.values.filter { $0.origin.isLocal == origin.isLocal && !$0.isEnding }
    if alike.count >= limits.connections {
      guard let idle = alike.filter({ $0.exchange == nil }).min(by: { $0.since < $1.since }) else {
        let busy = handler?.answer(refused: 503, HTTPRequest(method: .get, target: RequestTarget(path: "/")))
        _ = try? busy?.written().withUnsafeBytes { try socket.send($0) }
        return
      }
      idle.end()
    }
    handedOver = origin
    let number = socket.take()
    var address = sockaddr()
    address.sa_family = sa_family_t(origin.isLocal ? AF_UNIX : AF_INET)
    // Whatever it answers, the descriptor is the library's from here on.
    _ = MHD_add_connection(daemon, number, &address, socklen_t(MemoryLayout<sockaddr>.size))
    owesRun = true
  }

  // MARK: - Streams

  /// The connection of a request becomes one of a viewer.
  func follow(_ feed: any EventFeed, _ connection: HTTPConnection, from place: Int64, owner: String?) {
    let isLocal = connection.origin.isLocal
    guard !isClosing, viewers.values.count(where: { $0.isLocal == isLocal }) < limits.streams,
      let own = connection.duplicate()
    else { return feed.leave(EventViewer()) }
    let viewer = StreamViewer(feed, FileDescriptor(owning: own), isLocal: isLocal, place: place, self)
    viewer.owner = owner
    viewers[ObjectIdentifier(viewer)] = viewer
    if !viewer.begin() { viewer.leave() }
  }

  /// Ends the streams of these owners.
  public func endStreams(of owners: [String]) {
    for viewer in viewers.values where viewer.owner.map(owners.contains) == true { viewer.leave() }
  }

  /// A viewer has something to write.
  func owe(_ viewer: StreamViewer) { due.append(viewer) }

  /// A viewer has left.
  func left(_ viewer: StreamViewer) {
    viewers[ObjectIdentifier(viewer)] = nil
    onRoom?()
  }

  // MARK: - Turns

  /// When ``endTurn(_:)`` has something to do by itself; nil for never.
  public var nextDeadline: MonotonicTime? {
    if owesRun || !due.isEmpty { return MonotonicTime(nanoseconds: 0) }
    return .earlier(timed == 0 ? nil : nextLook, gate.nextDeadline)
  }

  /// Writes what was answered in this turn, and ends whoever is too slow.
  public func endTurn(_ now: MonotonicTime) {
    if let nextLook, nextLook <= now { look(now) }
    gate.endTurn(now)
    // A run may bring what asks for another one; the rest is for the next turn, in which others are heard as well.
    for _ in 0..<4 where owesRun { runLibrary() }
    let due = due
    self.due = []
    for viewer in due { viewer.write() }
  }

  /// Something was answered or resumed: the library has to run once more.
  func owe() { owesRun = true }

  private func runLibrary() {
    precondition(!isRunning, "the library is not called from within its own calls")
    isRunning = true
    owesRun = false
    _ = MHD_run(daemon)
    isRunning = false
    if httpd_has_more(daemon) != 0 { owesRun = true }
  }

  /// Ends the connections whose time is over.
  private func look(_ now: MonotonicTime) {
    nextLook = nil
    for connection in connections.values {
      guard let deadline = connection.deadline else { continue }
      if deadline <= now {
        _ = connection.exchange?.answerLate()
        give(connection, nil)
        connection.end()
        owesRun = true
      } else {
        nextLook = .earlier(nextLook, deadline)
      }
    }
  }

  /// From now on a connection has so much time; nil for all of it.
  func give(_ connection: HTTPConnection, _ span: TimeSpan?) {
    timed += (span == nil ? 0 : 1) - (connection.deadline == nil ? 0 : 1)
    connection.deadline = span.map { SystemClock.monotonic() + $0 }
    nextLook = .earlier(nextLook, connection.deadline)
  }

  /// Ends every stream, and every request that nobody has answered yet; connections end as what was said is written.
  public func close() {
    isClosing = true
    gate.close()
    for viewer in viewers.values { viewer.end() }
    for connection in connections.values {
      connection.exchange?.abandon()
      if connection.exchange == nil { connection.end() }
    }
    owesRun = true
  }

  // MARK: - What the library tells

  fileprivate func began(_ connection: OpaquePointer) -> HTTPConnection {
    let made = HTTPConnection(httpd_connection_descriptor(connection), handedOver)
    connections[ObjectIdentifier(made)] = made
    give(made, limits.request)
    return made
  }

  fileprivate func ended(_ connection: HTTPConnection) {
    give(connection, nil)
    connections[ObjectIdentifier(connection)] = nil
    onRoom?()
  }

  /// Called when a connection has ended, so that somebody may come in.
  public var onRoom: (() -> Void)?
}

/// The functions that the library calls. Each finds its object through the context that the library was given.
private enum Callbacks {
  static func server(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
    context?.assumingMemoryBound(to: Unmanaged<HTTPServer>?.self).pointee?.takeUnretainedValue()
  }

  static func connection(_ connection: OpaquePointer?) -> HTTPConnection? {
    guard let connection, let context = httpd_connection_context(connection) else { return nil }
    return Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue()
  }

  static let connection: MHD_NotifyConnectionCallback = { context, connection, slot, code in
    guard let slot, let connection else { return }
    if httpd_begins(code) != 0 {
      guard let server = server(context) else { return }
      slot.pointee = Unmanaged.passRetained(server.began(connection)).toOpaque()
    } else if let own = slot.pointee {
      slot.pointee = nil
      server(context)?.ended(Unmanaged<HTTPConnection>.fromOpaque(own).takeRetainedValue())
    }
  }

  static let target:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
      UnsafeMutableRawPointer? =
      { context, target, connection in
        guard let server = server(context), let target, let library = connection,
          let connection = Callbacks.connection(library)
        else { return nil }
        let bytes = UnsafeBufferPointer(
          start: UnsafeRawPointer(target).assumingMemoryBound(to: UInt8.self), count: strlen(target))
        let exchange = HTTPExchange(RequestTarget(bytes), connection, library, server)
        connection.exchange = exchange
        server.give(connection, server.limits.request)
        return Unmanaged.passRetained(exchange).toOpaque()
      }

  static let access: MHD_AccessHandlerCallback = { _, _, _, method, version, upload, size, context in
    guard let method, let version, let size, let own = context?.pointee else { return httpd_no() }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(own).takeUnretainedValue()
    return exchange.advance(
      method: method, version: String(cString: version),
      upload: UnsafeRawBufferPointer(start: upload, count: size.pointee), &size.pointee)
  }

  static let completed: MHD_RequestCompletedCallback = { _, _, context, _ in
    guard let own = context?.pointee else { return }
    context?.pointee = nil
    Unmanaged<HTTPExchange>.fromOpaque(own).takeRetainedValue().complete()
  }
}
