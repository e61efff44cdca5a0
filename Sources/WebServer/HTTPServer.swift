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
}

/// HTTP on an ``EventLoop``. Not Sendable: everything happens on the loop's thread.
///
/// The caller calls ``endTurn(_:)`` at the end of each turn, and wakes by ``nextDeadline``.
public final class HTTPServer {
  /// How much of everything there may be, and for how long.
  public struct Limits: Sendable {
    /// Connections at the same time.
    public var connections = 2_000
    /// Bytes of memory for the headers of each, and for what is written to it at a time.
    public var memory = 5 << 10
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
  private let loop: EventLoop
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
  /// Whether the connection that is being handed over comes from the socket in the home.
  private var handsOverLocal = false
  /// How many connections there are.
  public var count: Int { connections.count }

  /// Starts a server without connections.
  public init(loop: EventLoop, limits: Limits = Limits()) throws(SystemError) {
    self.loop = loop
    self.limits = limits
    let context = UnsafeMutablePointer<Unmanaged<HTTPServer>?>.allocate(capacity: 1)
    context.initialize(to: nil)
    var orders = httpd_orders(
      context: context, on_access: Callbacks.access, on_completed: Callbacks.completed,
      on_connection: Callbacks.connection, on_target: Callbacks.target, memory: limits.memory,
      connections: CUnsignedInt(limits.connections))
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
  }
  private let context: UnsafeMutablePointer<Unmanaged<HTTPServer>?>

  deinit {
    if let registration { loop.deregister(registration) }
    // The library wants nobody to be suspended when it ends.
    for connection in connections.values { connection.exchange?.abandon() }
    _ = MHD_run(daemon)
    MHD_stop_daemon(daemon)
    context.deallocate()
  }

  /// Takes a connection over. Where there are as many as there may be, or it cannot be watched, it is closed.
  public func take(_ socket: consuming FileDescriptor, isLocal: Bool) {
    handsOverLocal = isLocal
    let number = socket.take()
    var address = sockaddr()
    address.sa_family = sa_family_t(isLocal ? AF_UNIX : AF_INET)
    // Whatever it answers, the descriptor is the library's from here on.
    _ = MHD_add_connection(daemon, number, &address, socklen_t(MemoryLayout<sockaddr>.size))
    owesRun = true
  }

  // MARK: - Turns

  /// When ``endTurn(_:)`` has something to do by itself; nil for never.
  public var nextDeadline: MonotonicTime? {
    if owesRun { return MonotonicTime(nanoseconds: 0) }
    return timed == 0 ? nil : nextLook
  }

  /// Writes what was answered in this turn, and ends whoever is too slow.
  public func endTurn(_ now: MonotonicTime) {
    if let nextLook, nextLook <= now { look(now) }
    // A run may bring what asks for another one; the rest is for the next turn, in which others are heard as well.
    for _ in 0..<4 where owesRun { runLibrary() }
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
    for connection in connections.values {
      connection.exchange?.abandon()
      if connection.exchange == nil { connection.end() }
    }
    owesRun = true
  }

  // MARK: - What the library tells

  fileprivate func began(_ connection: OpaquePointer) -> HTTPConnection {
    let made = HTTPConnection(httpd_connection_descriptor(connection), isLocal: handsOverLocal)
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

  static let access: MHD_AccessHandlerCallback = { _, _, _, method, _, upload, size, context in
    guard let method, let size, let own = context?.pointee else { return httpd_no() }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(own).takeUnretainedValue()
    return exchange.advance(
      method: method, upload: UnsafeRawBufferPointer(start: upload, count: size.pointee), &size.pointee)
  }

  static let completed: MHD_RequestCompletedCallback = { _, _, context, _ in
    guard let own = context?.pointee else { return }
    context?.pointee = nil
    Unmanaged<HTTPExchange>.fromOpaque(own).takeRetainedValue().complete()
  }
}
