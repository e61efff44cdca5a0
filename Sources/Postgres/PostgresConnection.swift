// One connection to a PostgreSQL server, from the first packet to the last: connecting, the check of the server, the
// registration in the event loop, and the deadline. Segments in flight are in PostgresPipeline.
//
// Invariant: the handler receives `connected` at most once and `lost` at most once, and no call after `lost`. Every
// segment has its outcome before `lost`. No call waits for the server, because the library connects asynchronously and
// is then in non-blocking mode. The one exception is the name look-up of a host; see PostgresURL.
// Errors: PostgresError. To reconnect, the caller creates another connection.
import CPostgres
import Posix
import Time

/// Receiver of a connection's events.
public protocol PostgresHandler: AnyObject {
  /// The connection is ready, and the server was checked.
  func connected(_ connection: PostgresConnection, to server: PostgresServer)
  /// The connection could not be made, or has ended. The outcomes of all segments in flight were reported before.
  func lost(_ connection: PostgresConnection, _ error: PostgresError)
  /// A notification has arrived on a channel to which this connection listens.
  func notified(_ connection: PostgresConnection, channel: String, payload: String)
}

/// A connection to a PostgreSQL server on which several segments can be in flight (pipeline mode). Not Sendable: all
/// calls are made on the thread of the loop.
///
/// The caller wakes at ``nextDeadline`` and calls ``finishIteration()`` at the end of each loop iteration.
/// Source: https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
public final class PostgresConnection {
  /// Limits on segments in flight, and their timeout.
  public struct Limits: Sendable {
    /// Maximum number of segments in flight.
    public var segments = 16
    /// Maximum bytes of segments in flight. A larger segment is accepted if it is the only one in flight.
    public var bytes = 8 << 20
    /// Maximum bytes of all results of one segment.
    public var resultBytes = 32 << 20
    /// Timeout of the oldest segment, measured in the time during which the loop could receive. On a connection
    /// without notifications the timeout restarts whenever the socket is ready, because a long request or response
    /// takes time on a slow line.
    public var timeout: TimeSpan = .seconds(10)

    public init() {}
  }

  /// Progress of the connection.
  private enum Stage {
    case connecting
    case checkingServer
    case ready
    case over
  }

  /// Receiver of the events; a weak reference.
  public weak var handler: (any PostgresHandler)?
  /// True if segments are accepted.
  public var isReady: Bool { stage == .ready && pendingError == nil }
  /// Number of segments in flight.
  public var inFlightCount: Int { pipeline?.count ?? simulated?.count ?? 0 }
  /// Pid of the server process of this connection, as in `pg_stat_activity`; 0 without one.
  public var backend: Int32 { library.map { PQbackendPID($0) } ?? simulated?.backend ?? 0 }

  private let url: PostgresURL
  private let loop: EventLoop
  private let limits: Limits
  /// Listening time at which connecting started.
  private let beganAt: MonotonicTime
  private var stage = Stage.connecting
  /// Connection of the library; nil after the end, and in a simulation.
  private var library: OpaquePointer?
  private var pipeline: PostgresPipeline?
  /// Replacement for library and server in a simulation.
  private var simulated: SimulatedPipeline?
  private var registration: Registration?
  /// Error that ends the connection and was not reported to the handler yet.
  private var pendingError: PostgresError.Reason?
  /// Listening time at which the socket was last ready. Not updated after ``listen(to:_:)``, because received data may
  /// then be a notification instead of a response.
  private var receivedAt = MonotonicTime(nanoseconds: 0)
  /// True after the first call of ``listen(to:_:)``.
  private var isListening = false

  /// Starts connecting; the handler receives the result after this call, from the loop or ``finishIteration()``.
  public init(to url: PostgresURL, loop: EventLoop, limits: Limits = Limits()) {
    (self.url, self.loop, self.limits) = (url, loop, limits)
    loop.trackListening(until: SystemClock.monotonic())
    beganAt = loop.listeningTime.now
    if let server = Kernel.simulation as? any SimulatedPostgres {
      simulated = SimulatedPipeline(server.connect())
      watch([.read])
      return
    }
    let keywords = url.settings.map(\.keyword)
    let values = url.settings.map(\.value)
    library = Self.withCStrings(keywords) { keywords in
      Self.withCStrings(values) { values in PQconnectStartParams(keywords, values, 0) }
    }
    guard let library else {
      pendingError = .unreachable("out of memory")
      return
    }
    postgres_leave_out_notices(library)
    if postgres_is_bad(library) != 0 { pendingError = connectError(library) } else { watch([.write]) }
  }

  deinit {
    if let registration { loop.deregister(registration) }
    if let library { PQfinish(library) }
    simulated?.close()
  }

