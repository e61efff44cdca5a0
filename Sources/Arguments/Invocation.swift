// Result of parsing a command line.
// Invariant: every value was checked, every required operand is present unless an option replaces or implies it, and
// no two given options exclude each other.

import Time

/// A command with its checked options and operands.
public struct Invocation: Sendable, Hashable {
  /// The command in the table.
  public let command: CommandSpec
  /// The options, global ones included, by long name.
  public let options: Values
  /// The operands by name.
  public let operands: Values

  /// The command's words in one string: `shelf add`.
  public var name: String { command.name }
  /// True if the flag was given.
  public func flag(_ option: String) -> Bool { options.flag(option) }
  /// Number of an option, or nil.
  public func integer(_ option: String) -> Int64? { options.integer(option) }
  /// Text of an option, or nil.
  public func text(_ option: String) -> String? { options.text(option) }
  /// Duration of an option, or nil.
  public func duration(_ option: String) -> TimeSpan? { options.duration(option) }
  /// Speed factor of an option, or nil.
  public func speed(_ option: String) -> SpeedFactor? { options.speed(option) }
}

/// What a command line requests: to run a command, to show a help page, or to show the version.
public enum ParsedLine: Sendable, Hashable {
  case run(Invocation)
  /// Show help for the words of a command, or of a group of commands; empty for the overview.
  case help([String])
  case version
}
