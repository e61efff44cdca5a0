// The wrong server at the database's address: an empty database, or a server whose standby was promoted.
// Invariant: a statement beyond the queries that identify the server fails. It is also a violation if it uses the
// former server, or if it makes the schema in the empty database although the branch has joined the right one.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import Time

  extension BooksServer {
    /// Number of the database, and the identifier of its server.
    static let number: Int64 = 7
    static let system: Int64 = 77

    func begin(_ session: BooksSession, _ timeline: Int64, hasBooks: Bool) -> [PostgresValue] {
      [
        .integer(Int64(session.backend) * 1_000), .integer(timeline), .integer(Self.system),
        .boolean(hasBooks),
      ]
    }

    /// Records that a branch has seen the server's timeline, if its transaction does more than identify the server.
    func noteServer(of session: BooksSession, _ segment: [PostgresCall]) {
      let office = world.offices[session.place]
      guard session.isOf(office.process),
        segment.contains(where: { !["bank-begin", "bank-sight"].contains($0.statement.name) })
      else { return }
      office.knownTimeline = timeline
    }

    /// Executes a segment on the wrong server.
    func executeElsewhere(
      _ segment: [PostgresCall], from session: BooksSession
    ) throws(Refusal) -> [PostgresRows] {
      var results: [PostgresRows] = []
      for call in segment { results.append(PostgresRows(try executeElsewhere(call, session))) }
      return results
    }

    private func executeElsewhere(
      _ call: PostgresCall, _ session: BooksSession
    ) throws(Refusal) -> [[PostgresValue]] {
      let text = call.statement.text
      switch call.statement.name {
      case "bank-begin":
        return [begin(session, session.isStale ? timeline - 1 : timeline, hasBooks: session.isStale)]
      case "bank-sight" where session.isStale: return [[.integer(Self.number)]]
      case "bank-end-former": return [[.integer(0)]]
      case "" where text.hasPrefix("LISTEN"): return []
      case "" where text.hasPrefix("SELECT to_regnamespace") && !session.isStale:
        return [[.boolean(false), .boolean(false)]]
      default: break
      }
      if session.isStale {
        world.violate(.books, "branch \(session.place) uses a server that another one has replaced")
      } else if text.hasPrefix("CREATE SCHEMA"), world.offices[session.place].mark != nil {
        world.violate(.books, "branch \(session.place) creates a database in place of the one that it knows")
      }
      throw Refusal(state: "42P01", words: "relation does not exist")
    }

    func former(_ call: PostgresCall) -> [[PostgresValue]] {
      branches.filter { $0.name == call.text(0) }.map { [.integer($0.epoch), .integer($0.commits)] }
    }
  }
#endif
