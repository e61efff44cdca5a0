// JSON of a move.
// Invariant: fields are added and never changed.
import Wire

extension JSONValue {
  /// JSON of `bankctl move`.
  package static func moved(_ report: MoveReport) -> JSONValue {
    [
      "version": 1, "to": .string(report.location), "day": .init(report.day),
      "rows": .array(
        report.rows.map { rows -> JSONValue in
          ["name": .string(rows.name), "before": .init(rows.before), "after": .init(rows.after)]
        }),
      "ledger_difference": .init(report.ledger.reduce(0) { $0 &+ $1.balance }),
      "already_moved": .bool(report.isRepeated), "note": .string(report.note),
    ]
  }
}
