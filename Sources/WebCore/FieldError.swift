// The error for an invalid field of a request.
// Invariant: an error names one field or concerns the whole body, and its message is English.

/// Error about one field of a body, a form or a query: its name, and what is wrong with it.
public struct FieldError: Error, Sendable, Equatable {
  /// What is wrong with a field, such as an unknown name, a missing field or an invalid value.
  public enum Problem: Sendable, Equatable {
    /// Unknown field; `known` lists the accepted ones.
    case unknown(known: [String])
    /// Missing required field.
    case missing
    /// Repeated field.
    case repeated
    /// Field that cannot be combined with another field of the request.
    case excluded(by: String)
    /// Value of another type or out of range. `expected` describes the accepted values.
    case value(expected: String)
    /// Invalid body.
    case form(expected: String)
  }

  /// Name of the field; empty for the whole body.
  public var field: String
  /// Kind of error.
  public var problem: Problem

  public init(_ field: String, _ problem: Problem) { (self.field, self.problem) = (field, problem) }

  /// The English message for a script.
  public var message: String {
    switch problem {
    case .unknown(let known) where known.isEmpty: "\(field): no such field; none is accepted"
    case .unknown(let known): "\(field): no such field; accepted are: \(known.joined(separator: ", "))"
    case .missing: "\(field): the field is missing"
    case .repeated: "\(field): the field appears more than once"
    case .excluded(let other): "\(field): cannot be combined with \(other)"
    case .value(let expected): "\(field): \(expected) is needed"
    case .form(let expected): expected
    }
  }
}
