// What a command line asks for, once it has been understood. Owns: the result of parsing. Invariant: every
// value in it was checked, every required operand is there, no option excludes another.

import Time

/// A command with its checked options and operands.
public struct Invocation: Sendable, Hashable {
  /// The command as the table describes it.
  public let command: CommandSpec
  /// The options, global ones included, by long name.
  public let options: Values
  /// The operands by name.
  public let operands: Values

  /// The command's words in one string: `shelf add`.
  public var name: String { command.name }
  /// Whether the flag was given.
  public func flag(_ option: String) -> Bool { options.flag(option) }
  /// The number of an option, or nil.
  public func integer(_ option: String) -> Int64? { options.integer(option) }
  /// The text of an option, or nil.
  public func text(_ option: String) -> String? { options.text(option) }
  /// The duration of an option, or nil.
  public func duration(_ option: String) -> TimeSpan? { options.duration(option) }
  /// The speed factor of an option, or nil.
  public func speed(_ option: String) -> SpeedFactor? { options.speed(option) }
}

/// What a command line asks for.
public enum ParsedLine: Sendable, Hashable {
  case run(Invocation)
  /// Show help for the words of a command, or of a group of commands; no words mean the overview.
  case help([String])
  case version
}
