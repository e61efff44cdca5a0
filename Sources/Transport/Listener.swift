// Owns a listening socket: when it is watched, and what becomes of those who come while there is no descriptor for them.
// It must not know who may come in, nor what is said to whom is in.
// Invariant: a listener is never deaf for longer than `rest`, whatever has run out and whoever has it: the process, the
// system, or nobody who is connected here. It never spins either: what cannot be accepted is left alone for that long.
// Failure: SystemError where the socket cannot be made; afterwards nothing that could be told.
import Glibc
import Posix
import Time

/// A listening socket that accepts connections, and goes on doing so after descriptors had run out.
///
/// One descriptor is kept spare. When there is none left for somebody who comes, the spare one is given up for a moment:
/// the client is accepted, told to try later, and let go. Not Sendable: everything happens on the loop's thread.
public final class Listener {
  /// Takes a connection over.
  public var onConnection: ((consuming FileDescriptor) -> Void)?
  /// How long nobody is accepted after even the spare descriptor was of no use.
  private static let rest = TimeSpan.milliseconds(100)
  /// Connections that are accepted in one turn, so that a crowd at the door does not hold up those who are in.
  private static let crowd = 64
  private let loop: EventLoop
  private let socket: FileDescriptor
  /// The file of the socket; nil where it has none.
  private let path: String?
  /// What is said to somebody for whom there is no descriptor: one frame.
  private let farewell: [UInt8]
  private var spare: FileDescriptor?
  private var registration: Registration?
  private var restsUntil: MonotonicTime?

  /// Begins to listen. The caller holds the lock on what is served, so a socket that is there is a leftover.
  ///
  /// - Parameter farewell: a whole frame that sends somebody away for now.
  public convenience init(
    path: String, backlog: CInt, loop: EventLoop, farewell: [UInt8]
  ) throws(SystemError) {
    _ = try UnixSocket.removeStaleSocket(path: path)
    try self.init(
      socket: try UnixSocket.listen(path: path, backlog: backlog), path: path, loop: loop, farewell: farewell)
  }

  /// Begins to accept at a socket that listens already, without waiting.
  ///
  /// - Parameters:
  ///   - path: the socket's file, where it has one that goes with it.
  ///   - farewell: what is said to somebody who is sent away for now.
  public init(
    socket: consuming FileDescriptor, path: String? = nil, loop: EventLoop, farewell: [UInt8]
  ) throws(SystemError) {
    self.loop = loop
    self.path = path
    self.farewell = farewell
    self.socket = socket
    spare = Self.makeSpare()
    let fd = self.socket.rawValue
    registration = try loop.register(fd: fd, interest: .read) { [unowned self] _ in acceptAll() }
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// Takes nobody any more, and removes the socket's file.
  public func stop() {
    if let registration { loop.deregister(registration) }
    registration = nil
    restsUntil = nil
    if let path { UnixSocket.remove(path) }
  }

  /// How many clients there may be at the same time: at most half of the descriptors that this process may have, so that
  /// they never take those with which it starts workers, writes its logs and keeps its database.
  public static func room(for wanted: Int) -> Int {
    let allowed = (try? ResourceLimits.openFiles()) ?? UInt64(wanted) * 2
    return min(wanted, max(1, Int(clamping: allowed / 2)))
  }

  /// When ``keepTime(_:)`` wants to be called; nil while the socket is watched.
  public var nextDeadline: MonotonicTime? { restsUntil }

  /// Watches the socket again when it has rested.
  public func keepTime(_ now: MonotonicTime) {
    if let restsUntil, restsUntil <= now { watchAgain() }
  }

  /// A descriptor is free again.
  public func someoneLeft() { if restsUntil != nil { watchAgain() } }

  private func watchAgain() {
    guard let registration else { return }
    restsUntil = nil
    if spare == nil { spare = Self.makeSpare() }
    // It fails only for what is not registered.
    try? loop.modify(registration, interest: .read)
  }

  private func acceptAll() {
    for _ in 0..<Self.crowd {
      guard registration != nil else { return }
      do throws(SystemError) {
        guard let descriptor = try UnixSocket.accept(socket) else { return }
        onConnection?(descriptor)
      } catch {
        // Whatever it is, it is not over at once, and a listener stays ready until somebody was accepted.
        guard sendOneAway() else { return takeRest() }
      }
    }
  }

  /// Gives the spare descriptor up for a moment; false where there is none, or another process was faster.
  private func sendOneAway() -> Bool {
    guard spare != nil else { return false }
    spare = nil
    defer { spare = Self.makeSpare() }
    guard let descriptor = try? UnixSocket.accept(socket) else { return false }
    // Whoever came is not waited for: the frame fits into an empty buffer, or the client has gone.
    _ = try? farewell.withUnsafeBytes { try descriptor.send($0) }
    return true
  }

  private func takeRest() {
    guard let registration else { return }
    try? loop.modify(registration, interest: [])
    if !Kernel.makes("listenerStaysDeaf") { restsUntil = SystemClock.monotonic() + Self.rest }
  }

  private static func makeSpare() -> FileDescriptor? { try? FileDescriptor.open("/dev/null", .readOnly) }
}
