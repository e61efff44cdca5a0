// Owns the seam at which a simulation stands for PostgreSQL and its library: what it is asked, and what is under way there. It
// knows no network. Outside of a simulation nobody plays anything.
// Invariant: as PostgresPipeline's: every segment is told its outcome once, in the order of sending.
import Time

/// A simulated kernel on which a PostgreSQL server can be reached.
package protocol PostgresPlayer: AnyObject {
  /// Begins to connect.
  func connect() -> any PostgresSession
}

/// A connection to a server that is played.
package protocol PostgresSession: AnyObject {
  /// Can be read when there is something to be heard.
  var descriptor: Int32 { get }
  /// The number of the server's process.
  var backend: Int32 { get }
  /// Sends a segment, which is one transaction.
  func send(_ segment: [PostgresCall])
  /// The next of what has come; nil where there is nothing yet.
  func hear() -> PostgresWord?
  /// Lets it go; nothing is heard any more.
  func close()
}

/// What is heard of a server that is played.
package enum PostgresWord: Sendable {
  case connected(PostgresServer)
  /// The outcome of the oldest segment.
  case done([PostgresRows])
  case refused(state: String, message: String)
  case notified(channel: String, payload: String)
  case lost(String)
}

extension PostgresServer {
  /// One that is good enough.
  package static var played: PostgresServer { PostgresServer(version: leastVersion, isSynchronous: false) }
}

/// What is under way on a connection to such a server.
final class PlayedPipeline {
  /// What the owner of the connection has to deal with.
  enum Word {
    case connected(PostgresServer)
    case notified(channel: String, payload: String)
    case lost(String)
  }

  private let session: any PostgresSession
  private var flights: [(sentAt: MonotonicTime, finish: (PostgresOutcome) -> Void)] = []
  var count: Int { flights.count }
  var oldest: MonotonicTime? { flights.first?.sentAt }
  var backend: Int32 { session.backend }
  var descriptor: Int32 { session.descriptor }

  init(_ session: any PostgresSession) { self.session = session }

  func send(
    _ segment: [PostgresCall], at now: MonotonicTime, _ finish: @escaping (PostgresOutcome) -> Void
  ) {
    flights.append((now, finish))
    session.send(segment)
  }

  /// Tells outcomes until there is something else, or nothing.
  func hear() -> Word? {
    while let word = session.hear() {
      switch word {
      case .connected(let server): return .connected(server)
      case .notified(let channel, let payload): return .notified(channel: channel, payload: payload)
      case .lost(let words): return .lost(words)
      case .done(let rows): if !flights.isEmpty { flights.removeFirst().finish(.done(rows)) }
      case .refused(let state, let message):
        let error = PostgresError(.refused(state: state, message: message), at: "")
        if !flights.isEmpty { flights.removeFirst().finish(.refused(error)) }
      }
    }
    return nil
  }

  func abandon(_ error: PostgresError) {
    close()
    let left = flights
    flights = []
    for flight in left { flight.finish(.unknown(error)) }
  }

  func close() { session.close() }
}
