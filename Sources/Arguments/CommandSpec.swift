// What the table says of one command: its words, operands, options and examples.
// Owns: the description of a command and of its operands. Must not know how a line is read or a page laid out.
// Invariant: none is enforced here. A mistake in a table is found by `CommandTable.faults()`, never by a trap.

/// How often an operand is given.
public enum Arity: Sendable, Hashable {
  case required
  case optional
  /// Any number of times, also not at all. Only the last operand may repeat.
  case repeating
  /// Once or more often. Only the last operand may repeat.
  case repeatingOnceOrMore
  /// The program and the arguments of another command line, written after `--`. Only the last operand may be one.
  case commandLine

  /// Whether more than one word may be given.
  public var repeats: Bool { self == .repeating || self == .repeatingOnceOrMore || self == .commandLine }
  /// Whether at least one word must be given.
  public var isRequired: Bool { self == .required || self == .repeatingOnceOrMore || self == .commandLine }
}

/// One positional operand of a command: the `N` of `put N`.
public struct OperandSpec: Sendable, Hashable {
  /// The name in help and in errors, and the key of its value: `N`, `PRODUCT`.
  public var name: String
  /// How often it is given.
  public var arity: Arity
  /// The kind of its value.
  public var kind: ValueKind
  /// The long name of an option that stands in for this operand. With that option the operand is neither
  /// needed nor allowed; without it the arity holds.
  public var replacedBy: String?
  /// The long names of options with which it may be left out: the caller knows what holds then.
  public var impliedBy: [String]
  /// Words that completions offer for a text, beside which any other may be meant.
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

  /// What belongs there, for an error: the words of a choice, or else the summary.
  var wanted: Text {
    guard case .choice(let choices) = kind, let last = choices.last, choices.count > 1 else { return summary }
    let words = choices.map(\.value)
    return Text(
      words.dropLast().joined(separator: ", ") + " or \(last.value)", words.joined(separator: ", "))
  }

  /// The operand as a usage line shows it: `N`, `[N]`, `[AISLE …]`, `SHELF=N …`, `COMMAND [ARG …]`.
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

/// A line a person can copy, and what it does.
public struct Example: Sendable, Hashable {
  /// The whole line as it is typed in a shell, program name included. Its names may be of the reader's language.
  public var line: Text
  /// What it does.
  public var summary: Text

  /// An example; `line` begins with the program's name (a pipe or a variable may stand before it).
  public init(_ line: Text, _ summary: Text) { (self.line, self.summary) = (line, summary) }
}

/// One command of the program.
public struct CommandSpec: Sendable, Hashable {
  /// The words that name the command: `["shelf", "add"]`. The only command of a program has none.
  public var path: [String]
  /// The heading under which the overview lists it.
  public var group: Text
  /// One sentence for the overview.
  public var summary: Text
  /// More for the command's own page; paragraphs are parted by an empty line.
  public var details: Text?
  /// Lines to copy, shown first.
  public var examples: [Example]
  /// The positional operands, in order.
  public var operands: [OperandSpec]
  /// The options of this command alone.
  public var options: [OptionSpec]
  /// Whether help, suggestions, completions and the documentation leave it out. It can still be run.
  public var isHidden: Bool

  /// Describes a command; `name` holds its words, parted by spaces: `"shelf admin add"`.
  public init(
    _ name: String = "", group: Text? = nil, summary: Text, details: Text? = nil, examples: [Example] = [],
    operands: [OperandSpec] = [], options: [OptionSpec] = [], hidden isHidden: Bool = false
  ) {
    self.path = name.split(separator: " ").map(String.init)
    self.group = group ?? summary
    self.summary = summary
    self.details = details
    self.examples = examples
    self.operands = operands
    self.options = options
    self.isHidden = isHidden
  }

  /// The command's words in one string: `shelf admin add`.
  public var name: String { path.joined(separator: " ") }
  /// The operands as a usage line shows them, with `--` before another command line.
  var operandSynopses: [String] {
    operands.flatMap { $0.arity == .commandLine ? ["--", $0.synopsis] : [$0.synopsis] }
  }
  /// The option of this command with that long name.
  public func option(named name: String) -> OptionSpec? { options.first { $0.name == name } }
}
