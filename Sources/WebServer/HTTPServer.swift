// The daemon of libmicrohttpd, which runs within the loop of this process. The daemon does not listen: the process
// passes accepted connections to it.
// Invariant: `MHD_run` is not called from within a callback of the library. A callback finds its object through the
// context given to the library. The context of a request is released by `completed`, and that of a connection by
// `connection`.
// Errors: `SystemError` if the daemon cannot start.
import CMicrohttpd
import Glibc
import Posix
import Time
import WebCore

/// Receives the requests of an HTTP server and answers them.
public protocol HTTPHandler: AnyObject {
  /// Checks a request before its body arrives. Returns a response to refuse the request, or nil to accept it.
  func admit(_ request: HTTPRequest) -> HTTPResponse?
  /// Answers a request at once or later, with ``HTTPExchange/respond(_:)`` or ``HTTPExchange/stream(_:from:owner:)``.
  func serve(_ exchange: HTTPExchange)
  /// The response with which the server refuses a connection or a head. The request contains at most the readable part.
  func answer(refused status: Int, _ request: HTTPRequest) -> HTTPResponse
}

/// HTTP server on an `EventLoop`. Not Sendable: everything happens on the loop's thread.
///
/// The caller calls ``finishIteration(_:)`` at the end of each iteration, and waits at most
/// until ``nextDeadline``.
public final class HTTPServer {
  /// Limits of connections, streams, memory, body sizes and times.
  public struct Limits: Sendable {
    /// Maximum number of connections with a request in progress or idle after one, for each kind of socket (TCP, socket
    /// in the home).
    public var connections = 256
    /// Maximum number of connections without a complete first head, for each kind of socket.
    public var waiting = 1_024
    /// Maximum number of event streams, for each kind of socket.
    public var streams = 2_000
    /// Memory of the library for each connection, in bytes. The library reads a head into half of this memory, which
    /// must hold the longest head.
    public var memory = 40 << 10
    /// Maximum size of a body in bytes.
    public var body = 64 << 10
    /// Timeout of the first head of a connection, and of each request from its first line to the end of its body.
    public var request = TimeSpan.seconds(15)
    /// Timeout of a connection without a request.
    public var idle = TimeSpan.seconds(75)
    /// Timeout of writing an answer to a slow client.
    public var answer = TimeSpan.seconds(60)

    public init() {}
  }

  /// Handler of the requests.
  public weak var handler: HTTPHandler?
  let limits: Limits
  let loop: EventLoop
  private let pendingConnections: PendingConnections
  private var viewers: [ObjectIdentifier: StreamViewer] = [:]
  private var pendingWrites: [StreamViewer] = []
  private let daemon: OpaquePointer
  private var registration: Registration?
  /// The connections of the library, without the streams.
  private var connections: [ObjectIdentifier: HTTPConnection] = [:]
  /// Time of the next check of deadlines; no connection has an earlier deadline.
  private var nextExpiry: MonotonicTime?
  /// Number of connections with a deadline.
  private var deadlineCount = 0
  private var isRunning = false
  /// True if `MHD_run` has to be called before the loop waits again.
  private var needsRun = false
  /// True after `close()`: connections are closed after their answers.
  private(set) var isClosing = false
  /// Origin of the connection that is being passed to the library.
  private var pendingOrigin = PendingConnections.Origin(isLocal: false, isFromOwner: false)
  /// Number of connections, including streams and connections without a complete head.
  public var count: Int { connections.count + viewers.count + pendingConnections.count }

