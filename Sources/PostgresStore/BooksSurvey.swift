// Owns the look at all hosts of an address before a branch begins: which of them take changes, and on which timeline each is.
// Invariant: the host that is chosen has the highest timeline of those that answered. Hosts that do not answer are not waited
// for, once another one has. Failure: where no host can be used it asks again; a refusal that cannot pass is told.
import Posix
import Postgres
import QueueCore
import Time

final class BooksSurvey: PostgresHandler {
  /// The host that has the books.
  var chose: (_ host: Int) -> Void = { _ in }
  /// No host can be used now.
  var failed: (PostgresError) -> Void = { _ in }

  private static let pause = TimeSpan.milliseconds(150)
  /// How long the others have after the first host that takes changes.
  private static let patience = TimeSpan.milliseconds(500)

  private let place: PostgresPlace
  private let loop: EventLoop
  private let known: BooksMark?
  private var connections: [PostgresConnection] = []
  /// Hosts that have answered, or cannot.
  private var settled: Set<Int> = []
  private var found: [(host: Int, sight: BooksSight)] = []
  private var trouble: PostgresError?
  private var due: MonotonicTime?
  private(set) var isOver = false

  init(of place: PostgresPlace, loop: EventLoop, knowing known: BooksMark?) {
    (self.place, self.loop, self.known) = (place, loop, known)
    due = SystemClock.monotonic()
  }

  deinit { for connection in connections { connection.close() } }

  var nextDeadline: MonotonicTime? {
    isOver ? nil : connections.reduce(due) { .earlier($0, $1.nextDeadline) }
  }

  func endTurn() {
    guard !isOver else { return }
    for connection in connections { connection.endTurn() }
    guard let due, SystemClock.monotonic() >= due else { return }
    self.due = nil
    if found.isEmpty { begin() } else { choose() }
  }

  func close() {
    isOver = true
    for connection in connections { connection.close() }
    connections = []
  }

  private func begin() {
    for connection in connections { connection.close() }
    (found, settled, trouble) = ([], [], nil)
    connections = (0..<place.hostCount).map { host in
      let connection = PostgresConnection(to: place.alone(atHost: host), loop: loop)
      connection.handler = self
      return connection
    }
  }

  func connected(_ connection: PostgresConnection, to server: PostgresServer) {
    try? connection.send(PostgresBeginning.request) { [weak self] answer in
      guard let self, let host = self.connections.firstIndex(where: { $0 === connection }) else { return }
      if case .done(let beginning) = answer { self.found.append((host, beginning.sight)) }
      self.settle(host)
    }
  }

  func lost(_ connection: PostgresConnection, _ error: PostgresError) {
    guard let host = connections.firstIndex(where: { $0 === connection }) else { return }
    // A server that takes no changes says less than one that cannot be reached.
    if trouble == nil || trouble?.reason == .standby { trouble = error }
    settle(host)
  }

  func notified(_ connection: PostgresConnection, channel: String, payload: String) {}

  /// A host has answered, or cannot. Its connection stays, since this is within a call of it.
  private func settle(_ host: Int) {
    guard settled.insert(host).inserted else { return }
    let now = SystemClock.monotonic()
    if settled.count == place.hostCount {
      due = found.isEmpty ? now + Self.pause : now
      if found.isEmpty { failed(trouble ?? PostgresError(.closed, at: place.description)) }
    } else if found.count == 1, due == nil {
      due = now + Self.patience
    }
  }

  private func choose() {
    let own = known.map { known in found.filter { $0.sight.system == known.system } } ?? []
    let candidates = own.isEmpty ? found : own
    let systems = Set(candidates.map(\.sight.system))
    let best = candidates.max { ($0.sight.timeline, -$0.host) < ($1.sight.timeline, -$1.host) }
    close()
    guard systems.count == 1, let best else {
      return failed(PostgresError(.manyServers, at: place.description))
    }
    chose(best.host)
  }
}
