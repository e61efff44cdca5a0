// Validation of a table: the rules that parsing, help and completions depend on.
// Invariant: a mistake in a table gives a sentence and does not trap.

extension CommandTable {
  /// The mistakes in this table, each a sentence; empty for a valid table.
  ///
  /// The main rules: names of commands and options are lower-case words of ASCII letters, digits and hyphens; none is
  /// declared twice; an alias counts as a name, and a former name is not in use; an option name or letter takes a
  /// value in every command or in none; required operands come before optional ones and only the last repeats; names
  /// in `excludes`, `replacedBy` and `impliedBy` exist; texts are translated; a command has an example, and examples
  /// parse.
  public func faults() -> [String] {
    var faults: [String] = []
    if commands.isEmpty { faults.append("the table has no command") }
    faults += untranslated(summary, "the program's summary")
    for option in globalOptions { faults += self.faults(of: option, in: "the global options", globalOptions) }
    for code in exitCodes { faults += untranslated(code.meaning, "exit code \(code.code)") }
    for example in examples { faults += self.faults(of: example, for: nil) }
    var paths: Set<[String]> = []
    for command in commands {
      for path in command.paths where !paths.insert(path).inserted {
        faults.append("command '\(path.joined(separator: " "))' is declared twice")
      }
      faults += self.faults(of: command)
    }
    for path in commands.flatMap(\.formerPaths) where isCommandPrefix(path) {
      faults.append("the former command '\(path.joined(separator: " "))' is in use")
    }
    return faults + ambiguousOptions()
  }

  private func faults(of command: CommandSpec) -> [String] {
    var faults: [String] = []
    if command.path.isEmpty, !hasOnlyCommand { faults.append("a command has no name") }
    for word in (command.paths + command.formerPaths).joined() where !Self.isName(word) {
      faults.append("command '\(command.name)': '\(word)' is not a valid word")
    }
    let place = "command '\(command.name)'"
    faults += untranslated(command.group, "the group of \(place)")
    faults += untranslated(command.summary, "the summary of \(place)")
    if let details = command.details { faults += untranslated(details, "the details of \(place)") }
    for option in command.options {
      faults += self.faults(of: option, in: place, command.options + globalOptions)
    }
    faults += self.faults(ofOperandsOf: command)
    if command.examples.isEmpty { faults.append("\(place) has no example") }
    for example in command.examples { faults += self.faults(of: example, for: command) }
    return faults
  }

  /// The mistakes in one option. Its names must be unique among `all`, the help option and the version option.
  private func faults(of option: OptionSpec, in place: String, _ all: [OptionSpec]) -> [String] {
    var faults: [String] = []
    let name = "option '\(option.spelling)' in \(place)"
    if !(option.longNames + option.formerNames).allSatisfy(Self.isName) {
      faults.append("\(name) has an invalid name")
    }
    let declared = all + [.help, .version]
    let names = declared.flatMap(\.longNames)
    if option.longNames.contains(where: { one in names.filter { $0 == one }.count > 1 }) {
      faults.append("\(name) is declared twice")
    }
    for former in option.formerNames where names.contains(former) {
      faults.append("\(name): the former name '--\(former)' is in use")
    }
    if let letter = option.short {
      if !(letter.isASCII && letter.isLetter) { faults.append("\(name): '-\(letter)' is not a letter") }
      if declared.filter({ $0.short == letter }).count > 1 {
        faults.append("\(name): '-\(letter)' is declared twice")
      }
    }
    for other in option.excludes where !all.contains(where: { $0.name == other }) {
      faults.append("\(name) excludes '--\(other)', which does not exist")
    }
    faults += self.faults(of: option.kind, in: name)
    if let text = option.defaultText, text.english.contains(" ") {
      faults += untranslated(text, "the default of \(name)")
    }
    return faults + untranslated(option.summary, "the summary of \(name)")
  }

