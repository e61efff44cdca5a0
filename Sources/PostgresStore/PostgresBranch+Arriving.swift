// Owns what a branch asks of its books for a large request for tickets: that a slice arrives, that what has its tickets comes in,
// and that what has none is forgotten.
import BankModel
import Postgres
import QueueCore

/// The name of a request in the books: the branch, and the epoch and the number with which it was first made there.
struct ArrivingName: Hashable {
  var branch: Int64
  var epoch: Int64
  var number: Int64
  var values: [PostgresValue] { [.integer(branch), .integer(epoch), .integer(number)] }
}

extension PostgresBranch {
  /// A slice of a request arrives; false if the branch was fenced.
  ///
  /// - Parameter part: from 0.
  func arrive(
    _ customers: IntakeColumns, _ slice: Swift.Range<Int>, part: Int64,
    as name: (epoch: Int64, number: Int64),
    lanes: [Line: Int64]
  ) -> PostgresRequest<Bool> {
    var values = fence
    values += [.integer(name.epoch), .integer(name.number), .integer(part)]
    values += customers.arriving(slice, lanes: lanes)
    return PostgresRequest(segment: [
      PostgresStatements.arriveUnawaited(), PostgresStatements.arrive.with(values),
    ]) { $0.last?.boolean(0, 0) }
  }

  /// The next slices of a request that has its tickets come in; whether more are left. Any branch may ask for it.
  static func unpack(_ name: ArrivingName) -> PostgresRequest<Bool> {
    PostgresRequest(segment: [
      PostgresStatements.lockBatch.with(name.values), PostgresStatements.unpack.with(name.values),
    ]) { $0.last?.boolean(0, 0) }
  }
}