  /// Starts a server without connections.
  public init(loop: EventLoop, limits: Limits = Limits()) throws(SystemError) {
    self.loop = loop
    self.limits = limits
    pendingConnections = PendingConnections(loop, limits)
    let context = UnsafeMutablePointer<Unmanaged<HTTPServer>?>.allocate(capacity: 1)
    context.initialize(to: nil)
    var orders = httpd_orders(
      context: context, on_access: Callbacks.access, on_completed: Callbacks.completed,
      on_connection: Callbacks.connection, on_target: Callbacks.target, memory: limits.memory,
      // Closing connections count as connections until the library has run.
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
    pendingConnections.onHead = { [unowned self] in take($0, $1) }
    pendingConnections.onRefusal = { [unowned self] in
      handler?.answer(refused: $0, $1) ?? .text($0, "the request is malformed")
    }
  }
  /// Context of the library's callbacks; it contains this server after the start.
  private let context: UnsafeMutablePointer<Unmanaged<HTTPServer>?>

  deinit {
    if let registration { loop.deregister(registration) }
    // The library requires that no connection is suspended when it stops.
    for connection in connections.values { connection.exchange?.abandon() }
    for viewer in viewers.values { viewer.abandon() }
    pendingConnections.close()
    _ = MHD_run(daemon)
    MHD_stop_daemon(daemon)
    context.deallocate()
  }

  /// Adds an accepted connection. If too many connections of its kind of socket wait for a complete head, closes the
  /// one that has waited longest.
  ///
  /// - Parameters:
  ///   - isLocal: true if the connection came over the socket in the home.
  ///   - isFromOwner: true if the peer is a process of the bank's user or of root; nil for the value of `isLocal`.
  public func take(_ socket: consuming FileDescriptor, isLocal: Bool, isFromOwner: Bool? = nil) {
    guard !isClosing else { return }
    pendingConnections.take(
      socket, PendingConnections.Origin(isLocal: isLocal, isFromOwner: isFromOwner ?? isLocal))
  }

  /// Passes a connection with a complete head to the library. If there are too many, ends the one that is idle for the
  /// longest time, or answers 503 if none is idle.
  private func take(_ socket: consuming FileDescriptor, _ origin: PendingConnections.Origin) {
    let alike = connections.values.filter { $0.origin.isLocal == origin.isLocal && !$0.isEnding }
    if alike.count >= limits.connections {
      guard let idle = alike.filter({ $0.exchange == nil }).min(by: { $0.since < $1.since }) else {
        let busy = handler?.answer(refused: 503, HTTPRequest(method: .get, target: RequestTarget(path: "/")))
        _ = try? busy?.serialized().withUnsafeBytes { try socket.send($0) }
        return
      }
      idle.end()
    }
    pendingOrigin = origin
    let number = socket.take()
    var address = sockaddr()
    address.sa_family = sa_family_t(origin.isLocal ? AF_UNIX : AF_INET)
    // The library owns the descriptor after this call, even if the call fails.
    _ = MHD_add_connection(daemon, number, &address, socklen_t(MemoryLayout<sockaddr>.size))
    needsRun = true
  }

  // MARK: - Streams

  /// Turns the connection of a request into a stream. If there are too many streams, the connection closes.
  func startStream(_ feed: any EventFeed, _ connection: HTTPConnection, from position: Int64, owner: String?)
  {
    let isLocal = connection.origin.isLocal
    guard !isClosing, viewers.values.count(where: { $0.isLocal == isLocal }) < limits.streams,
      let own = connection.duplicate()
    else { return feed.leave(EventViewer()) }
    let viewer = StreamViewer(feed, FileDescriptor(owning: own), isLocal: isLocal, position: position, self)
    viewer.owner = owner
    viewers[ObjectIdentifier(viewer)] = viewer
    if !viewer.start() { viewer.leave() }
  }

  /// Ends the streams that were started for these owners, such as ended sessions.
  public func endStreams(of owners: [String]) {
    for viewer in viewers.values where viewer.owner.map(owners.contains) == true { viewer.leave() }
  }

  /// Schedules a viewer that has data to write for the end of this iteration.
  func schedule(_ viewer: StreamViewer) { pendingWrites.append(viewer) }

  func viewerEnded(_ viewer: StreamViewer) {
    viewers[ObjectIdentifier(viewer)] = nil
    onCapacity?()
  }

  // MARK: - Loop

  /// Deadline for the next call of ``finishIteration(_:)``; nil for none.
  public var nextDeadline: MonotonicTime? {
    if needsRun || !pendingWrites.isEmpty { return MonotonicTime(nanoseconds: 0) }
    return .earlier(deadlineCount == 0 ? nil : nextExpiry, pendingConnections.nextDeadline)
  }

  /// Writes the answers of this iteration, and closes connections that are too slow.
  public func finishIteration(_ now: MonotonicTime) {
    if let nextExpiry, nextExpiry <= now { closeExpired(now) }
    pendingConnections.finishIteration(now)
    // A run of the library may make another one necessary. The number of runs is bounded, so that other descriptors of
    // the loop are not starved.
    for _ in 0..<4 where needsRun { runLibrary() }
    let pendingWrites = pendingWrites
    self.pendingWrites = []
    for viewer in pendingWrites { viewer.write() }
  }

  /// Makes the loop run the library again before it waits for events.
  func schedule() { needsRun = true }

  /// Calls `MHD_run`, which reads, writes and calls the callbacks.
  private func runLibrary() {
    precondition(!isRunning, "the library is not called from within its own calls")
    isRunning = true
    needsRun = false
    _ = MHD_run(daemon)
    isRunning = false
    if httpd_has_more(daemon) != 0 { needsRun = true }
  }

  /// Closes the connections whose deadline has passed. Before that, answers a refused request whose body is incomplete.
  private func closeExpired(_ now: MonotonicTime) {
    nextExpiry = nil
    for connection in connections.values {
      guard let deadline = connection.deadline else { continue }
      if deadline <= now {
        _ = connection.exchange?.answerStalledBody()
        setDeadline(connection, nil)
        connection.end()
        needsRun = true
      } else {
        nextExpiry = .earlier(nextExpiry, deadline)
      }
    }
  }

  /// Sets the deadline of a connection to this time from now; nil for none. A connection is closed at its deadline.
  func setDeadline(_ connection: HTTPConnection, _ span: TimeSpan?) {
    deadlineCount += (span == nil ? 0 : 1) - (connection.deadline == nil ? 0 : 1)
    connection.deadline = span.map { SystemClock.monotonic() + $0 }
    nextExpiry = .earlier(nextExpiry, connection.deadline)
  }

  /// Ends the streams, cancels the requests whose answer the library does not have yet, and accepts no further
  /// connections. A connection whose answer is being written closes afterwards.
  public func close() {
    isClosing = true
    pendingConnections.close()
    for viewer in viewers.values { viewer.end() }
    for connection in connections.values {
      connection.exchange?.abandon()
      if connection.exchange == nil { connection.end() }
    }
    needsRun = true
  }

  // MARK: - Callbacks of the library

  /// Registers a connection that the library has accepted.
  fileprivate func connectionStarted(_ connection: OpaquePointer) -> HTTPConnection {
    let made = HTTPConnection(httpd_connection_descriptor(connection), pendingOrigin)
    connections[ObjectIdentifier(made)] = made
    setDeadline(made, limits.request)
    return made
  }

  /// Removes a connection that the library has closed.
  fileprivate func connectionEnded(_ connection: HTTPConnection) {
    setDeadline(connection, nil)
    connections[ObjectIdentifier(connection)] = nil
    onCapacity?()
  }

  /// Called when a connection or a stream has ended, so that another one can be accepted.
  public var onCapacity: (() -> Void)?
}

/// Callbacks of the library.
private enum Callbacks {
  /// The server of a callback's context; nil before the end of its start.
  static func server(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
    context?.assumingMemoryBound(to: Unmanaged<HTTPServer>?.self).pointee?.takeUnretainedValue()
  }

