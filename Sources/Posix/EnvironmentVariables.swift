// Environment variables as a value: names and values of any bytes. Invariant: names are compared by their
// bytes, so canonically equivalent names are distinct. A name parsed from a setting is not empty and contains
// no equals sign.
import ByteText

/// The variables of an environment. `environ(7)`
public struct EnvironmentVariables: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
  private var values: [ExactText: ExactText]

  /// An empty set of variables.
  public init() { values = [:] }

  /// Copies a sequence. If a name occurs twice, the last value is used.
  public init(_ variables: some Sequence<(key: String, value: String)>) {
    values = [:]
    for (name, value) in variables { self[name] = value }
  }

  /// Copies a literal. If a name occurs twice, the last value is used.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.lazy.map { (key: $0.0, value: $0.1) })
  }

  /// Value of a variable; nil if it is not set.
  public subscript(name: String) -> String? {
    get { values[ExactText(name)]?.text }
    set { values[ExactText(name)] = newValue.map { ExactText($0) } }
  }

  /// Number of variables.
  public var count: Int { values.count }
  /// True if there are no variables.
  public var isEmpty: Bool { values.isEmpty }

  /// Names with their values, in no particular order.
  public func makeIterator() -> AnyIterator<(key: String, value: String)> {
    var iterator = values.makeIterator()
    return AnyIterator { iterator.next().map { ($0.key.text, $0.value.text) } }
  }

  /// Names with their values, sorted by the bytes of the names.
  public var inOrder: [(key: String, value: String)] {
    values.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.text) }
  }

  /// Returns the variables for which `isWanted` is true.
  public func filter(_ isWanted: ((key: String, value: String)) -> Bool) -> EnvironmentVariables {
    var kept = self
    kept.values = values.filter { isWanted((key: $0.key.text, value: $0.value.text)) }
    return kept
  }

  /// Returns the variables of both sets. For a name in both, the value of `others` is used.
  public func overlaid(by others: EnvironmentVariables) -> EnvironmentVariables {
    var all = self
    all.values.merge(others.values) { $1 }
    return all
  }

  /// Each variable as `NAME=VALUE`, in no particular order.
  public var settings: [String] { values.map { "\($0.key)=\($0.value)" } }

  /// Name and value of a text `NAME=VALUE`; nil if the name or the equals sign is missing.
  public static func parts(of setting: String) -> (name: String, value: String)? {
    let bytes = setting.utf8
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals != bytes.startIndex else { return nil }
    return (String(setting[..<equals]), String(setting[bytes.index(after: equals)...]))
  }
}
