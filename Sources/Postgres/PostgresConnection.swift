// Owns one connection to a PostgreSQL server from the first packet to the last: connecting, the greeting, what is watched for
// in the event loop, and every deadline. What is under way on it is PostgresPipeline's.
//
// Invariant: the handler is told `connected` at most once and `lost` at most once, and nothing after that; before `lost` every
// segment has its outcome. No call waits: the library is in its non-blocking mode, with the one exception of PostgresPlace, a
// host that is given by name.
// Failure: PostgresError. Connecting again is the caller's business, with another connection.
import CPostgres
import Posix
import Time

/// Who hears what becomes of a connection. Called from within the loop or from ``PostgresConnection/endTurn()``.
public protocol PostgresHandler: AnyObject {
  /// The server has been looked at and is good.
  func connected(_ connection: PostgresConnection, to server: PostgresServer)
  /// It could not be made, or has ended. Whatever was under way has been told its outcome before.
  func lost(_ connection: PostgresConnection, _ error: PostgresError)
  /// Somebody has sent a notification to a channel that this connection listens to.
  func notified(_ connection: PostgresConnection, channel: String, payload: String)
}

/// A connection in pipeline mode. Not Sendable: everything is called from the thread that runs the loop.
///
/// The caller wakes by ``nextDeadline`` and calls ``endTurn()`` at the end of each turn of the loop.
/// Source: https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
public final class PostgresConnection {
  /// How much may be under way, and how long it is waited for.
  public struct Limits: Sendable {
    /// Segments that were sent and not answered.
    public var segments = 16
    /// Bytes of segments that were sent and not answered.
    public var bytes = 8 << 20
    /// Bytes of all results of one segment.
    public var resultBytes = 32 << 20
    /// How long the server may take for the oldest segment, in the time that the loop has attended. On a connection that hears no
    /// notifications it is counted anew while an answer is coming, which takes its time on a slow line.
    public var patience: TimeSpan = .seconds(10)

    public init() {}
  }

  private enum Stage {
    case connecting
    case greeting
    case ready
    case over
  }

  /// Who is told; not kept alive.
  public weak var handler: (any PostgresHandler)?
  /// Whether segments are taken.
  public var isReady: Bool { stage == .ready && trouble == nil }
  /// How many segments are under way.
  public var underWay: Int { pipeline?.count ?? played?.count ?? 0 }
  /// The server's process for this connection, as `pg_stat_activity` shows it; 0 where there is none.
  public var backend: Int32 { library.map { PQbackendPID($0) } ?? played?.backend ?? 0 }

  private let place: PostgresPlace
  private let loop: EventLoop
  private let limits: Limits
  private let beganAt: MonotonicTime
  private var stage = Stage.connecting
  private var library: OpaquePointer?
  private var pipeline: PostgresPipeline?
  /// What stands for library and server, where a simulation plays them.
  private var played: PlayedPipeline?
  private var registration: Registration?
  /// What has ended the connection and was not told yet, because it was found within a call of the caller's.
  private var trouble: PostgresError.Reason?
  /// When something came that can only be an answer.
  private var heardAt = MonotonicTime(nanoseconds: 0)
  private var isListening = false

  /// Begins to connect; the handler hears what became of it from a later turn of the loop.
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
      trouble = .unreachable("there is no memory")
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

  // MARK: - Asking

  /// Sends a segment, which is one transaction: it takes effect as a whole or not at all. The outcomes of several segments
  /// are told in their order, from a later turn of the loop.
  ///
  /// - Throws: `full` where the limits leave no room for it now, `closed` where there is no connection, or it was just found
  ///   that it is gone and the handler is told so at the end of this turn. Then it was not sent.
  public func send(
    _ segment: [PostgresCall], _ finish: @escaping (PostgresOutcome) -> Void
  ) throws(PostgresError) {
    precondition(!segment.isEmpty, "a segment has a call")
    guard isReady else { throw error(.closed) }
    let size = PostgresPipeline.size(of: segment)
    // One that is too large for the limit all by itself is let through when nothing else is under way.
    guard underWay < limits.segments, underWay == 0 || (pipeline?.bytes ?? 0) + size <= limits.bytes else {
      throw error(.full)
    }
    pass(segment, size, finish)
  }

  /// Hears the notifications that are sent to a channel from now on.
  ///
  /// - Throws: as ``send(_:_:)`` does.
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
    guard let pipeline else { preconditionFailure("there is a pipeline behind the connecting") }
    trouble = trouble ?? pipeline.send(segment, size: size, at: loop.attended.now, finish)
    flush()
  }

  /// Ends the connection. What is under way has an unknown outcome and is told so now; the handler is told nothing.
  public func close() {
    handler = nil
    end(.closed)
  }

  // MARK: - The turn of the loop

  /// When to call ``endTurn()`` at the latest.
  public var nextDeadline: MonotonicTime? {
    guard stage != .over else { return nil }
    if trouble != nil { return loop.wokeAt }
    return deadline.map { loop.wake(for: $0) }
  }

  /// In the time that was attended: whoever did something else for long listens before it despairs.
  private var deadline: MonotonicTime? {
    switch stage {
    case .connecting, .greeting: beganAt + .seconds(Int64(place.connectSeconds))
    case .ready: (pipeline?.oldest ?? played?.oldest).map { max($0, heardAt) + limits.patience }
    case .over: nil
    }
  }

  /// Looks at the deadlines, and tells what was found wrong within a call of the caller's.
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
    // The library may close its socket and open another of the same number.
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

  /// Reads what is there, tells what is known by it, and writes what is left.
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

  /// Hears a server that is played by a simulation, which needs no greeting.
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

  /// Writes what the kernel takes, and watches for room where that is not all.
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
    // In its non-blocking mode the library says good-bye only as far as there is room.
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