  private func faults(ofOperandsOf command: CommandSpec) -> [String] {
    var faults: [String] = []
    var sawOptional = false
    for (index, operand) in command.operands.enumerated() {
      let name = "operand \(operand.name) of command '\(command.name)'"
      if operand.kind == .flag { faults.append("\(name) is a flag") }
      if operand.arity.repeats && index != command.operands.count - 1 {
        faults.append("\(name) repeats but is not the last")
      }
      if operand.arity.isRequired && sawOptional {
        faults.append("\(name) is required but follows an optional one")
      }
      sawOptional = sawOptional || !operand.arity.isRequired
      if command.operands.filter({ $0.name == operand.name }).count > 1 {
        faults.append("\(name) is declared twice")
      }
      if let option = operand.replacedBy, command.option(named: option) == nil {
        faults.append("\(name) is replaced by '--\(option)', which does not exist")
      }
      for option in operand.impliedBy where command.option(named: option) == nil {
        faults.append("\(name) is implied by '--\(option)', which does not exist")
      }
      faults += self.faults(of: operand.kind, in: name)
      faults += untranslated(operand.summary, "the summary of \(name)")
    }
    return faults
  }

  /// The mistakes in the choices of a kind. A choice becomes a word in completion scripts, so it must not contain
  /// shell syntax. Letters of both cases are allowed.
  private func faults(of kind: ValueKind, in place: String) -> [String] {
    let choices: [Choice]
    switch kind {
    case .choice(let words):
      if words.isEmpty { return ["\(place) has no choices"] }
      choices = words
    case .integerOrWord(_, let words): choices = words
    case .assignment(let names, _): choices = names
    case .flag, .integer, .duration, .speed, .path, .text, .bytes, .date: choices = []
    }
    let spellings = choices.flatMap { [$0.value] + $0.aliases }
    var faults = choices.map(\.value).filter { !Self.isName($0.lowercased()) }.map {
      "\(place): '\($0)' is not a valid choice"
    }
    if Set(spellings).count != spellings.count { faults.append("\(place) has a choice twice") }
    return faults
  }

  /// The mistakes in an example: missing translations, and lines that are not valid, or not of the command.
  private func faults(of example: Example, for command: CommandSpec?) -> [String] {
    let lines = example.line.english == example.line.korean ? [TextLanguage.english] : TextLanguage.allCases
    return untranslated(example.summary, "the example '\(example.line.english)'")
      + lines.compactMap { fault(of: example, in: $0, for: command) }
  }

  /// The mistake in the line of an example in one language; nil if the line is valid and runs no other command.
  private func fault(of example: Example, in language: TextLanguage, for command: CommandSpec?) -> String? {
    let line = example.line[language]
    guard let arguments = example.arguments(of: program, in: language) else {
      return "the example '\(line)' does not start with '\(program)'"
    }
    do {
      let parsed = try parse(arguments)
      guard let command, case .run(let invocation) = parsed, invocation.command.path != command.path else {
        return nil
      }
      return "the example '\(line)' belongs to '\(invocation.name)', not '\(command.name)'"
    } catch {
      return "the example '\(line)' does not parse: \(error.message(in: .english))"
    }
  }

  /// The options that take a value in one command and none in another. This is a mistake, because an option may
  /// precede the command: the parser must know whether a value follows before it has found the command.
  private func ambiguousOptions() -> [String] {
    var byName: [String: Bool] = [:]
    var byLetter: [Character: Bool] = [:]
    var faults: [String] = []
    for option in allGlobalOptions + commands.flatMap(\.options) {
      for name in option.longNames
      where byName.updateValue(option.takesValue, forKey: name) == !option.takesValue {
        faults.append("option '--\(name)' takes a value in one command and none in another")
      }
      guard let letter = option.short else { continue }
      if byLetter.updateValue(option.takesValue, forKey: letter) == !option.takesValue {
        faults.append("option '-\(letter)' takes a value in one command and none in another")
      }
    }
    return faults
  }

  /// The mistake in a text that is empty, or whose Korean wording contains no Hangul.
  private func untranslated(_ text: Text, _ place: String) -> [String] {
    if text.english.isEmpty || text.korean.isEmpty { return ["\(place) has an empty text"] }
    let hasHangul = text.korean.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
    return hasHangul ? [] : ["\(place) is not translated"]
  }

  /// True if the word consists of lower-case letters, digits and hyphens, and does not start with a hyphen.
  private static func isName(_ word: String) -> Bool {
    guard let first = word.utf8.first, first != UInt8(ascii: "-") else { return false }
    return word.utf8.allSatisfy {
      ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || DecimalText.isDigit($0)
        || $0 == UInt8(ascii: "-")
    }
  }
}