  // MARK: - Sending

  /// Sends a segment, which is one transaction: it takes effect as a whole or not at all. If the caller opens a
  /// transaction with BEGIN, the segments up to its end are one transaction. The outcomes of several segments are
  /// reported in order, after this call.
  ///
  /// - Throws: `full` if the limits are reached; `closed` if the connection is not ready yet or has ended, or if its
  ///   loss was found and is not reported to the handler yet. In all these cases the segment was not sent.
  public func send(
    _ segment: [PostgresCall], _ finish: @escaping (PostgresOutcome) -> Void
  ) throws(PostgresError) {
    precondition(!segment.isEmpty, "a segment has a call")
    guard isReady else { throw error(.closed) }
    let size = PostgresPipeline.size(of: segment)
    // A segment larger than the limit is accepted if nothing else is in flight.
    guard inFlightCount < limits.segments, inFlightCount == 0 || (pipeline?.bytes ?? 0) + size <= limits.bytes
    else {
      throw error(.full)
    }
    submit(segment, size, finish)
  }

  /// Subscribes to the notifications of a channel.
  ///
  /// - Throws: the errors of ``send(_:_:)``.
  public func listen(
    to channel: String, _ finish: @escaping (PostgresOutcome) -> Void = { _ in }
  ) throws(PostgresError) {
    isListening = true
    try send([.once("LISTEN \(PostgresStatement.quoted(channel))")], finish)
  }

  /// Passes a segment to the pipeline, or to the simulated server, without a check of the limits.
  private func submit(
    _ segment: [PostgresCall], _ size: Int, _ finish: @escaping (PostgresOutcome) -> Void
  ) {
    loop.trackListening(until: SystemClock.monotonic())
    if let simulated { return simulated.send(segment, at: loop.listeningTime.now, finish) }
    guard let pipeline else { preconditionFailure("a connected state has a pipeline") }
    pendingError = pendingError ?? pipeline.send(segment, size: size, at: loop.listeningTime.now, finish)
    flush()
  }

  /// Closes the connection. Segments in flight get their outcome during this call: `refused` if the server has already
  /// reported an error of the segment, `unknown` if it has not. The handler is not called.
  public func close() {
    handler = nil
    end(.closed)
  }

  // MARK: - Event loop

  /// The latest moment for the next call of ``finishIteration()``; nil if no deadline is set.
  public var nextDeadline: MonotonicTime? {
    guard stage != .over else { return nil }
    if pendingError != nil { return loop.wokeAt }
    return deadline.map { loop.wakeTime(for: $0) }
  }

  /// Deadline measured in the time during which the loop could receive, so that a busy loop reads the socket before
  /// it reports a timeout.
  private var deadline: MonotonicTime? {
    switch stage {
    case .connecting, .checkingServer: beganAt + .seconds(Int64(url.connectSeconds))
    case .ready: (pipeline?.oldest ?? simulated?.oldest).map { max($0, receivedAt) + limits.timeout }
    case .over: nil
    }
  }

  /// Ends the connection and notifies the handler, if the deadline has passed or if an earlier call, such as
  /// ``send(_:_:)``, has found an error.
  public func finishIteration() {
    loop.trackListening(until: SystemClock.monotonic())
    if let pendingError { return end(pendingError) }
    guard let deadline, loop.listeningTime.now >= deadline else { return }
    let timeout = stage == .ready ? limits.timeout.milliseconds : Int64(url.connectSeconds) * 1000
    end(.noReply(milliseconds: timeout))
  }

  /// Registers the socket in the loop with this interest, in place of an earlier registration.
  private func watch(_ interest: Interest) {
    guard let descriptor = library.map({ PQsocket($0) }) ?? simulated?.descriptor else { return }
    if let registration { loop.deregister(registration) }
    registration = nil
    do throws(SystemError) {
      registration = try loop.register(fd: descriptor, interest: interest) { [weak self] _ in
        self?.handleReadiness()
      }
    } catch { pendingError = pendingError ?? .lost("\(error)") }
  }

  /// Called by the loop when the socket is readable or writable.
  private func handleReadiness() {
    if let simulated { return receive(simulated) }
    switch stage {
    case .connecting: continueConnecting()
    case .checkingServer, .ready: receive()
    case .over: break
    }
  }

  /// Takes the next step of connecting, and then waits for the socket or checks the server.
  private func continueConnecting() {
    guard let library else { return }
    // The library may close its socket and open another one with the same number.
    if let registration { loop.deregister(registration) }
    registration = nil
    switch UInt32(postgres_continue(library)) {
    case POSTGRES_CONNECTED.rawValue: checkServer(library)
    case POSTGRES_WANTS_TO_READ.rawValue: watch([.read])
    case POSTGRES_WANTS_TO_WRITE.rawValue: watch([.write])
    default: end(connectError(library))
    }
    if let pendingError { end(pendingError) }
  }

