// One link to the shared database: a connection that is replaced after each loss, with growing pauses. Each new
// connection tries a different host, or the host of another open connection of the branch. The pauses stay short at
// first, because a standby may replace a lost server, and all customers of the branch wait for the new server. A silent
// host takes the whole timeout for connecting. So the link abandons a slow host if another connection of the branch has
// reached the server at a different host.
// Invariant: the link is open only after the server processes of its earlier connections have exited. So a
// request sent on an earlier connection has taken effect by then, or will have no effect.
import Posix
import Postgres
import Time

/// Connection of a branch to its server, replaced after each loss.
final class ReconnectingConnection: PostgresHandler {
  /// Called when the connection is open: unknown outcomes must be queried, and requests may be sent.
  var opened: () -> Void = {}
  /// Called after a loss, a failure to connect or a refusal, after the outcomes of all sent requests were reported.
  var lost: (PostgresError) -> Void = { _ in }
  /// Called for each notification.
  var notified: (_ payload: String) -> Void = { _ in }

  /// True if the connection accepts requests.
  var isOpen: Bool { stage == .open && connection?.isReady == true }
  /// Number of requests in flight.
  var inFlightCount: Int { isOpen ? connection?.inFlightCount ?? 0 : 0 }
  /// Pid of the server process.
  var backend: Int32 { connection?.backend ?? 0 }
  /// Properties of the present or last server; nil before the first connection.
  private(set) var server: PostgresServer?
  /// Identity of the present or last server; nil before the first connection.
  private(set) var identity: ServerIdentity?
  /// Decides about a new connection before it is used.
  var decide: (ReconnectingConnection, ServerIdentity) -> ConnectionDecision = { _, _ in .open }

  /// State of the connection.
  private enum Stage {
    case waiting
    case connecting
    /// The branch has not joined yet, so the identity of its database is unknown.
    case held
    /// Earlier server processes are being terminated.
    case ending
    case open
    case closed
  }

  /// Pause after the first loss; each further one doubles it.
  private static let firstPause = TimeSpan.milliseconds(20)
  /// Maximum pause during ``earlyOutage``.
  private static let maxEarlyPause = TimeSpan.milliseconds(150)
  /// Maximum pause after ``earlyOutage``.
  private static let maxPause = TimeSpan.seconds(1)
  /// Time from the start of an outage in which the pauses stay short.
  private static let earlyOutage = TimeSpan.seconds(60)
  /// Minimum pause of ``retry(after:)``.
  private static let pauseAfterRefusal = TimeSpan.milliseconds(250)
  /// Time limit for connecting to one of several hosts, if another connection of the branch is open at another host.
  private static let timeout = TimeSpan.milliseconds(300)

  /// Index of the host of another open connection of the branch; nil for none.
  var hostOfOpenConnection: () -> Int? = { nil }
  /// Index of the host that the latest connection tries first.
  private(set) var host: Int

  private let url: PostgresURL
  private let loop: EventLoop
  private let limits: PostgresConnection.Limits
  /// Channel of notifications; nil for none.
  private let channel: String?
  private var connection: PostgresConnection?
  private var stage = Stage.waiting
  /// Time at which the link last started to connect.
  private var attemptAt = MonotonicTime(nanoseconds: 0)
  /// Start of the outage; nil while a connection is open.
  private var outageSince: MonotonicTime?
  /// Length of the next pause.
  private var pause = ReconnectingConnection.firstPause
  /// Time of the next attempt to connect, or of the next check of earlier server processes.
  private var nextAttempt: MonotonicTime
  /// Server processes by pid and start time, the present one last.
  private var processes: [(pid: Int64, began: Int64)] = []

  /// Creates a link that connects in the next ``finishIteration()``.
  ///
  /// - Parameter host: index of the first host to try.
  init(
    to url: PostgresURL, loop: EventLoop, limits: PostgresConnection.Limits,
    listeningTo channel: String? = nil, beginningAt host: Int = 0
  ) {
    (self.url, self.loop, self.limits, self.channel) = (url, loop, limits, channel)
    self.host = host - 1
    nextAttempt = SystemClock.monotonic()
  }

