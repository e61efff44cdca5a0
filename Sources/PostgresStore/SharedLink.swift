// Owns one connection to the shared books that is made anew whenever it is lost, with growing pauses and each time beginning
// with another host. The pauses stay short for a while: behind a server that was lost another one takes over, and every
// customer of the branch waits for that. A host that says nothing takes up a whole attempt, so who has long been at one goes
// where a sister has found the server.
// Invariant: it is open only when the server's processes of its former connections are gone: what was sent on them has taken
// effect by then, or never will.
import Posix
import Postgres
import Time

final class SharedLink: PostgresHandler {
  /// It is open: what was under way is to be looked up, and more may be sent.
  var opened: () -> Void = {}
  /// It was lost, or could not be made. Everything that was sent has been told its outcome before.
  var lost: (PostgresError) -> Void = { _ in }
  /// Somebody has sent a notification.
  var notified: (_ payload: String) -> Void = { _ in }

  /// Whether requests are taken.
  var isOpen: Bool { stage == .open && connection?.isReady == true }
  /// Requests that were sent and not answered.
  var underWay: Int { isOpen ? connection?.underWay ?? 0 : 0 }
  /// The server's process, for tests.
  var backend: Int32 { connection?.backend ?? 0 }
  private(set) var server: PostgresServer?
  /// What is at the other end, or was there last; nil before there was a connection.
  private(set) var sight: BooksSight?
  /// Judges what is at the other end of a new connection, before it is used.
  var judge: (SharedLink, BooksSight) -> BooksAdmission = { _, _ in .open }

  private enum Stage {
    case waiting
    case connecting
    /// The branch does not know its books yet.
    case held
    /// The former processes are being ended.
    case ending
    case open
    case closed
  }

  private static let firstPause = TimeSpan.milliseconds(20)
  /// The longest pause while the server is missed for less than ``soon``, and behind that.
  private static let longestPauseSoon = TimeSpan.milliseconds(150)
  private static let longestPause = TimeSpan.seconds(1)
  private static let soon = TimeSpan.seconds(60)
  private static let pauseBehindRefusal = TimeSpan.milliseconds(250)
  /// How long one host of several may take before a sister's is tried.
  private static let patience = TimeSpan.milliseconds(300)

  /// The number of the host at which an open sister has begun; nil where none is open.
  var openSister: () -> Int? = { nil }
  /// The number of the host at which the present connection has begun.
  private(set) var host: Int

  private let place: PostgresPlace
  private let loop: EventLoop
  private let limits: PostgresConnection.Limits
  private let channel: String?
  private var connection: PostgresConnection?
  private var stage = Stage.waiting
  /// When the present attempt began.
  private var attemptAt = MonotonicTime(nanoseconds: 0)
  /// Since when there is no connection; nil while there is one.
  private var missedSince: MonotonicTime?
  private var pause = SharedLink.firstPause
  private var nextAttempt: MonotonicTime
  /// Processes of the server by their numbers and when they began, the present one last.
  private var processes: [(pid: Int64, began: Int64)] = []

  /// - Parameter host: with which of several hosts it begins.
  init(
    to place: PostgresPlace, loop: EventLoop, limits: PostgresConnection.Limits,
    listeningTo channel: String? = nil, beginningAt host: Int = 0
  ) {
    (self.place, self.loop, self.limits, self.channel) = (place, loop, limits, channel)
    self.host = host - 1
    nextAttempt = SystemClock.monotonic()
  }

  /// Sends a request; false where none is taken now, and then it was not sent.
  func send<Answer>(
    _ request: PostgresRequest<Answer>, _ finish: @escaping (PostgresAnswer<Answer>) -> Void
  ) -> Bool {
    guard isOpen, let connection else { return false }
    do throws(PostgresError) { try connection.send(request, finish) } catch { return false }
    return true
  }

  /// Brings the books to the present version.
  func prepare(_ finish: @escaping PostgresPreparation.Finish) {
    if let connection { PostgresPreparation.begin(on: connection, finish) }
  }

  /// Lets the connection go and makes another at once: the peer has not been heard for too long.
  func renew() {
    guard stage != .closed else { return }
    dropConnection()
    pause = Self.firstPause
    nextAttempt = SystemClock.monotonic()
  }

  /// Lets the connection go and makes another after a pause.
  ///
  /// - Parameter error: what was refused; nil for nothing that is worth a word.
  func retry(after error: PostgresError?) {
    guard stage != .closed else { return }
    dropConnection()
    pauseBeforeNext()
    nextAttempt = max(nextAttempt, SystemClock.monotonic() + Self.pauseBehindRefusal)
    if let error, !error.takesNoChanges { lost(error) }
  }

  /// Somebody else has just found the server there: no pause any more.
  func hurry() {
    guard stage == .waiting else { return }
    pause = Self.firstPause
    nextAttempt = SystemClock.monotonic()
  }

  /// Whether it is, or was last, at this server.
  func isAtServer(of other: BooksSight?) -> Bool {
    sight.map { own in other.map { (own.system, own.timeline) == ($0.system, $0.timeline) } ?? false }
      ?? false
  }

  /// Another server has the books now: a connection to any other is let go.
  func leave(serversOtherThan server: BooksSight) {
    guard stage == .open || stage == .ending || stage == .held, !isAtServer(of: server) else { return }
    renew()
  }

  /// Makes no connection before ``begin(at:)``.
  func hold() { nextAttempt = MonotonicTime(nanoseconds: .max) }

  /// Connects, and tries this host first.
  func begin(at host: Int) {
    self.host = host &- 1
    nextAttempt = SystemClock.monotonic()
  }

  /// The branch knows its books by now.
  func lookAgain() {
    guard stage == .held, let sight else { return }
    lookForBooks(sight)
  }

  /// Ends it for good.
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

  // MARK: - The turn of the loop

  var nextDeadline: MonotonicTime? {
    switch stage {
    case .waiting: nextAttempt
    case .ending: .earlier(nextAttempt, connection?.nextDeadline)
    case .connecting: .earliest(connection?.nextDeadline, isElsewhere ? attemptAt + Self.patience : nil)
    case .open, .held: connection?.nextDeadline
    case .closed: nil
    }
  }

  /// Whether a sister has found the server at another host than the one that is tried.
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
      // Within its own call the connection must stand.
      pauseBeforeNext()
      dropConnection()
      lost(PostgresError(reason, at: place.description))
    }
  }

  /// Ends the former processes, and looks again until they are gone.
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

  /// Asks on the present connection; what goes wrong is the end of it.
  private func ask<Answer>(
    _ request: PostgresRequest<Answer>, _ next: @escaping (SharedLink, Answer) -> Void
  ) {
    guard let connection else { return }
    let asked = connection
    try? connection.send(request) { [weak self] answer in
      guard let self, self.connection === asked else { return }
      if case .done(let value) = answer { return next(self, value) }
      // A connection that cannot do so much is no use, and lost by that; within its own call it must stand.
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
