// A statement with its name and parameter types, and one call of it with values.
// Invariant: a name identifies one text for the lifetime of the process, except the empty name of statements that are
// not prepared.

/// A statement, which a connection prepares on the server before its first call; see ``PostgresCall/once(_:_:_:)`` for
/// one that is not prepared.
public struct PostgresStatement: Sendable, Hashable {
  /// Name on the server.
  public let name: String
  /// One SQL statement, with `$1`, `$2` … for its parameters.
  public let text: String
  /// Types of the parameters.
  public let parameters: [PostgresType]

  public init(_ name: String, _ parameters: [PostgresType] = [], _ text: String) {
    (self.name, self.parameters, self.text) = (name, parameters, text)
  }

  /// A call with one value for each parameter. Traps if the numbers differ.
  public func callAsFunction(_ values: PostgresValue...) -> PostgresCall { with(values) }

  /// A call with the values of an array, one for each parameter. Traps if the numbers differ.
  public func with(_ values: [PostgresValue]) -> PostgresCall {
    precondition(
      values.count == parameters.count, "\(name) takes \(parameters.count) parameters, not \(values.count)")
    return PostgresCall(statement: self, values: values, isPrepared: true)
  }
}

/// One statement with its values, as a part of a segment.
public struct PostgresCall: Sendable, Hashable {
  package let statement: PostgresStatement
  package let values: [PostgresValue]
  /// True if the connection prepares the statement under its name.
  let isPrepared: Bool

  init(statement: PostgresStatement, values: [PostgresValue], isPrepared: Bool) {
    (self.statement, self.values, self.isPrepared) = (statement, values, isPrepared)
  }

  /// A statement that is not prepared, because it is used once, such as one of a migration.
  public static func once(
    _ text: String, _ types: [PostgresType] = [], _ values: [PostgresValue] = []
  ) -> PostgresCall {
    PostgresCall(
      statement: PostgresStatement("", types, text).checked(values), values: values, isPrepared: false)
  }
}

extension PostgresStatement {
  /// Returns this statement unchanged. Traps if the numbers of values and parameter types differ.
  fileprivate func checked(_ values: [PostgresValue]) -> PostgresStatement {
    precondition(values.count == parameters.count, "a statement takes as many values as types")
    return self
  }

  /// Quotes an SQL identifier.
  static func quoted(_ name: String) -> String {
    precondition(!name.utf8.contains(0), "a name has no zero byte")
    return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
