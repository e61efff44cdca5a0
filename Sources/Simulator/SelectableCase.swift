// Cases that a user of the simulator selects by name: planted bugs and scenarios.
// Each has a name for the command line, and a sentence as its raw value.

/// A case with a name and one sentence that describes it.
public protocol SelectableCase: RawRepresentable<String>, CaseIterable, Sendable {}

extension SelectableCase {
  /// The name, as on the command line.
  public var name: String { String(describing: self) }
  /// One sentence that describes the case.
  public var sentence: String { rawValue }
  /// The case of this name; nil if there is none.
  public static func named(_ name: String) -> Self? { allCases.first { $0.name == name } }
}
