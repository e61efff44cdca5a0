// The statements that are prepared when a store is opened: each is prepared once, for any values. A statement
// whose plan depends on the values is prepared again for each of them, which takes longer than to run it, and
// is not visible otherwise.

import CSQLite
import QueueCore
import Testing

@testable import Storage

@Suite("Prepared statements")
struct StatementsTests {
  @Test("no statement is prepared again for other values")
  func once() throws {
    let branch = try StoreFixture(.sqlite)
    try branch.arrive(.deposit)
    try branch.commit()
    let store = try #require(branch.store as? SQLiteStore)
    let connection = store.database.handle
    // The effects of a statement are rolled back, also if it is refused.
    try store.database.execute("BEGIN", while: "trying the statements")
    var tried = 0
    var next = sqlite3_next_stmt(connection, nil)
    while let statement = next {
      next = sqlite3_next_stmt(connection, statement)
      let parameters = sqlite3_bind_parameter_count(statement)
      guard parameters > 0 else { continue }
      for value in 1...Int64(3) {
        for parameter in 1...parameters { sqlite3_bind_int64(statement, parameter, value << 60) }
        sqlite3_step(statement)
        sqlite3_reset(statement)
      }
      let again = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0)
      #expect(again == 0, "\(String(cString: sqlite3_sql(statement)))")
      tried += 1
    }
    try store.database.execute("ROLLBACK", while: "trying the statements")
    #expect(tried > 20)
  }
}
