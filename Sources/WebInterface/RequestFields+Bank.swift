// Fields shared by bodies, forms and queries: services, states, grades, items.
// Invariant: an impossible name is refused with its field, and not treated as "all".
import BankModel
import WebCore

extension RequestFields {
  /// Name of a service; nil if the field is absent.
  func service(_ name: String = "service") throws(FieldError) -> ServiceName? {
    try value(name, expected: "the name of a service") { ServiceName($0) }
  }

  /// State of customers; nil if the field is absent.
  func state() throws(FieldError) -> CustomerState? {
    try choice("state", of: CustomerState.names) { CustomerState(name: $0) }
  }

  /// Outcome of receipts; nil if the field is absent.
  func outcome() throws(FieldError) -> Outcome? {
    try choice("outcome", of: Outcome.names) { Outcome(name: $0) }
  }

  /// Priority as the name of a grade or a number, in the field `grade`; nil if the field is absent.
  func grade() throws(FieldError) -> Priority? {
    try value("grade", expected: "one of \(Priority.gradeNames.joined(separator: ", ")), or a number,") {
      Priority(name: $0)
    }
  }

  /// Business day in the field `day`, from 1; nil if the field is absent.
  func day() throws(FieldError) -> Int64? { try number("day", in: 1...Int64.max) }

  /// Name of a fruit, a juice or a drink in the field with this name; nil if the field is absent.
  func item(_ name: String) throws(FieldError) -> ItemID? {
    try value(name, expected: "the name of an item") { ItemID($0).isValid ? ItemID($0) : nil }
  }

  /// Number after which a list starts; 0 if it is absent.
  func after() throws(FieldError) -> Int64 { try number("after", in: 0...Int64.max) ?? 0 }
}
