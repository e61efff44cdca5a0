// Transactions of a branch for a large request for tickets. One sends a slice. Another one moves customers that have
// their tickets to their lines.
import BankModel
import Postgres
import QueueCore

/// Name of a large request in the database: the branch, and the epoch and the number with which the branch first sent
/// it.
struct LargeRequestID: Hashable {
  var branch: Int64
  var epoch: Int64
  var number: Int64
  /// The name as parameters of a statement.
  var values: [PostgresValue] { [.integer(branch), .integer(epoch), .integer(number)] }
}

extension PostgresBranch {
  /// Stores the slice with the index `part`, from 0, of the large request `name`; false if the branch was fenced.
  func storeSlice(
    _ customers: EnqueueColumns, _ slice: Swift.Range<Int>, part: Int64,
    as name: (epoch: Int64, number: Int64),
    lanes: [Line: Int64]
  ) -> PostgresRequest<Bool> {
    var values = fence
    values += [.integer(name.epoch), .integer(name.number), .integer(part)]
    values += customers.sliceParameters(slice, lanes: lanes)
    return PostgresRequest(segment: [
      PostgresStatements.asynchronousCommit(), PostgresStatements.storeSlice.with(values),
    ]) { $0.last?.boolean(0, 0) }
  }

  /// Moves the customers of the next slices to their lines, for a request that has its tickets. Returns true if more
  /// slices are left. Any branch may send this transaction.
  static func moveSlices(_ name: LargeRequestID) -> PostgresRequest<Bool> {
    PostgresRequest(segment: [
      PostgresStatements.lockBatch.with(name.values), PostgresStatements.moveSlices.with(name.values),
    ]) { $0.last?.boolean(0, 0) }
  }
}
