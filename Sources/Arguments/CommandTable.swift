// The whole command line of a program as one table. Owns: the commands, the options all of them share, and
// how a command is found by its words. From it alone come parsing, help, suggestions, completion scripts and
// the documentation's list, so that none can drift. Must not know what any command does. Invariant: looking
// something up never traps, not even in a faulty table; faults are listed by `faults()`.

/// What an exit code means, for help.
public struct ExitCode: Sendable, Hashable {
  /// The code, 0–255.
  public var code: Int32
  /// What it means.
  public var meaning: Text

  public init(_ code: Int32, _ meaning: Text) { (self.code, self.meaning) = (code, meaning) }
}

/// The program's command line: its commands and what they share.
public struct CommandTable: Sendable, Hashable {
  /// The name a person types: `depot`.
  public var program: String
  /// What the program is, in one sentence.
  public var summary: Text
  /// Lines to copy on the overview page.
  public var examples: [Example]
  /// The options of every command. `--help` and `--version` are there without being declared.
  public var globalOptions: [OptionSpec]
  /// The commands, in the order help shows them.
  public var commands: [CommandSpec]
  /// The exit codes, for help.
  public var exitCodes: [ExitCode]

  /// A table. Tests of the program check that ``faults()`` is empty.
  public init(
    program: String, summary: Text, examples: [Example] = [], globalOptions: [OptionSpec] = [],
    commands: [CommandSpec], exitCodes: [ExitCode] = []
  ) {
    (self.program, self.summary, self.examples) = (program, summary, examples)
    (self.globalOptions, self.commands, self.exitCodes) = (globalOptions, commands, exitCodes)
  }

  /// The table of a program without subcommands: no word names its only command.
  public init(
    program: String, only command: CommandSpec, globalOptions: [OptionSpec] = [], exitCodes: [ExitCode] = []
  ) {
    self.init(
      program: program, summary: command.summary, globalOptions: globalOptions, commands: [command],
      exitCodes: exitCodes)
  }

  /// The command that has exactly these words.
  public func command(at path: [String]) -> CommandSpec? { commands.first { $0.path == path } }

  /// The command with that name, its words parted by spaces.
  public func command(named name: String) -> CommandSpec? {
    command(at: name.split(separator: " ").map(String.init))
  }

  /// Whether this is a program without subcommands.
  var hasOnlyCommand: Bool { commands.count == 1 && commands[0].path.isEmpty }
  /// Whether these words are a command or the beginning of one.
  func leads(_ path: [String]) -> Bool { commands.contains { $0.path.starts(with: path) } }

  /// The commands whose words begin with these words and go on, in table order.
  func commands(below path: [String], includingHidden: Bool = false) -> [CommandSpec] {
    commands.filter {
      $0.path.count > path.count && $0.path.starts(with: path) && (includingHidden || !$0.isHidden)
    }
  }

  /// The words that may follow these words in a command's name, each once, in table order.
  func nextWords(after path: [String]) -> [String] {
    var seen: Set<String> = []
    return commands(below: path).compactMap {
      let word = $0.path[path.count]
      return seen.insert(word).inserted ? word : nil
    }
  }

  /// The declared global options and the two that need no declaration.
  var allGlobalOptions: [OptionSpec] { globalOptions + [.help, .version] }

  /// The headings of the overview with their commands, in order of first appearance, hidden ones left out.
  var visibleGroups: [(title: Text, commands: [CommandSpec])] {
    var groups: [(title: Text, commands: [CommandSpec])] = []
    for command in commands where !command.isHidden {
      if let index = groups.firstIndex(where: { $0.title == command.group }) {
        groups[index].commands.append(command)
      } else {
        groups.append((command.group, [command]))
      }
    }
    return groups
  }

  /// The first option with a long name that can stand on a line whose command words so far are `path`.
  ///
  /// While the command is not known yet, an option is looked for in every command that is still possible.
  /// The rule that one name takes a value everywhere or nowhere makes the answer the same for all of them.
  func option(long name: String, under path: [String]) -> OptionSpec? {
    option(under: path) { $0.name == name }
  }

  /// The first option with a short letter that can stand on a line whose command words so far are `path`.
  func option(short letter: Character, under path: [String]) -> OptionSpec? {
    option(under: path) { $0.short == letter }
  }

  private func option(under path: [String], where matches: (OptionSpec) -> Bool) -> OptionSpec? {
    command(at: path)?.options.first(where: matches) ?? allGlobalOptions.first(where: matches)
      ?? commands.lazy.filter { $0.path.starts(with: path) }.flatMap(\.options).first(where: matches)
  }
}