  /// The `HTTPConnection` of a connection of the library; nil for none.
  static func connection(_ connection: OpaquePointer?) -> HTTPConnection? {
    guard let connection, let context = httpd_connection_context(connection) else { return nil }
    return Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue()
  }

  /// A connection of the library starts or ends: creates or releases its `HTTPConnection`.
  static let connection: MHD_NotifyConnectionCallback = { context, connection, slot, code in
    guard let slot, let connection else { return }
    if httpd_begins(code) != 0 {
      guard let server = server(context) else { return }
      slot.pointee = Unmanaged.passRetained(server.connectionStarted(connection)).toOpaque()
    } else if let own = slot.pointee {
      slot.pointee = nil
      server(context)?.connectionEnded(Unmanaged<HTTPConnection>.fromOpaque(own).takeRetainedValue())
    }
  }

  /// The first line of a request was read: creates its `HTTPExchange`.
  static let target:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
      UnsafeMutableRawPointer? =
      { context, target, connection in
        guard let server = server(context), let target, let mhdConnection = connection,
          let connection = Callbacks.connection(mhdConnection)
        else { return nil }
        let bytes = UnsafeBufferPointer(
          start: UnsafeRawPointer(target).assumingMemoryBound(to: UInt8.self), count: strlen(target))
        let exchange = HTTPExchange(RequestTarget(bytes), connection, mhdConnection, server)
        connection.exchange = exchange
        server.setDeadline(connection, server.limits.request)
        return Unmanaged.passRetained(exchange).toOpaque()
      }

  /// The headers, a part of the body, or the end of a request were read.
  static let access: MHD_AccessHandlerCallback = { _, _, _, method, version, upload, size, context in
    guard let method, let version, let size, let own = context?.pointee else { return httpd_no() }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(own).takeUnretainedValue()
    return exchange.advance(
      method: method, version: String(cString: version),
      upload: UnsafeRawBufferPointer(start: upload, count: size.pointee), &size.pointee)
  }

  /// A request is finished: releases its `HTTPExchange`.
  static let completed: MHD_RequestCompletedCallback = { _, _, context, _ in
    guard let own = context?.pointee else { return }
    context?.pointee = nil
    Unmanaged<HTTPExchange>.fromOpaque(own).takeRetainedValue().complete()
  }
}