  /// Reason of a failure to connect, from the message of the library.
  private func connectError(_ library: OpaquePointer) -> PostgresError.Reason {
    PostgresError.whileConnecting(
      message: PostgresError.oneLine(String(cString: PQerrorMessage(library))),
      needsPassword: PQconnectionNeedsPassword(library) != 0)
  }

  /// Starts pipeline mode, applies the settings of the session, and checks the server.
  private func checkServer(_ library: OpaquePointer) {
    guard PQsetnonblocking(library, 1) == 0, PQenterPipelineMode(library) == 1 else {
      return end(.unexpectedReply("it has no pipeline mode"))
    }
    stage = .checkingServer
    pipeline = PostgresPipeline(library, url: url.description, resultLimit: limits.resultBytes)
    watch([.read])
    let backendPID = PQbackendPID(library)
    submit([url.session.call, PostgresServer.checkQuery], 0) { [weak self] outcome in
      guard let self, self.stage == .checkingServer else { return }
      switch outcome {
      case .done(let results):
        switch PostgresServer.read(results.last, backend: backendPID) {
        case .success(let server):
          self.stage = .ready
          self.handler?.connected(self, to: server)
        case .failure(let refusal): self.pendingError = refusal.reason
        }
      case .refused(let error), .unknown(let error): self.pendingError = error.reason
      }
    }
  }

  /// Reads available data, reports the outcomes, and writes pending data.
  private func receive() {
    guard let library, let pipeline else { return }
    let isWell = PQconsumeInput(library) == 1
    if !isListening { receivedAt = loop.listeningTime.now }
    let found = pipeline.drain()
    guard stage != .over else { return }
    if let reason = pendingError ?? found { return end(reason) }
    receiveNotifications()
    guard stage != .over else { return }
    guard isWell, postgres_is_bad(library) == 0 else {
      return end(.lost(PostgresError.oneLine(String(cString: PQerrorMessage(library)))))
    }
    flush()
    if let pendingError { end(pendingError) }
  }

  /// Passes received notifications to the handler.
  private func receiveNotifications() {
    while stage != .over, let library, let notification = PQnotifies(library) {
      let channel = notification.pointee.relname.map { String(cString: $0) } ?? ""
      let payload = notification.pointee.extra.map { String(cString: $0) } ?? ""
      PQfreemem(notification)
      handler?.notified(self, channel: channel, payload: payload)
    }
  }

  /// Handles events of a simulated server, which needs no check.
  private func receive(_ simulated: SimulatedPipeline) {
    while stage != .over, let event = simulated.receive() {
      switch event {
      case .connected(let server):
        stage = .ready
        handler?.connected(self, to: server)
      case .notified(let channel, let payload): handler?.notified(self, channel: channel, payload: payload)
      case .lost(let message): end(.lost(message))
      }
    }
    if let pendingError { end(pendingError) }
  }

  /// Writes pending data, and registers for writability if some is left.
  private func flush() {
    guard let library, let registration else { return }
    let left = PQflush(library)
    if left < 0 {
      pendingError = pendingError ?? .lost(PostgresError.oneLine(String(cString: PQerrorMessage(library))))
    }
    do throws(SystemError) {
      try loop.modify(registration, interest: left > 0 ? [.read, .write] : [.read])
    } catch { pendingError = pendingError ?? .lost("\(error)") }
  }

  // MARK: - The end

  /// Error with this reason and the address of this connection.
  private func error(_ reason: PostgresError.Reason) -> PostgresError {
    PostgresError(reason, at: url.description)
  }

  /// Ends the connection: reports the outcomes of segments in flight, and then notifies the handler.
  private func end(_ reason: PostgresError.Reason) {
    guard stage != .over else { return }
    stage = .over
    if let registration { loop.deregister(registration) }
    registration = nil
    let error = error(reason)
    pipeline?.abandon(error)
    pipeline = nil
    simulated?.abandon(error)
    simulated = nil
    // In non-blocking mode the library sends the Terminate message only if the socket accepts it.
    if let library { PQfinish(library) }
    library = nil
    handler?.lost(self, error)
  }

  /// Calls `body` with the strings as an array of C strings that ends with a null pointer.
  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    var bytes: [CChar] = []
    var starts: [Int] = []
    for string in strings {
      starts.append(bytes.count)
      bytes.append(contentsOf: string.utf8CString)
    }
    return bytes.withUnsafeBufferPointer { buffer in
      let pointers = starts.map { start in buffer.baseAddress.map { $0 + start } } + [nil]
      return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
  }
}
