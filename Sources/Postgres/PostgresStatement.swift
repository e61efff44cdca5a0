// Owns what is asked of the server: a text with its parameters' types, known under a name, and one call of it.
// Invariant: a name stands for one text, on every connection and for as long as the process lives.

/// A statement, which a connection has the server prepare before its first call.
public struct PostgresStatement: Sendable, Hashable {
  /// Its name on the server.
  public let name: String
  /// One statement in SQL, with `$1`, `$2` … for its parameters.
  public let text: String
  /// What its parameters are.
  public let parameters: [PostgresType]

  public init(_ name: String, _ parameters: [PostgresType] = [], _ text: String) {
    (self.name, self.parameters, self.text) = (name, parameters, text)
  }

  /// With these parameters, as many as there are types.
  public func callAsFunction(_ values: PostgresValue...) -> PostgresCall { with(values) }

  /// The same, with the parameters in an array.
  public func with(_ values: [PostgresValue]) -> PostgresCall {
    precondition(
      values.count == parameters.count, "\(name) takes \(parameters.count) parameters, not \(values.count)")
    return PostgresCall(statement: self, values: values, isPrepared: true)
  }
}

/// One statement with its parameters, as a part of a segment.
public struct PostgresCall: Sendable, Hashable {
  package let statement: PostgresStatement
  package let values: [PostgresValue]
  let isPrepared: Bool

  init(statement: PostgresStatement, values: [PostgresValue], isPrepared: Bool) {
    (self.statement, self.values, self.isPrepared) = (statement, values, isPrepared)
  }

  /// A statement that is not worth preparing, such as one of a migration.
  public static func once(
    _ text: String, _ types: [PostgresType] = [], _ values: [PostgresValue] = []
  ) -> PostgresCall {
    PostgresCall(
      statement: PostgresStatement("", types, text).checked(values), values: values, isPrepared: false)
  }
}

extension PostgresStatement {
  fileprivate func checked(_ values: [PostgresValue]) -> PostgresStatement {
    precondition(values.count == parameters.count, "a statement takes as many values as types")
    return self
  }

  /// A name as SQL wants it, whatever stands in it.
  static func quoted(_ name: String) -> String {
    precondition(!name.utf8.contains(0), "a name has no zero byte")
    return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
