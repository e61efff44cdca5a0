// Description of one option in the table: names, kind of value, help text.
// Invariant: no rule is enforced here. `CommandTable.faults()` reports the mistakes in a table.

/// One option of a command, or of all commands: `--deposit N`, `-f`, `--json`.
public struct OptionSpec: Sendable, Hashable {
  /// Long name without its dashes: `deposit`.
  public var name: String
  /// Other long names with the same meaning.
  public var aliases: [String]
  /// Long names that earlier versions accepted. The parser refuses them, and its error may suggest the present name.
  public var formerNames: [String]
  /// Letter of the short form, if there is one: `n` for `-n`.
  public var short: Character?
  /// Kind of the value; ``ValueKind/flag`` for an option without one.
  public var kind: ValueKind
  /// Placeholder of the value in help: `N`, `FILE`. nil for the placeholder of the kind.
  public var valueName: String?
  /// True if the option may be repeated.
  public var isRepeatable: Bool
  /// Default in help. The parser inserts no default: the caller knows the precedence of environment, file and
  /// built-in value.
  public var defaultText: Text?
  /// Environment variable that replaces the option, for help.
  public var environment: String?
  /// Long names of options that cannot be combined with this one.
  public var excludes: [String]
  /// Values that completions offer for a text, or names for an assignment. A text may contain several of them,
  /// separated by commas, and other values.
  public var offers: [String]
  /// One sentence for help and completions.
  public var summary: Text

  public init(
    _ name: String, short: Character? = nil, _ kind: ValueKind = .flag, value valueName: String? = nil,
    repeatable isRepeatable: Bool = false, default defaultText: Text? = nil, environment: String? = nil,
    excludes: [String] = [], offers: [String] = [], aliases: [String] = [], formerNames: [String] = [],
    summary: Text
  ) {
    (self.offers, self.name, self.short) = (offers, name, short)
    (self.aliases, self.formerNames) = (aliases, formerNames)
    (self.kind, self.valueName, self.isRepeatable) = (kind, valueName, isRepeatable)
    (self.defaultText, self.environment, self.excludes) = (defaultText, environment, excludes)
    self.summary = summary
  }

  /// True if a value follows the option.
  public var takesValue: Bool { kind != .flag }
  /// Long form with its dashes: `--deposit`.
  public var spelling: String { "--" + name }
  /// All long names: the name and its aliases.
  var longNames: [String] { [name] + aliases }
  /// Placeholder of the value: `N`, `deposit|loan`; empty for a flag.
  public var placeholder: String { valueName ?? kind.placeholder }
  /// Long form with the placeholder of its value: `--deposit N`.
  public var synopsis: String { takesValue ? "\(spelling) \(placeholder)" : spelling }

  /// `--help`, which every command has without declaring it.
  public static let help = OptionSpec("help", short: "h", summary: Text("Show this help.", "이 도움말을 보여 줍니다."))
  /// `--version`, which every table has without declaring it.
  public static let version = OptionSpec("version", summary: Text("Show the version.", "버전을 보여 줍니다."))
}
