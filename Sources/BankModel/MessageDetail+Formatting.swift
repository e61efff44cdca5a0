// Formatting of a detail as a sentence: the prefix for its source, and the placeholders for its values.
// A placeholder without a value is replaced as if the value were empty.

extension MessageDetail {
  /// Part of the bank that found a detail, or that could not be audited for this reason.
  public enum Source: UInt8, Sendable, Hashable, CaseIterable, Codable {
    /// The stock found the detail.
    case stock = 1
    /// The vending machine found the detail.
    case machine = 2
    /// Reason why the stock could not be audited.
    case unauditedStock = 3
    /// Reason why the vending machine could not be audited.
    case unauditedMachine = 4

    /// Prefix of the sentence, in English.
    var english: String {
      switch self {
      case .stock: "the stock: "
      case .machine: "the vending machine: "
      case .unauditedStock: "the stock could not be audited: "
      case .unauditedMachine: "the vending machine could not be audited: "
      }
    }
  }

  /// Inserts the values into a sentence. `{0}` is replaced by the first value, `{0:name}` by the first value in the
  /// form `name`.
  ///
  /// - Parameter form: returns a value in the named form; for an empty name, the unchanged value.
  public func formatTemplate(_ sentence: String, _ form: (_ value: String, _ name: String) -> String)
    -> String
  {
    var filled = ""
    var rest = sentence[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      filled += rest[..<open]
      let parts = rest[rest.index(after: open)..<close].split(separator: ":", maxSplits: 1)
      let place = parts.first.flatMap { Int($0) } ?? 0
      let value = values.indices.contains(place) ? values[place] : ""
      filled += form(value, parts.count > 1 ? String(parts[1]) : "")
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }
}
