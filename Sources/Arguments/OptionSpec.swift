// What the table says of one option. Owns: the names of an option, the kind of its value, and the words help
// says of it. Invariant: none is enforced here. A mistake in a table is found by `CommandTable.faults()`,
// never by a trap.

/// One option of a command, or of all commands: `--deposit N`, `-f`, `--json`.
public struct OptionSpec: Sendable, Hashable {
  /// The long name without its dashes: `deposit`.
  public var name: String
  /// The letter of the short form, if there is one: `n` for `-n`.
  public var short: Character?
  /// The kind of the value; ``ValueKind/flag`` for an option without one.
  public var kind: ValueKind
  /// The word that stands for the value in help: `N`, `FILE`. Without one the kind's own word is used.
  public var valueName: String?
  /// Whether the option may be given more than once.
  public var isRepeatable: Bool
  /// What holds when the option is not given, as help shows it. The parser fills in no value:
  /// the caller alone knows the order of environment, file and built-in default.
  public var defaultText: Text?
  /// The environment variable that stands in for the option, as help shows it.
  public var environment: String?
  /// The long names of options that cannot be given together with this one.
  public var excludes: [String]
  /// Words that completions offer for a text, which may hold several with commas between, and others.
  public var offers: [String]
  /// One sentence for help and completions.
  public var summary: Text

  public init(
    _ name: String, short: Character? = nil, _ kind: ValueKind = .flag, value valueName: String? = nil,
    repeatable isRepeatable: Bool = false, default defaultText: Text? = nil, environment: String? = nil,
    excludes: [String] = [], offers: [String] = [], summary: Text
  ) {
    (self.offers, self.name, self.short) = (offers, name, short)
    (self.kind, self.valueName, self.isRepeatable) = (kind, valueName, isRepeatable)
    (self.defaultText, self.environment, self.excludes) = (defaultText, environment, excludes)
    self.summary = summary
  }

  /// Whether a value follows the option.
  public var takesValue: Bool { kind != .flag }
  /// The long form with its dashes: `--deposit`.
  public var spelling: String { "--" + name }
  /// The word for the value: `N`, `deposit|loan`; empty for a flag.
  public var placeholder: String { valueName ?? kind.placeholder }
  /// The long form with the word for its value: `--deposit N`.
  public var synopsis: String { takesValue ? "\(spelling) \(placeholder)" : spelling }

  /// `--help`, which every command has without declaring it.
  public static let help = OptionSpec("help", short: "h", summary: Text("Show this help.", "이 도움말을 보여 줍니다."))
  /// `--version`, which every table has without declaring it.
  public static let version = OptionSpec("version", summary: Text("Show the version.", "버전을 보여 줍니다."))
}
