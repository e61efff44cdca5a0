// Survey of all hosts of an address before a branch connects: which of them are primaries, and their timelines.
// Invariant: the chosen host has the highest timeline among those that answered; if the branch knows a cluster, and
// hosts of this cluster answered, among these hosts. After the first answer the remaining hosts have a limited time.
// Errors: if no host is usable, the survey reports the error and retries. If the hosts that answered belong to several
// clusters, and none of them to the known one, the survey reports this and ends.
import Posix
import Postgres
import QueueCore
import Time

/// Connections to the hosts of an address, to choose one of them.
final class HostSurvey: PostgresHandler {
  /// Called with the chosen host.
  var chose: (_ host: Int) -> Void = { _ in }
  /// Called when no host is usable at the moment, before the survey retries; and when the hosts belong to several
  /// clusters, at the end of the survey.
  var failed: (PostgresError) -> Void = { _ in }

  /// Time before the survey retries if no host is usable.
  private static let pause = TimeSpan.milliseconds(150)
  /// Time for the other hosts after the first usable host has answered.
  private static let timeout = TimeSpan.milliseconds(500)

  private let url: PostgresURL
  private let loop: EventLoop
  /// Remembered identity of the database; nil for none.
  private let known: SharedStoreProgress?
  private var connections: [PostgresConnection] = []
  /// Hosts that have answered or failed.
  private var finishedHosts: Set<Int> = []
  /// Usable hosts, with the identities of their servers.
  private var found: [(host: Int, sight: ServerIdentity)] = []
  /// The error to report if no host is usable.
  private var trouble: PostgresError?
  /// Time of the next retry or of the choice; nil while answers are awaited without a limit.
  private var due: MonotonicTime?
  /// True after the choice or ``close()``.
  private(set) var isOver = false

  init(of url: PostgresURL, loop: EventLoop, knowing known: SharedStoreProgress?) {
    (self.url, self.loop, self.known) = (url, loop, known)
    due = SystemClock.monotonic()
  }

  deinit { for connection in connections { connection.close() } }

  var nextDeadline: MonotonicTime? {
    isOver ? nil : connections.reduce(due) { .earlier($0, $1.nextDeadline) }
  }

  /// Runs the connections; retries or chooses a host if this is due.
  func finishIteration() {
    guard !isOver else { return }
    for connection in connections { connection.finishIteration() }
    guard let due, SystemClock.monotonic() >= due else { return }
    self.due = nil
    if found.isEmpty { begin() } else { choose() }
  }

  /// Ends the survey and closes its connections, without a choice or an error.
  func close() {
    isOver = true
    for connection in connections { connection.close() }
    connections = []
  }

  /// Connects to every host, and forgets earlier results.
  private func begin() {
    for connection in connections { connection.close() }
    (found, finishedHosts, trouble) = ([], [], nil)
    connections = (0..<url.hostCount).map { host in
      let connection = PostgresConnection(to: url.alone(atHost: host), loop: loop)
      connection.handler = self
      return connection
    }
  }

  /// Queries the identity of the connected server. If it answers, its host can be chosen.
  func connected(_ connection: PostgresConnection, to server: PostgresServer) {
    try? connection.send(ServerProbe.request) { [weak self] answer in
      guard let self, let host = self.connections.firstIndex(where: { $0 === connection }) else { return }
      if case .done(let beginning) = answer { self.found.append((host, beginning.identity)) }
      self.markFinished(host)
    }
  }

  /// Marks the host of a lost connection as failed.
  func lost(_ connection: PostgresConnection, _ error: PostgresError) {
    guard let host = connections.firstIndex(where: { $0 === connection }) else { return }
    // A standby's refusal is less informative than a connection failure, so it is overwritten.
    if trouble == nil || trouble?.reason == .standby { trouble = error }
    markFinished(host)
  }

  /// Does nothing: a survey receives no notifications.
  func notified(_ connection: PostgresConnection, channel: String, payload: String) {}

  /// Marks a host as answered or failed, and sets the time of the choice or of the next retry. Does not close its
  /// connection, because this method runs inside a callback of the connection.
  private func markFinished(_ host: Int) {
    guard finishedHosts.insert(host).inserted else { return }
    let now = SystemClock.monotonic()
    if finishedHosts.count == url.hostCount {
      due = found.isEmpty ? now + Self.pause : now
      if found.isEmpty { failed(trouble ?? PostgresError(.closed, at: url.description)) }
    } else if found.count == 1, due == nil {
      due = now + Self.timeout
    }
  }

  /// Ends the survey with the best host, or with an error if the hosts belong to several clusters.
  private func choose() {
    let own = known.map { known in found.filter { $0.sight.system == known.system } } ?? []
    let candidates = own.isEmpty ? found : own
    let systems = Set(candidates.map(\.sight.system))
    let best = candidates.max { ($0.sight.timeline, -$0.host) < ($1.sight.timeline, -$1.host) }
    close()
    guard systems.count == 1, let best else {
      return failed(PostgresError(.multiplePrimaries, at: url.description))
    }
    chose(best.host)
  }
}
