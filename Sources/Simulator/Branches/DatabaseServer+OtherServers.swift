// The wrong server at the database's address: an empty database, or a server whose standby was promoted.
// Invariant: a statement fails unless it identifies the server or its schema, ends former sessions, or listens. A
// failing statement is also a violation if it uses the former server, or makes the schema in the empty database
// although the branch has joined the right one.

#if HAS_POSTGRES
  import BankModel
  import Postgres
  import Time

  extension DatabaseServer {
    /// Identification of the bank, and the identifier of its server.
    static let number: Int64 = 7
    static let system: Int64 = 77

    /// The row of `bank-begin`: start of the session, timeline, system identifier, and true if the schema exists.
    func begin(_ session: DatabaseSession, _ timeline: Int64, hasBankSchema: Bool) -> [PostgresValue] {
      [
        .integer(Int64(session.backend) * 1_000), .integer(timeline), .integer(Self.system),
        .boolean(hasBankSchema),
      ]
    }

    /// Records that a branch has seen the server's timeline, if its transaction does more than identify the server.
    func recordTimeline(of session: DatabaseSession, _ segment: [PostgresCall]) {
      let node = world.nodes[session.index]
      guard session.isOf(node.process),
        segment.contains(where: { !["bank-begin", "bank-sight"].contains($0.statement.name) })
      else { return }
      node.latestTimeline = timeline
    }

    /// Executes a transaction on the empty or the former server, to which a fault has led the branch.
    func executeOnOtherServer(
      _ segment: [PostgresCall], from session: DatabaseSession
    ) throws(SQLError) -> [PostgresRows] {
      var results: [PostgresRows] = []
      for call in segment { results.append(PostgresRows(try executeOnOtherServer(call, session))) }
      return results
    }

    /// Executes one call on the empty database or on the former server.
    private func executeOnOtherServer(
      _ call: PostgresCall, _ session: DatabaseSession
    ) throws(SQLError) -> [[PostgresValue]] {
      let text = call.statement.text
      switch call.statement.name {
      case "bank-begin":
        return [begin(session, session.isStale ? timeline - 1 : timeline, hasBankSchema: session.isStale)]
      case "bank-sight" where session.isStale: return [[.integer(Self.number)]]
      case "bank-end-former": return [[.integer(0)]]
      case "" where text.hasPrefix("LISTEN"): return []
      case "" where text.hasPrefix("SELECT to_regnamespace") && !session.isStale:
        return [[.boolean(false), .boolean(false)]]
      default: break
      }
      if session.isStale {
        world.violate(.dayCounters, "branch \(session.index) uses a server that another one has replaced")
      } else if text.hasPrefix("CREATE SCHEMA"), world.nodes[session.index].mark != nil {
        world.violate(
          .dayCounters, "branch \(session.index) creates a database in place of the one that it knows")
      }
      throw SQLError(state: "42P01", message: "relation does not exist")
    }

    /// Returns the epoch and the number of transactions that are stored for a branch which is about to join.
    func former(_ call: PostgresCall) -> [[PostgresValue]] {
      branches.filter { $0.name == call.text(0) }.map { [.integer($0.epoch), .integer($0.commits)] }
    }
  }
#endif
