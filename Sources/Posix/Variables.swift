// Owns the variables of an environment as a value: names and values of any bytes. Invariant: names are told apart by their bytes,
// so that two which Unicode takes for the same characters are two; no name is empty or holds an equals sign where it was read
// from a setting. Nothing here can fail.
import ByteText

/// The variables of an environment. `environ(7)`
public struct Variables: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
  private var values: [ExactText: ExactText]

  /// No variables.
  public init() { values = [:] }

  /// These variables; of a name that comes twice, the last.
  public init(_ variables: some Sequence<(key: String, value: String)>) {
    values = [:]
    for (name, value) in variables { self[name] = value }
  }

  /// These variables; of a name that comes twice, the last.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.lazy.map { (key: $0.0, value: $0.1) })
  }

  /// The value of a variable; nil for one that is not there.
  public subscript(name: String) -> String? {
    get { values[ExactText(name)]?.text }
    set { values[ExactText(name)] = newValue.map { ExactText($0) } }
  }

  /// The number of variables.
  public var count: Int { values.count }
  /// Whether there is none.
  public var isEmpty: Bool { values.isEmpty }

  /// Names with their values, in no particular order.
  public func makeIterator() -> AnyIterator<(key: String, value: String)> {
    var iterator = values.makeIterator()
    return AnyIterator { iterator.next().map { ($0.key.text, $0.value.text) } }
  }

  /// Names with their values, in the order of the names' bytes.
  public var inOrder: [(key: String, value: String)] {
    values.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.text) }
  }

  /// Those of which this is true.
  public func filter(_ isWanted: ((key: String, value: String)) -> Bool) -> Variables {
    var kept = self
    kept.values = values.filter { isWanted((key: $0.key.text, value: $0.value.text)) }
    return kept
  }

  /// These and others; of a name that both have, the other's value.
  public func overlaid(by others: Variables) -> Variables {
    var all = self
    all.values.merge(others.values) { $1 }
    return all
  }

  /// `NAME=VALUE` of each, in no particular order.
  public var settings: [String] { values.map { "\($0.key)=\($0.value)" } }

  /// Name and value of `NAME=VALUE`; nil for what has no name or no equals sign.
  public static func parts(of setting: String) -> (name: String, value: String)? {
    let bytes = setting.utf8
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals != bytes.startIndex else { return nil }
    return (String(setting[..<equals]), String(setting[bytes.index(after: equals)...]))
  }
}
