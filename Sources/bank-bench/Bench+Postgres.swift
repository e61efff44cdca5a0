// Owns how many customers a second the books of several branches take in and serve in PostgreSQL, without any bank. The script
// has started a server in the scratch directory and says where; it waits for its disk at every commit, as one at work does.
// Failure: what the server says. Without a server, or without the library for it, its rows are missing.
import Posix

extension Bench {
  /// The environment's name for the address of the server.
  private static let address = "BANK_BENCH_POSTGRES"

  func measurePostgres() throws {
    guard let address = Environment.value(Self.address), !address.isEmpty else {
      return say("there is no PostgreSQL server to measure")
    }
    #if HAS_POSTGRES
      let count = thoroughness.rounds > 2 ? 300_000 : 150_000
      for (connections, page, deep, target) in [
        (2, 1_000, 2, Target.atLeast(100_000)), (2, 100, 4, nil), (1, 1_000, 2, nil),
      ] {
        let load = try PostgresLoad(address, connections: connections)
        var taken: [Double] = []
        let served = try rounds {
          taken.append(Double(count) / (try load.enqueue(count, inBatchesOf: 5_000)))
          return Double(count) / (try load.serve(count, pages: page, deep: deep))
        }
        let who = "\(connections) connection\(connections == 1 ? "" : "s")"
        add(
          "postgres", "served in PostgreSQL, the store alone, \(who), pages of \(page)", "/s", served,
          target: target)
        if page == 1_000 {
          add("postgres", "tickets in PostgreSQL, \(who), 5,000 a transaction", "/s", Samples(taken))
        }
      }
    #else
      say("this program was built without PostgreSQL's library (libpq) and cannot measure \(address)")
    #endif
  }
}
