// One connection to the shared database that is replaced after each loss, with growing pauses. It tries a different
// host each time, or the host of another open connection of the branch. The pauses stay short for the first minute,
// because a standby may replace a lost server, and all customers of the branch wait for the new server. A silent host
// blocks connecting, so the link abandons a slow host if another connection of the branch has reached the server at a
// different host.
// Invariant: the link is open only after the server processes of its earlier connections have exited. So every
// request sent on an earlier connection has taken effect by then, or never will.
import Posix
import Postgres
import Time

final class SharedLink: PostgresHandler {
  /// Called when the connection is open: unknown outcomes must be queried, and requests may be sent.
  var opened: () -> Void = {}
  /// Called after a loss or a failure to connect, after the outcomes of all sent requests were reported.
  var lost: (PostgresError) -> Void = { _ in }
  var notified: (_ payload: String) -> Void = { _ in }

  /// True if the connection accepts requests.
  var isOpen: Bool { stage == .open && connection?.isReady == true }
  /// Number of requests in flight.
  var underWay: Int { isOpen ? connection?.underWay ?? 0 : 0 }
  /// Pid of the server process; for tests.
  var backend: Int32 { connection?.backend ?? 0 }
  private(set) var server: PostgresServer?
  /// Identity of the present or last server; nil before the first connection.
  private(set) var sight: BooksSight?
  /// Decides about a new connection before it is used.
  var judge: (SharedLink, BooksSight) -> BooksAdmission = { _, _ in .open }

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

  private static let firstPause = TimeSpan.milliseconds(20)
  /// Maximum pause during the first minute (``soon``) of an outage; ``longestPause`` applies after it.
  private static let longestPauseSoon = TimeSpan.milliseconds(150)
  private static let longestPause = TimeSpan.seconds(1)
  private static let soon = TimeSpan.seconds(60)
  private static let pauseBehindRefusal = TimeSpan.milliseconds(250)
  /// Time for one of several hosts, if another connection of the branch is open at another host.
  private static let patience = TimeSpan.milliseconds(300)

  /// Index of the host of another open connection of the branch; nil for none.
  var openSister: () -> Int? = { nil }
  /// Index of the host that the latest connection tries first.
  private(set) var host: Int

  private let place: PostgresPlace
  private let loop: EventLoop
  private let limits: PostgresConnection.Limits
  private let channel: String?
  private var connection: PostgresConnection?
  private var stage = Stage.waiting
  /// Time at which the link last started to connect.
  private var attemptAt = MonotonicTime(nanoseconds: 0)
  /// Start of the outage; nil while a connection is open.
  private var missedSince: MonotonicTime?
  private var pause = SharedLink.firstPause
  private var nextAttempt: MonotonicTime
  /// Server processes by pid and start time, the present one last.
  private var processes: [(pid: Int64, began: Int64)] = []

  /// - Parameter host: index of the first host to try.
  init(
    to place: PostgresPlace, loop: EventLoop, limits: PostgresConnection.Limits,
    listeningTo channel: String? = nil, beginningAt host: Int = 0
  ) {
    (self.place, self.loop, self.limits, self.channel) = (place, loop, limits, channel)
    self.host = host - 1
    nextAttempt = SystemClock.monotonic()
  }

  /// Sends a request; returns false, without sending, if none is accepted now.
  func send<Answer>(
    _ request: PostgresRequest<Answer>, _ finish: @escaping (PostgresAnswer<Answer>) -> Void
  ) -> Bool {
    guard isOpen, let connection else { return false }
    do throws(PostgresError) { try connection.send(request, finish) } catch { return false }
    return true
  }

  /// Migrates the database to the present version.
  func prepare(_ finish: @escaping PostgresPreparation.Finish) {
    if let connection { PostgresPreparation.begin(on: connection, finish) }
  }

  /// Closes the connection and reconnects at once, because the peer is silent or unsuitable.
  func renew() {
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
    nextAttempt = max(nextAttempt, SystemClock.monotonic() + Self.pauseBehindRefusal)
    if let error, !error.takesNoChanges { lost(error) }
  }

  /// Ends the pause, because another connection has just reached the server.
  func hurry() {
    guard stage == .waiting else { return }
    pause = Self.firstPause
    nextAttempt = SystemClock.monotonic()
  }

  /// True if the present or last connection is at this server.
  func isAtServer(of other: BooksSight?) -> Bool {
    sight.map { own in other.map { (own.system, own.timeline) == ($0.system, $0.timeline) } ?? false }
      ?? false
  }

