// A listening socket, and its behaviour when descriptors run out.
// Invariant: a pause ends at the latest at the first `runTimers(_:)` after `retryPause`, even if this listener's
// clients hold no descriptors. A listener does not spin, because it pauses if it cannot accept a client even with its
// spare descriptor.
// Errors: SystemError if the socket cannot be created or watched; later failures are not reported.
import Glibc
import Posix
import Time

/// A listening socket that accepts connections again after descriptors had run out.
///
/// The listener keeps one spare descriptor. If no descriptor is left for a client, the listener closes the
/// spare one, accepts the client, sends `refusalFrame`, and disconnects the client. Not Sendable: everything
/// happens on the loop's thread.
public final class Listener {
  /// Receives an accepted connection.
  public var onConnection: ((consuming FileDescriptor) -> Void)?
  /// Length of a pause after a client could not be accepted even with the spare descriptor.
  private static let retryPause = TimeSpan.milliseconds(100)
  /// Maximum number of connections accepted in one iteration, so that many new clients do not delay the
  /// connected ones.
  private static let acceptsPerIteration = 64
  private let loop: EventLoop
  private let socket: FileDescriptor
  /// Path of the socket's file; nil for a socket without one.
  private let path: String?
  /// Frame or line that is sent to a client for which no descriptor is left.
  private let refusalFrame: [UInt8]
  /// Descriptor that is closed if no other one is left for a client; nil if it could not be opened.
  private var spare: FileDescriptor?
  /// Nil after ``stop()``.
  private var registration: Registration?
  /// End of the present pause; nil while the socket is watched.
  private var retryAt: MonotonicTime?

  /// Starts to listen, and replaces a stale socket file. The caller must hold a lock that excludes other servers of
  /// this path.
  ///
  /// - Parameter refusalFrame: a whole frame or line, sent to a client for which no descriptor is left.
  public convenience init(
    path: String, backlog: CInt, loop: EventLoop, refusalFrame: [UInt8]
  ) throws(SystemError) {
    _ = try UnixSocket.removeStaleSocket(path: path)
    try self.init(
      socket: try UnixSocket.listen(path: path, backlog: backlog), path: path, loop: loop,
      refusalFrame: refusalFrame)
  }

  /// Starts to accept on a non-blocking socket that already listens.
  ///
  /// - Parameters:
  ///   - path: file of the socket, removed by ``stop()``; nil for none.
  ///   - refusalFrame: a whole frame or line, sent to a client for which no descriptor is left.
  public init(
    socket: consuming FileDescriptor, path: String? = nil, loop: EventLoop, refusalFrame: [UInt8]
  ) throws(SystemError) {
    self.loop = loop
    self.path = path
    self.refusalFrame = refusalFrame
    self.socket = socket
    spare = Self.makeSpare()
    let fd = self.socket.rawValue
    registration = try loop.register(fd: fd, interest: .read) { [unowned self] _ in acceptAll() }
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// Stops accepting connections, and removes the socket's file. The socket is closed when the listener is
  /// released.
  public func stop() {
    if let registration { loop.deregister(registration) }
    registration = nil
    retryAt = nil
    if let path { UnixSocket.remove(path) }
  }

  /// The wanted number of clients, but at most half of the limit of descriptors of this process, so that enough
  /// are left for other work; at least 1.
  public static func maximumClients(for wanted: Int) -> Int {
    let allowed = (try? ResourceLimits.openFiles()) ?? UInt64(wanted) * 2
    return min(wanted, max(1, Int(clamping: allowed / 2)))
  }

  /// Time of the next ``runTimers(_:)``; nil while the socket is watched.
  public var nextDeadline: MonotonicTime? { retryAt }

  /// Watches the socket again after a pause.
  public func runTimers(_ now: MonotonicTime) {
    if let retryAt, retryAt <= now { resumeWatching() }
  }

  /// Ends a pause, because a client has left and its descriptor is free.
  public func descriptorFreed() { if retryAt != nil { resumeWatching() } }

  private func resumeWatching() {
    guard let registration else { return }
    retryAt = nil
    if spare == nil { spare = Self.makeSpare() }
    // This fails only for a socket that is not registered.
    try? loop.modify(registration, interest: .read)
  }

  /// Accepts the waiting connections, at most ``acceptsPerIteration``.
  private func acceptAll() {
    for _ in 0..<Self.acceptsPerIteration {
      guard registration != nil else { return }
      do throws(SystemError) {
        guard let descriptor = try UnixSocket.accept(socket) else { return }
        onConnection?(descriptor)
      } catch {
        // The cause of a failure may last, and the socket stays readable until a client is accepted. Without a
        // pause, the loop would spin.
        guard refuseOne() else { return pauseAccepting() }
      }
    }
  }

  /// Closes the spare descriptor to accept and refuse one client. Returns false if there is no spare one, or if
  /// no client was accepted, for example because another process took the free descriptor.
  private func refuseOne() -> Bool {
    guard spare != nil else { return false }
    spare = nil
    defer { spare = Self.makeSpare() }
    guard let descriptor = try? UnixSocket.accept(socket) else { return false }
    // The bytes fit into the empty socket buffer, unless the client has disconnected.
    _ = try? refusalFrame.withUnsafeBytes { try descriptor.send($0) }
    return true
  }

  /// Starts a pause, in which the loop does not watch the socket.
  private func pauseAccepting() {
    guard let registration else { return }
    try? loop.modify(registration, interest: [])
    retryAt = SystemClock.monotonic() + Self.retryPause
  }

  /// Opens the spare descriptor; nil if it cannot be opened.
  private static func makeSpare() -> FileDescriptor? { try? FileDescriptor.open("/dev/null", .readOnly) }
}
