// Interface through which a simulation replaces PostgreSQL and its library, and the segments in flight on a simulated
// connection.
// Invariant: as in PostgresPipeline, segments get their outcomes in sending order, and none twice.
import Time

/// A simulated kernel on which a PostgreSQL server is reachable.
package protocol SimulatedPostgres: AnyObject {
  /// Starts a connection to the simulated server. The session reports later that it is ready.
  func connect() -> any SimulatedPostgresSession
}

/// A connection to a simulated server.
package protocol SimulatedPostgresSession: AnyObject {
  /// File descriptor that is readable while events are available.
  var descriptor: Int32 { get }
  /// Pid of the simulated server process.
  var backend: Int32 { get }
  /// Sends a segment, which is one transaction.
  func send(_ segment: [PostgresCall])
  /// The next event; nil if there is none yet.
  func receive() -> SimulatedServerMessage?
  /// Closes the connection; no event follows.
  func close()
}

/// Event of a simulated server.
package enum SimulatedServerMessage: Sendable {
  /// The connection is ready.
  case connected(PostgresServer)
  /// Outcome of the oldest segment.
  case done([PostgresRows])
  /// The server refused the oldest segment, which had no effect.
  case refused(state: String, message: String)
  case notified(channel: String, payload: String)
  /// The connection has ended; reason.
  case lost(String)
}

extension PostgresServer {
  /// A server that passes the check of a new connection.
  package static var simulated: PostgresServer { PostgresServer(version: minVersion, isSynchronous: false) }
}

/// Segments in flight on a connection to a simulated server.
final class SimulatedPipeline {
  /// Event of the connection for its owner: connected, notified or lost. Outcomes of segments are not events.
  enum Event {
    case connected(PostgresServer)
    case notified(channel: String, payload: String)
    case lost(String)
  }

  private let session: any SimulatedPostgresSession
  /// Sent segments without an outcome: sending time, and the function that receives the outcome.
  private var inFlight: [(sentAt: MonotonicTime, finish: (PostgresOutcome) -> Void)] = []
  var count: Int { inFlight.count }
  /// Sending time of the oldest segment in flight.
  var oldest: MonotonicTime? { inFlight.first?.sentAt }
  var backend: Int32 { session.backend }
  var descriptor: Int32 { session.descriptor }

  init(_ session: any SimulatedPostgresSession) { self.session = session }

  /// Sends a segment. `finish` is called with its outcome.
  func send(
    _ segment: [PostgresCall], at now: MonotonicTime, _ finish: @escaping (PostgresOutcome) -> Void
  ) {
    inFlight.append((now, finish))
    session.send(segment)
  }

  /// Reports outcomes until an event of another kind is available, and returns this event. Returns nil if no event is
  /// left.
  func receive() -> Event? {
    while let event = session.receive() {
      switch event {
      case .connected(let server): return .connected(server)
      case .notified(let channel, let payload): return .notified(channel: channel, payload: payload)
      case .lost(let message): return .lost(message)
      case .done(let rows): if !inFlight.isEmpty { inFlight.removeFirst().finish(.done(rows)) }
      case .refused(let state, let message):
        let error = PostgresError(.refused(state: state, message: message), at: "")
        if !inFlight.isEmpty { inFlight.removeFirst().finish(.refused(error)) }
      }
    }
    return nil
  }

  /// Closes the session, and reports the outcome of each segment in flight as unknown.
  func abandon(_ error: PostgresError) {
    close()
    let left = inFlight
    inFlight = []
    for flight in left { flight.finish(.unknown(error)) }
  }

  /// Closes the connection to the simulated server. Reports no outcomes.
  func close() { session.close() }
}