  /// Closes a connection to any other server, after a failover.
  func leave(serversOtherThan server: BooksSight) {
    guard stage == .open || stage == .ending || stage == .held, !isAtServer(of: server) else { return }
    renew()
  }

  /// Delays connecting until ``begin(at:)``.
  func hold() { nextAttempt = MonotonicTime(nanoseconds: .max) }

  /// Connects, with this host first.
  func begin(at host: Int) {
    self.host = host &- 1
    nextAttempt = SystemClock.monotonic()
  }

  /// Repeats the decision about a held connection, after the branch has joined.
  func lookAgain() {
    guard stage == .held, let sight else { return }
    lookForBooks(sight)
  }

  /// Closes the connection permanently.
  func close() {
    stage = .closed
    connection?.close()
    connection = nil
  }

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
    case .connecting: .earliest(connection?.nextDeadline, isElsewhere ? attemptAt + Self.patience : nil)
    case .open, .held: connection?.nextDeadline
    case .closed: nil
    }
  }

  /// True if another connection has reached the server at a different host than the one being tried.
  private var isElsewhere: Bool {
    guard place.hostCount > 1, let sister = openSister() else { return false }
    return (sister - host) % place.hostCount != 0
  }

  func endTurn() {
    connection?.endTurn()
    if stage == .connecting, isElsewhere, SystemClock.monotonic() >= attemptAt + Self.patience {
      renew()
    }
    guard SystemClock.monotonic() >= nextAttempt else { return }
    if stage == .waiting { connect() }
    if stage == .ending { endFormer() }
  }

  private func connect() {
    stage = .connecting
    attemptAt = SystemClock.monotonic()
    host = openSister() ?? (host &+ 1)
    let connection = PostgresConnection(to: place.beginning(atHost: host), loop: loop, limits: limits)
    connection.handler = self
    self.connection = connection
  }

  func connected(_ connection: PostgresConnection, to server: PostgresServer) {
    self.server = server
    ask(PostgresBeginning.request) { link, found in
      link.processes.append((Int64(connection.backend), found.beganAt))
      guard found.hasBooks else { return link.admit(found.sight) }
      link.lookForBooks(found.sight)
    }
  }

  private func lookForBooks(_ sight: BooksSight) {
    ask(PostgresBeginning.number) { link, books in
      link.admit(BooksSight(system: sight.system, timeline: sight.timeline, books: books))
    }
  }

  private func admit(_ sight: BooksSight) {
    self.sight = sight
    switch judge(self, sight) {
    case .open, .openAlone:
      stage = .ending
      if let channel { try? connection?.listen(to: channel) }
      endFormer()
    case .wait: stage = .held
    case .refuse(let reason):
      // This code runs within a callback of the connection. `ask` holds a reference until the callback returns.
      pauseBeforeNext()
      dropConnection()
      lost(PostgresError(reason, at: place.description))
    }
  }

  /// Terminates the earlier server processes, and checks again until all have exited.
  private func endFormer() {
    nextAttempt = MonotonicTime(nanoseconds: .max)
    let former = processes.dropLast()
    guard !former.isEmpty, !Kernel.makes("opensBesideTheFormer") else { return open() }
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

  private func open() {
    stage = .open
    pause = Self.firstPause
    missedSince = nil
    opened()
  }

  /// Sends a query on the present connection. A failure closes it.
  private func ask<Answer>(
    _ request: PostgresRequest<Answer>, _ next: @escaping (SharedLink, Answer) -> Void
  ) {
    guard let connection else { return }
    let asked = connection
    try? connection.send(request) { [weak self] answer in
      guard let self, self.connection === asked else { return }
      if case .done(let value) = answer { return next(self, value) }
      // A connection on which this query fails is unusable. If the outcome is unknown, the connection itself reports
      // its loss.
      self.pauseBeforeNext()
      if case .refused(let error) = answer {
        self.dropConnection()
        self.lost(error)
      }
    }
  }

  func lost(_ connection: PostgresConnection, _ error: PostgresError) {
    guard connection === self.connection else { return }
    self.connection = nil
    stage = .waiting
    pauseBeforeNext()
    lost(error)
  }

  private func pauseBeforeNext() {
    let now = SystemClock.monotonic()
    let since = missedSince ?? now
    missedSince = since
    nextAttempt = now + pause
    pause = min(pause * 2, now.since(since) < Self.soon ? Self.longestPauseSoon : Self.longestPause)
  }

  func notified(_ connection: PostgresConnection, channel: String, payload: String) { notified(payload) }
}
