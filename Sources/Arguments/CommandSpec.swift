// Description of one command in the table: its words, operands, options and examples.
// Invariant: no rule is enforced here. `CommandTable.faults()` reports the mistakes in a table.

/// Number of times an operand may or must be given.
public enum Arity: Sendable, Hashable {
  case required
  case optional
  /// Any number of times, including none. Only the last operand may repeat.
  case repeating
  /// Once or more. Only the last operand may repeat.
  case repeatingOnceOrMore
  /// The program and the arguments of another command line, usually after `--`. Only for the last operand.
  case commandLine

  /// True if more than one argument may be given.
  public var repeats: Bool { self == .repeating || self == .repeatingOnceOrMore || self == .commandLine }
  /// True if at least one argument must be given.
  public var isRequired: Bool { self == .required || self == .repeatingOnceOrMore || self == .commandLine }
}

/// One positional operand of a command: the `N` of `put N`.
public struct OperandSpec: Sendable, Hashable {
  /// Name in help and errors, and key of its value: `N`, `PRODUCT`.
  public var name: String
  /// Number of times the operand may be given.
  public var arity: Arity
  /// Kind of the operand's value.
  public var kind: ValueKind
  /// Long name of an option that replaces this operand. With that option the operand is refused; without it
  /// the arity applies.
  public var replacedBy: String?
  /// Long names of options with which the operand may be omitted. The caller chooses the value then.
  public var impliedBy: [String]
  /// Values that completions offer for a text, or names for an assignment; others are valid, too.
  public var offers: [String]
  /// One sentence for help and completions.
  public var summary: Text

  public init(
    _ name: String, _ kind: ValueKind, _ arity: Arity = .required, offers: [String] = [],
    replacedBy: String? = nil, impliedBy: [String] = [], summary: Text
  ) {
    (self.offers, self.name, self.arity, self.impliedBy) = (offers, name, arity, impliedBy)
    (self.kind, self.replacedBy, self.summary) = (kind, replacedBy, summary)
  }

  /// Text for the error about a missing operand: the choices if there are several, or the summary.
  var wanted: Text {
    guard case .choice(let choices) = kind, let last = choices.last, choices.count > 1 else { return summary }
    let words = choices.map(\.value)
    return Text(
      words.dropLast().joined(separator: ", ") + " or \(last.value)", words.joined(separator: ", "))
  }

  /// The operand in a usage line: `N`, `[N]`, `[AISLE …]`, `SHELF=N …`, `COMMAND [ARG …]`.
  public var synopsis: String {
    switch arity {
    case .required: name
    case .optional: "[\(name)]"
    case .repeating: "[\(name) …]"
    case .repeatingOnceOrMore: "\(name) …"
    case .commandLine: "\(name) [ARG …]"
    }
  }
}

/// A command line to copy, with an explanation.
public struct Example: Sendable, Hashable {
  /// The complete line for a shell, including the program name. Names in it may depend on the language.
  public var line: Text
  /// Explanation of the line.
  public var summary: Text

  /// Creates an example. In `line`, the program's name may follow a pipe or a variable assignment.
  public init(_ line: Text, _ summary: Text) { (self.line, self.summary) = (line, summary) }
}

/// One command that a program accepts: its words, options and operands, and its texts for help.
public struct CommandSpec: Sendable, Hashable {
  /// The words that name the command: `["shelf", "add"]`. Empty for the only command of a program.
  public var path: [String]
  /// Other paths with the same meaning.
  public var aliases: [[String]]
  /// Paths that earlier versions accepted. The parser refuses them, and its error may suggest the present path.
  public var formerPaths: [[String]]
  /// Heading of the command in the overview.
  public var group: Text
  /// One sentence for the overview.
  public var summary: Text
  /// Further paragraphs for the command's own page, separated by an empty line.
  public var details: Text?
  /// Examples for the command's own page.
  public var examples: [Example]
  /// The positional operands, in order.
  public var operands: [OperandSpec]
  /// The options of this command, without the global options.
  public var options: [OptionSpec]
  /// True if the lists of help, suggestions and completions omit the command. It can still be run.
  public var isHidden: Bool

  /// Creates a command. `name`, the aliases and the former names contain words separated by spaces:
  /// `"shelf admin add"`.
  public init(
    _ name: String = "", aliases: [String] = [], formerNames: [String] = [], group: Text? = nil,
    summary: Text, details: Text? = nil, examples: [Example] = [], operands: [OperandSpec] = [],
    options: [OptionSpec] = [], hidden isHidden: Bool = false
  ) {
    self.path = Self.words(name)
    self.aliases = aliases.map(Self.words)
    self.formerPaths = formerNames.map(Self.words)
    self.group = group ?? summary
    self.summary = summary
    self.details = details
    self.examples = examples
    self.operands = operands
    self.options = options
    self.isHidden = isHidden
  }

  /// Splits a name at its spaces.
  private static func words(_ name: String) -> [String] { name.split(separator: " ").map(String.init) }

  /// The command's words in one string: `shelf admin add`.
  public var name: String { path.joined(separator: " ") }
  /// All paths: the command's own and its aliases.
  var paths: [[String]] { [path] + aliases }
  /// The operands in a usage line, with `--` before another command line.
  var operandSynopses: [String] {
    operands.flatMap { $0.arity == .commandLine ? ["--", $0.synopsis] : [$0.synopsis] }
  }
  /// The option of this command with this long name or alias.
  public func option(named name: String) -> OptionSpec? { options.first { $0.longNames.contains(name) } }
}