  /// Sends a request; returns false, without sending, if the connection accepts no request now.
  func send<Answer>(
    _ request: PostgresRequest<Answer>, _ finish: @escaping (PostgresAnswer<Answer>) -> Void
  ) -> Bool {
    guard isOpen, let connection else { return false }
    do throws(PostgresError) { try connection.send(request, finish) } catch { return false }
    return true
  }

  /// Migrates the database of this connection to the present schema version.
  func prepare(_ finish: @escaping SchemaMigration.Completion) {
    if let connection { SchemaMigration.begin(on: connection, finish) }
  }

  /// Closes the connection and reconnects without a pause.
  func reconnect() {
    guard stage != .closed else { return }
    dropConnection()
    pause = Self.firstPause
    nextAttempt = SystemClock.monotonic()
  }

  /// Closes the connection and reconnects after a pause.
  ///
  /// - Parameter error: the refusal to report; nil for none. A refusal because the database accepts no writes is not
  ///   reported by this method.
  func retry(after error: PostgresError?) {
    guard stage != .closed else { return }
    dropConnection()
    pauseBeforeNext()
    nextAttempt = max(nextAttempt, SystemClock.monotonic() + Self.pauseAfterRefusal)
    if let error, !error.takesNoChanges { lost(error) }
  }

  /// Ends the pause before the next attempt to connect.
  func retryNow() {
    guard stage == .waiting else { return }
    pause = Self.firstPause
    nextAttempt = SystemClock.monotonic()
  }

  /// True if the present or last connection is at this server.
  func isAtServer(of other: ServerIdentity?) -> Bool {
    identity.map { own in other.map { (own.system, own.timeline) == ($0.system, $0.timeline) } ?? false }
      ?? false
  }

  /// Reconnects if the connection is at any other server than this one, to which the branch moves after a failover.
  func leave(serversOtherThan server: ServerIdentity) {
    guard stage == .open || stage == .ending || stage == .held, !isAtServer(of: server) else { return }
    reconnect()
  }

  /// Delays connecting until ``begin(at:)``.
  func suspend() { nextAttempt = MonotonicTime(nanoseconds: .max) }

  /// Starts connecting, with this host first, after ``suspend()``.
  func begin(at host: Int) {
    self.host = host &- 1
    nextAttempt = SystemClock.monotonic()
  }

  /// Decides again, after the branch has joined, about a connection that was kept unused before.
  func recheckIdentity() {
    guard stage == .held, let identity else { return }
    queryDatabaseID(identity)
  }

  /// Closes the connection permanently.
  func close() {
    stage = .closed
    connection?.close()
    connection = nil
  }

  /// Closes the present connection, and waits for the time of the next attempt.
  private func dropConnection() {
    connection?.close()
    connection = nil
    stage = .waiting
  }

  // MARK: - Event loop

  var nextDeadline: MonotonicTime? {
    switch stage {
    case .waiting: nextAttempt
    case .ending: .earlier(nextAttempt, connection?.nextDeadline)
    case .connecting: .earliest(connection?.nextDeadline, isElsewhere ? attemptAt + Self.timeout : nil)
    case .open, .held: connection?.nextDeadline
    case .closed: nil
    }
  }

  /// True if another connection has reached the server at a different host than the one being tried.
  private var isElsewhere: Bool {
    guard url.hostCount > 1, let otherHost = hostOfOpenConnection() else { return false }
    return (otherHost - host) % url.hostCount != 0
  }

  /// Runs the connection, and connects again if this is due.
  func finishIteration() {
    connection?.finishIteration()
    if stage == .connecting, isElsewhere, SystemClock.monotonic() >= attemptAt + Self.timeout {
      reconnect()
    }
    guard SystemClock.monotonic() >= nextAttempt else { return }
    if stage == .waiting { connect() }
    if stage == .ending { terminateFormer() }
  }

