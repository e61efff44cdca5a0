// JSON of a bank with a shared database.
// Invariant: fields are added and never changed. A rate is null if it is unknown.
import BankModel
import Wire

extension JSONValue {
  /// JSON of `branches` and `status --branch`.
  package static func branches(_ branches: [BranchReport]) -> JSONValue {
    ["version": 1, "branches": .array(branches.map(branch))]
  }

  static func branch(_ branch: BranchReport) -> JSONValue {
    let shape: JSONValue = [
      "branch": .init(branch.number), "host": .string(branch.host), "epoch": .init(branch.epoch),
      "state": .string(branch.state.name), "lease_ms": .init(branch.leaseMilliseconds),
      "windows": .init(branch.windows), "served": .init(branch.served), "name": .string(branch.name),
      "served_per_second": .rate(branch.rate), "commits": .init(branch.commits),
      "is_self": .bool(branch.isThis),
    ]
    // The number of waiting or delayed customers that need the stock of this branch.
    return branch.juices.map { shape.adding(["juices": .init($0)]) } ?? shape
  }

  /// The field `branch`; no field if there is no number.
  static func field(ofBranch number: Int64?) -> JSONValue {
    number.map { ["branch": .integer($0)] } ?? [:]
  }
}

extension StatusReport {
  /// Numbers of the whole bank.
  package var wholeQueue: QueueReport { bank?.queue ?? queue }
  /// Services of the whole bank.
  package var wholeServices: [ServiceReport] { bank?.services ?? services }
}
