// The one way in which a request is refused because of a field: which field, and what is wrong with it.
// Invariant: a fault names exactly one field; its English message says what would be accepted.

/// A field of a body, a form or a query that cannot be used.
public struct FieldFault: Error, Sendable, Equatable {
  /// What is wrong with a field.
  public enum Problem: Sendable, Equatable {
    /// The request has no such field; these it has.
    case unknown(known: [String])
    /// The field must be there.
    case missing
    /// The field is there more than once.
    case repeated
    /// The field excludes another one that is there.
    case excluded(by: String)
    /// The value has another kind, or is out of range. The text says what is accepted.
    case value(expected: String)
    /// The whole body is not what it should be.
    case form(expected: String)
  }

  /// The name of the field; empty for the whole body.
  public var field: String
  /// What is wrong with it.
  public var problem: Problem

  public init(_ field: String, _ problem: Problem) { (self.field, self.problem) = (field, problem) }

  /// The English sentence for a script.
  public var message: String {
    switch problem {
    case .unknown(let known) where known.isEmpty: "\(field): no such field; none is accepted"
    case .unknown(let known): "\(field): no such field; accepted are: \(known.joined(separator: ", "))"
    case .missing: "\(field): the field is missing"
    case .repeated: "\(field): the field is there more than once"
    case .excluded(let other): "\(field): not together with \(other)"
    case .value(let expected): "\(field): \(expected) is needed"
    case .form(let expected): expected
    }
  }
}
