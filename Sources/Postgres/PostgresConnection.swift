// One connection to a PostgreSQL server, from the first packet to the last: connecting, the check of the server, the
// registration in the event loop, and the deadline. Segments in flight are in PostgresPipeline.
//
// Invariant: the handler receives `connected` at most once and `lost` at most once, and no call after `lost`. Every
// segment has its outcome before `lost`. No call waits for the server, because the library connects asynchronously and
// is then in non-blocking mode. The one exception is the name look-up of a host; see PostgresPlace.
// Errors: PostgresError. To reconnect, the caller creates another connection.
import CPostgres
import Posix
import Time

/// Receiver of a connection's events. The loop and ``PostgresConnection/endTurn()`` call its methods.
public protocol PostgresHandler: AnyObject {
  /// The connection is ready, and the server was checked.
  func connected(_ connection: PostgresConnection, to server: PostgresServer)
  /// The connection could not be made, or has ended. The outcomes of all segments in flight were reported before.
  func lost(_ connection: PostgresConnection, _ error: PostgresError)
  /// A notification has arrived on a channel to which this connection listens.
  func notified(_ connection: PostgresConnection, channel: String, payload: String)
}

/// A connection in pipeline mode. Not Sendable: all calls are made on the thread of the loop.
///
/// The caller wakes at ``nextDeadline`` and calls ``endTurn()`` at the end of each loop iteration.
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
    /// without notifications the timeout restarts whenever data arrives, because a long response takes time on a slow
    /// line.
    public var patience: TimeSpan = .seconds(10)

    public init() {}
  }

  private enum Stage {
    case connecting
    case greeting
    case ready
    case over
  }

  /// Receiver of the events; a weak reference.
  public weak var handler: (any PostgresHandler)?
  /// True if segments are accepted.
  public var isReady: Bool { stage == .ready && trouble == nil }
  /// Number of segments in flight.
  public var underWay: Int { pipeline?.count ?? played?.count ?? 0 }
  /// Pid of the server process of this connection, as in `pg_stat_activity`; 0 without one.
  public var backend: Int32 { library.map { PQbackendPID($0) } ?? played?.backend ?? 0 }

  private let place: PostgresPlace
  private let loop: EventLoop
  private let limits: Limits
  private let beganAt: MonotonicTime
  private var stage = Stage.connecting
  private var library: OpaquePointer?
  private var pipeline: PostgresPipeline?
  /// Replacement for library and server in a simulation.
  private var played: PlayedPipeline?
  private var registration: Registration?
  /// Error that has ended the connection and was not reported yet, because it was found outside the handler of the
  /// loop, for example by ``send(_:_:)``.
  private var trouble: PostgresError.Reason?
  /// Time at which the last data arrived that can only be a response.
  private var heardAt = MonotonicTime(nanoseconds: 0)
  private var isListening = false

  /// Starts connecting; the handler receives the result after this call, from the loop or ``endTurn()``.
  public init(to place: PostgresPlace, loop: EventLoop, limits: Limits = Limits()) {
    (self.place, self.loop, self.limits) = (place, loop, limits)
    loop.attend(until: SystemClock.monotonic())
    beganAt = loop.attended.now
    if let server = Kernel.simulation as? any PostgresPlayer {
      played = PlayedPipeline(server.connect())
      watch([.read])
      return
    }
    let keywords = place.settings.map(\.keyword)
    let values = place.settings.map(\.value)
    library = Self.withCStrings(keywords) { keywords in
      Self.withCStrings(values) { values in PQconnectStartParams(keywords, values, 0) }
    }
    guard let library else {
      trouble = .unreachable("out of memory")
      return
    }
    postgres_leave_out_notices(library)
    if postgres_is_bad(library) != 0 { trouble = connectTrouble(library) } else { watch([.write]) }
  }

  deinit {
    if let registration { loop.deregister(registration) }
    if let library { PQfinish(library) }
    played?.close()
  }

  // MARK: - Sending

  /// Sends a segment, which is one transaction: it takes effect as a whole or not at all. The only exception is a
  /// segment with transaction commands such as BEGIN. The outcomes of several segments are reported in order, after
  /// this call.
  ///
  /// - Throws: `full` if the limits are reached; `closed` if the connection is not ready yet or has ended, or if its
  ///   loss was just found and is reported to the handler by ``endTurn()``. In all these cases the segment was not
  ///   sent.
  public func send(
    _ segment: [PostgresCall], _ finish: @escaping (PostgresOutcome) -> Void
  ) throws(PostgresError) {
    precondition(!segment.isEmpty, "a segment has a call")
    guard isReady else { throw error(.closed) }
    let size = PostgresPipeline.size(of: segment)
    // A segment larger than the limit is accepted if nothing else is in flight.
    guard underWay < limits.segments, underWay == 0 || (pipeline?.bytes ?? 0) + size <= limits.bytes else {
      throw error(.full)
    }
    pass(segment, size, finish)
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

  private func pass(
    _ segment: [PostgresCall], _ size: Int, _ finish: @escaping (PostgresOutcome) -> Void
  ) {
    loop.attend(until: SystemClock.monotonic())
    if let played { return played.send(segment, at: loop.attended.now, finish) }
    guard let pipeline else { preconditionFailure("a connected state has a pipeline") }
    trouble = trouble ?? pipeline.send(segment, size: size, at: loop.attended.now, finish)
    flush()
  }

  /// Closes the connection. Segments in flight get their outcome during this call: `refused` if the server has already
  /// reported an error of the segment, `unknown` if it has not. The handler is not called.
  public func close() {
    handler = nil
    end(.closed)
  }

  // MARK: - Event loop

  /// The latest moment for the next call of ``endTurn()``; nil if no deadline is set.
  public var nextDeadline: MonotonicTime? {
    guard stage != .over else { return nil }
    if trouble != nil { return loop.wokeAt }
    return deadline.map { loop.wake(for: $0) }
  }

  /// Deadline measured in the time during which the loop could receive, so that a busy loop reads the socket before
  /// it reports a timeout.
  private var deadline: MonotonicTime? {
    switch stage {
    case .connecting, .greeting: beganAt + .seconds(Int64(place.connectSeconds))
    case .ready: (pipeline?.oldest ?? played?.oldest).map { max($0, heardAt) + limits.patience }
    case .over: nil
    }
  }

  /// Ends the connection and notifies the handler, if the deadline has passed or if an earlier call, such as
  /// ``send(_:_:)``, has found an error. Does nothing in all other cases.
  public func endTurn() {
    loop.attend(until: SystemClock.monotonic())
    if let trouble { return end(trouble) }
    guard let deadline, loop.attended.now >= deadline else { return }
    let patience = stage == .ready ? limits.patience.milliseconds : Int64(place.connectSeconds) * 1000
    end(.silent(milliseconds: patience))
  }

  private func watch(_ interest: Interest) {
    guard let descriptor = library.map({ PQsocket($0) }) ?? played?.descriptor else { return }
    if let registration { loop.deregister(registration) }
    registration = nil
    do throws(SystemError) {
      registration = try loop.register(fd: descriptor, interest: interest) { [weak self] _ in
        self?.turn()
      }
    } catch { trouble = trouble ?? .lost("\(error)") }
  }

  private func turn() {
    if let played { return hear(played) }
    switch stage {
    case .connecting: goOn()
    case .greeting, .ready: hear()
    case .over: break
    }
  }

  private func goOn() {
    guard let library else { return }
    // The library may close its socket and open another one with the same number.
    if let registration { loop.deregister(registration) }
    registration = nil
    switch UInt32(postgres_go_on(library)) {
    case POSTGRES_CONNECTED.rawValue: greet(library)
    case POSTGRES_WANTS_TO_READ.rawValue: watch([.read])
    case POSTGRES_WANTS_TO_WRITE.rawValue: watch([.write])
    default: end(connectTrouble(library))
    }
    if let trouble { end(trouble) }
  }

  private func connectTrouble(_ library: OpaquePointer) -> PostgresError.Reason {
    PostgresError.whileConnecting(
      words: PostgresError.oneLine(String(cString: PQerrorMessage(library))),
      needsPassword: PQconnectionNeedsPassword(library) != 0)
  }

  private func greet(_ library: OpaquePointer) {
    guard PQsetnonblocking(library, 1) == 0, PQenterPipelineMode(library) == 1 else {
      return end(.strange("it has no pipeline mode"))
    }
    stage = .greeting
    pipeline = PostgresPipeline(library, place: place.description, resultLimit: limits.resultBytes)
    watch([.read])
    let told = PQbackendPID(library)
    pass([place.session.call, PostgresServer.question], 0) { [weak self] outcome in
      guard let self, self.stage == .greeting else { return }
      switch outcome {
      case .done(let results):
        switch PostgresServer.read(results.last, backend: told) {
        case .success(let server):
          self.stage = .ready
          self.handler?.connected(self, to: server)
        case .failure(let refusal): self.trouble = refusal.reason
        }
      case .refused(let error), .unknown(let error): self.trouble = error.reason
      }
    }
  }

  /// Reads available data, reports the outcomes, and writes pending data.
  private func hear() {
    guard let library, let pipeline else { return }
    let isWell = PQconsumeInput(library) == 1
    if !isListening { heardAt = loop.attended.now }
    let found = pipeline.drain()
    guard stage != .over else { return }
    if let reason = trouble ?? found { return end(reason) }
    hearNotifications()
    guard stage != .over else { return }
    guard isWell, postgres_is_bad(library) == 0 else {
      return end(.lost(PostgresError.oneLine(String(cString: PQerrorMessage(library)))))
    }
    flush()
    if let trouble { end(trouble) }
  }

  private func hearNotifications() {
    while stage != .over, let library, let notification = PQnotifies(library) {
      let channel = notification.pointee.relname.map { String(cString: $0) } ?? ""
      let payload = notification.pointee.extra.map { String(cString: $0) } ?? ""
      PQfreemem(notification)
      handler?.notified(self, channel: channel, payload: payload)
    }
  }

  /// Handles events of a simulated server, which needs no check.
  private func hear(_ played: PlayedPipeline) {
    while stage != .over, let word = played.hear() {
      switch word {
      case .connected(let server):
        stage = .ready
        handler?.connected(self, to: server)
      case .notified(let channel, let payload): handler?.notified(self, channel: channel, payload: payload)
      case .lost(let words): end(.lost(words))
      }
    }
    if let trouble { end(trouble) }
  }

  /// Writes pending data, and registers for writability if some is left.
  private func flush() {
    guard let library, let registration else { return }
    let left = PQflush(library)
    if left < 0 {
      trouble = trouble ?? .lost(PostgresError.oneLine(String(cString: PQerrorMessage(library))))
    }
    do throws(SystemError) {
      try loop.modify(registration, interest: left > 0 ? [.read, .write] : [.read])
    } catch { trouble = trouble ?? .lost("\(error)") }
  }

  // MARK: - The end

  private func error(_ reason: PostgresError.Reason) -> PostgresError {
    PostgresError(reason, at: place.description)
  }

  private func end(_ reason: PostgresError.Reason) {
    guard stage != .over else { return }
    stage = .over
    if let registration { loop.deregister(registration) }
    registration = nil
    let error = error(reason)
    pipeline?.abandon(error)
    pipeline = nil
    played?.abandon(error)
    played = nil
    // In non-blocking mode the library sends the Terminate message only if the socket accepts it.
    if let library { PQfinish(library) }
    library = nil
    handler?.lost(self, error)
  }

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