  /// Starts connecting to the host of another open connection, or else to the next host.
  private func connect() {
    stage = .connecting
    attemptAt = SystemClock.monotonic()
    host = hostOfOpenConnection() ?? (host &+ 1)
    let connection = PostgresConnection(to: url.beginning(atHost: host), loop: loop, limits: limits)
    connection.handler = self
    self.connection = connection
  }

  /// Queries the identity of the server, and then decides about the connection.
  func connected(_ connection: PostgresConnection, to server: PostgresServer) {
    self.server = server
    ask(ServerProbe.request) { link, found in
      link.processes.append((Int64(connection.backend), found.beganAt))
      guard found.hasBankSchema else { return link.admit(found.identity) }
      link.queryDatabaseID(found.identity)
    }
  }

  /// Queries the random number that identifies the database, and then decides about the connection.
  private func queryDatabaseID(_ identity: ServerIdentity) {
    ask(ServerProbe.number) { link, bankID in
      link.admit(ServerIdentity(system: identity.system, timeline: identity.timeline, bankID: bankID))
    }
  }

  /// Uses the connection, keeps it unused or closes it, as decided for this identity.
  private func admit(_ identity: ServerIdentity) {
    self.identity = identity
    switch decide(self, identity) {
    case .open, .openAlone:
      stage = .ending
      if let channel { try? connection?.listen(to: channel) }
      terminateFormer()
    case .wait: stage = .held
    case .refuse(let reason):
      // This code runs within a callback of the connection. `ask` holds a reference until the callback returns.
      pauseBeforeNext()
      dropConnection()
      lost(PostgresError(reason, at: url.description))
    }
  }

  /// Terminates the server processes of the link's earlier connections. Opens the link when all have exited, else
  /// checks again.
  private func terminateFormer() {
    nextAttempt = MonotonicTime(nanoseconds: .max)
    let former = processes.dropLast()
    guard !former.isEmpty, !Mutant.opensBesideFormerSession.isActive else { return open() }
    let call = PostgresStatements.endFormer(.integers(former.map(\.pid)), .integers(former.map(\.began)))
    ask(PostgresRequest(segment: [call]) { $0.first?.integer(0, 0) }) { link, left in
      if left == 0 {
        link.processes.removeFirst(link.processes.count - 1)
        link.open()
      } else {
        link.nextAttempt = SystemClock.monotonic() + .milliseconds(10)
      }
    }
  }

  /// Opens the link for requests.
  private func open() {
    stage = .open
    pause = Self.firstPause
    outageSince = nil
    opened()
  }

  /// Sends a query on the present connection. A failure closes it.
  private func ask<Answer>(
    _ request: PostgresRequest<Answer>, _ next: @escaping (ReconnectingConnection, Answer) -> Void
  ) {
    guard let connection else { return }
    let asked = connection
    try? connection.send(request) { [weak self] answer in
      guard let self, self.connection === asked else { return }
      if case .done(let value) = answer { return next(self, value) }
      self.pauseBeforeNext()
      // A connection on which this query is refused, or answered with rows of an unexpected shape, is unusable. After
      // a loss, the connection itself reports it.
      guard case .refused(let error) = answer else {
        if case .unknown(let error) = answer, case .unexpectedReply = error.reason { self.abandon(error) }
        return
      }
      self.abandon(error)
    }
  }

  private func abandon(_ error: PostgresError) {
    dropConnection()
    lost(error)
  }

  /// Waits for the next attempt, and reports the loss.
  func lost(_ connection: PostgresConnection, _ error: PostgresError) {
    guard connection === self.connection else { return }
    self.connection = nil
    stage = .waiting
    pauseBeforeNext()
    lost(error)
  }

  /// Sets the time of the next attempt, and lengthens the pause for the attempt after it.
  private func pauseBeforeNext() {
    let now = SystemClock.monotonic()
    let since = outageSince ?? now
    outageSince = since
    nextAttempt = now + pause
    pause = min(pause * 2, now.since(since) < Self.earlyOutage ? Self.maxEarlyPause : Self.maxPause)
  }

  /// Passes a notification to the callback ``notified``.
  func notified(_ connection: PostgresConnection, channel: String, payload: String) { notified(payload) }
}
