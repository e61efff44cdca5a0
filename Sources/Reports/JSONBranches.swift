// Owns the JSON of a bank whose books several branches share. It knows no command.
// Invariant: fields are added, never changed; rates are thousandths a second, null where nobody has counted.
import BankModel
import Wire

extension JSONValue {
  /// `branches`, and `status --branch`.
  package static func branches(_ branches: [BranchReport]) -> JSONValue {
    ["version": 1, "branches": .array(branches.map(branch))]
  }

  static func branch(_ branch: BranchReport) -> JSONValue {
    let shape: JSONValue = [
      "branch": .init(branch.number), "host": .string(branch.host), "epoch": .init(branch.epoch),
      "state": .string(branch.state.name), "lease_ms": .init(branch.leaseMilliseconds),
      "windows": .init(branch.windows), "served": .init(branch.served), "name": .string(branch.name),
      "rate_milli": .init(branch.rate), "commits": .init(branch.commits), "this": .bool(branch.isThis),
    ]
    // Who is left to this branch alone.
    return branch.juices.map { shape.adding(["juices": .init($0)]) } ?? shape
  }

  /// The field that only those have who belong to a branch of a shared bank.
  static func field(ofBranch number: Int64?) -> JSONValue {
    number.map { ["branch": .integer($0)] } ?? [:]
  }
}

extension StatusReport {
  /// The numbers of the whole bank: of all branches where there are several.
  package var wholeQueue: QueueReport { bank?.queue ?? queue }
  /// The services of the whole bank.
  package var wholeServices: [ServiceReport] { bank?.services ?? services }
}
