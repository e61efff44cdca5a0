// Owns how a particular becomes a sentence, in whatever language that is: whose it is, and where its values stand. Invariant: a
// place that has no value is filled with nothing, and what is no place stands as it is.

extension Remark {
  /// Whose particular it is.
  public enum Source: UInt8, Sendable, Hashable, CaseIterable, Codable {
    /// The stock has found it.
    case stock = 1
    /// The vending machine has found it.
    case machine = 2
    /// It is why the stock could not be audited.
    case unauditedStock = 3
    /// It is why the vending machine could not be audited.
    case unauditedMachine = 4

    /// What stands before it, in English.
    var english: String {
      switch self {
      case .stock: "the stock: "
      case .machine: "the vending machine: "
      case .unauditedStock: "the stock could not be audited: "
      case .unauditedMachine: "the vending machine could not be audited: "
      }
    }
  }

  /// Puts values into a sentence: `{0}` is the first, and `{0:name}` the first in a form that `form` knows.
  ///
  /// - Parameter form: Gives a value in the form that is named; an empty name is the value as it is.
  public func filling(_ sentence: String, _ form: (_ value: String, _ name: String) -> String) -> String {
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
