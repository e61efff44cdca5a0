// Table of a program's command line: commands, global options, and lookup by words. Parsing, help, suggestions and
// completion scripts use this table, so that they agree.
// Invariant: lookups do not trap in a faulty table; `faults()` lists its mistakes.

/// An exit code with its meaning, for help.
public struct ExitCode: Sendable, Hashable {
  /// The code, 0–255.
  public var code: Int32
  /// Meaning of the code.
  public var meaning: Text

  public init(_ code: Int32, _ meaning: Text) { (self.code, self.meaning) = (code, meaning) }
}

/// The command line of a program: its commands and global options, with their help and exit codes.
public struct CommandTable: Sendable, Hashable {
  /// The program's name: `depot`.
  public var program: String
  /// Description of the program in one sentence.
  public var summary: Text
  /// Examples on the overview page.
  public var examples: [Example]
  /// Options of every command. `--help` and `--version` exist without being declared.
  public var globalOptions: [OptionSpec]
  /// The commands, in the order of help.
  public var commands: [CommandSpec]
  /// The exit codes, for help.
  public var exitCodes: [ExitCode]

  /// Creates a table. Its mistakes are found by ``faults()``.
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

  /// The command with these words as its path or as an alias.
  public func command(at path: [String]) -> CommandSpec? { commands.first { $0.paths.contains(path) } }

  /// The command with this name, its words separated by spaces.
  public func command(named name: String) -> CommandSpec? {
    command(at: name.split(separator: " ").map(String.init))
  }

  /// True for a program without subcommands.
  var hasOnlyCommand: Bool { commands.count == 1 && commands[0].path.isEmpty }
  /// True if these words are a command or the start of one.
  func isCommandPrefix(_ path: [String]) -> Bool {
    commands.contains { $0.paths.contains { $0.starts(with: path) } }
  }

  /// Commands whose names start with these words and continue, in table order; by default without hidden ones.
  func commands(below path: [String], includingHidden: Bool = false) -> [CommandSpec] {
    commands.filter {
      $0.path.count > path.count && $0.path.starts(with: path) && (includingHidden || !$0.isHidden)
    }
  }

  /// The words that may follow these words in a name or alias of a visible command, each once, in table order.
  func nextWords(after path: [String]) -> [String] {
    var seen: Set<String> = []
    let longer = commands.filter { !$0.isHidden }.flatMap(\.paths).filter {
      $0.count > path.count && $0.starts(with: path)
    }
    return longer.map { $0[path.count] }.filter { seen.insert($0).inserted }
  }

  /// The declared global options, `--help` and `--version`.
  var allGlobalOptions: [OptionSpec] { globalOptions + [.help, .version] }

  /// The headings of the overview with their commands, in the order of the table, without hidden commands.
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

  /// The option with this long name on a line whose command words so far are `path`.
  ///
  /// The commands that are still possible are searched, too. A name takes a value in every command or in none, so the
  /// first match is sufficient.
  func option(long name: String, under path: [String]) -> OptionSpec? {
    option(under: path) { $0.longNames.contains(name) }
  }

  /// The option with this letter on a line whose command words so far are `path`.
  func option(short letter: Character, under path: [String]) -> OptionSpec? {
    option(under: path) { $0.short == letter }
  }

  /// The first option that matches: of the command, then global, then of the commands that are still possible.
  private func option(under path: [String], where matches: (OptionSpec) -> Bool) -> OptionSpec? {
    command(at: path)?.options.first(where: matches) ?? allGlobalOptions.first(where: matches)
      ?? commands.lazy.filter { $0.paths.contains { $0.starts(with: path) } }.flatMap(\.options)
      .first(where: matches)
  }
}
