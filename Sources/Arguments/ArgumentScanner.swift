// First pass over a command line: command words, options, values and operands, with the rules of dashes (long, short,
// combined, `--`, negative numbers). `CommandTable+Parse`, the second pass, checks the values.
// Invariant: the scan reaches the end and keeps the first error, so that a `--help` or `--lang` after a mistake is
// still recognised.

/// Result of the first pass: the command words, options and operands of a line, and its first errors.
struct ArgumentScanner {
  /// One use of an option on the line.
  struct Occurrence {
    /// Long name as written, because an alias in one command can be a name in another. For a short option,
    /// the long name of that option.
    let name: String
    /// The spelling on the line: `--number` or `-n`.
    let spelling: String
    /// Text of the value; nil for a flag.
    let value: String?
  }

  /// The command words found so far; an alias stays as written.
  private(set) var path: [String] = []
  /// Indices of the command words on the line.
  private(set) var pathIndexes: [Int] = []
  /// The known options of the line, in order.
  private(set) var occurrences: [Occurrence] = []
  /// The operands of the line, in order, not checked yet.
  private(set) var operands: [String] = []
  /// True if the line requests help: with `--help`, `-h`, or the word `help` in the place of a command.
  private(set) var wantsHelp = false
  /// True if the line contains `--version`.
  private(set) var wantsVersion = false
  /// The first error of a command word.
  private(set) var commandError: UsageError?
  /// The first error of an option.
  private(set) var optionError: UsageError?
  private let table: CommandTable
  /// The arguments that are not scanned yet.
  private var rest: ArraySlice<String>
  /// The command at `path`; nil while no command is complete.
  private var command: CommandSpec?
  /// True if no further argument can be a command word.
  private var isPathClosed = false

  init(_ arguments: [String], table: CommandTable) {
    self.table = table
    rest = arguments[...]
    enter(table.command(at: []))
    while let word = rest.popFirst() {
      if word == "--" {
        if command != nil { isPathClosed = true }
        while let word = rest.popFirst() { scanWord(word) }
      } else if word.hasPrefix("--") {
        scanLongOption(word)
      } else if word.hasPrefix("-"), word != "-", !isNegativeOperand(word) {
        scanShortOptions(word)
      } else {
        scanWord(word)
      }
    }
  }

  /// True if an argument such as `-3` is a negative number, in the place of a numeric operand, and not an option.
  private func isNegativeOperand(_ word: String) -> Bool {
    guard Self.looksNegative(word), let command else { return false }
    let specs = command.operands
    let spec = operands.count < specs.count ? specs[operands.count] : specs.last
    guard let spec, operands.count < specs.count || spec.arity.repeats else { return false }
    return spec.kind.isNumeric
  }

  /// True if the argument starts with a dash and a digit.
  private static func looksNegative(_ word: String) -> Bool {
    let bytes = word.utf8.prefix(2)
    return bytes.count == 2 && bytes.first == UInt8(ascii: "-") && bytes.last.map(DecimalText.isDigit) == true
  }

  /// Handles an argument that is not an option: a command word, `help`, an operand, or an unknown command.
  private mutating func scanWord(_ word: String) {
    if isPathClosed {
      operands.append(word)
      return
    }
    if table.isCommandPrefix(path + [word]) {
      path.append(word)
      pathIndexes.append(rest.startIndex - 1)
      enter(table.command(at: path))
    } else if path.isEmpty, word == "help" {
      wantsHelp = true
    } else if let command, !command.operands.isEmpty {
      isPathClosed = true
      operands.append(word)
    } else {
      // Words after an unknown command cannot be interpreted; they are stored as operands and ignored.
      // After an unknown option, the argument may be the value of that option, so the option is reported
      // instead.
      isPathClosed = true
      if optionError == nil { commandError = error(unknown: word) }
    }
  }

  /// Stores the command that the words so far name; nil if they are incomplete. All further words are operands if no
  /// longer command starts with these words.
  private mutating func enter(_ command: CommandSpec?) {
    self.command = command
    isPathClosed = command != nil && table.commands(below: path, includingHidden: true).isEmpty
  }

  /// The error for an unknown command word, with suggestions.
  private func error(unknown word: String) -> UsageError {
    let typed = path + [word]
    if let renamed = table.commands.first(where: { $0.formerPaths.contains(typed) }),
      renamed.path.starts(with: path)
    {
      let name = renamed.path.dropFirst(path.count).joined(separator: " ")
      return failure(.unknownCommand(word, under: path, suggestions: [name]))
    }
    let known = table.nextWords(after: path) + (path.isEmpty ? ["help"] : [])
    var near = Suggestions.nearest(to: word, among: known)
    // If the user typed only the last word of a command, such as `add` of `shelf add`, suggest the whole command.
    if near.isEmpty {
      near = table.commands(below: path).filter { $0.path.last == word }
        .map { $0.path.dropFirst(path.count).joined(separator: " ") }
      near = Array(near.prefix(3))
    }
    return failure(.unknownCommand(word, under: path, suggestions: near))
  }

  /// Handles an argument that starts with two dashes.
  private mutating func scanLongOption(_ word: String) {
    let body = word.dropFirst(2)
    // The search is by bytes, because a combining mark after the equals sign belongs to the value.
    let equals = body.utf8.firstIndex(of: UInt8(ascii: "="))
    let name = String(body[..<(equals ?? body.endIndex)])
    let attached = equals.map { String(body[body.utf8.index(after: $0)...]) }
    guard let option = table.option(long: name, under: path) else {
      optionError = optionError ?? unknownHere("--" + name)
      return
    }
    record(option, name: name, spelling: "--" + name, attached: attached)
  }

  /// Handles an argument that starts with one dash: one letter or several combined.
  private mutating func scanShortOptions(_ word: String) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = table.option(short: letter, under: path) else {
        // If the first letter is unknown, the whole word is reported: `-json` is a typing error for `--json`, not
        // four letters.
        let isFirst = letters.count == word.count - 2
        optionError = optionError ?? unknownHere(isFirst ? word : "-\(letter)")
        return
      }
      // A value follows `=`, or follows the letter directly if the option takes a value.
      let isAttached = letters.first == "=" || option.takesValue && !letters.isEmpty
      let attached = letters.first == "=" ? letters.dropFirst() : letters
      record(option, name: option.name, spelling: "-\(letter)", attached: isAttached ? String(attached) : nil)
      if isAttached || option.takesValue { return }
    }
  }

  /// Adds an option with its value, which may be the next argument. Stores the error of a missing or needless value.
  private mutating func record(_ option: OptionSpec, name: String, spelling: String, attached: String?) {
    if !option.takesValue {
      if let attached {
        optionError = optionError ?? failure(.valueForFlag(option: spelling, value: attached))
      }
      if option == .help { wantsHelp = true }
      if option == .version { wantsVersion = true }
      occurrences.append(Occurrence(name: name, spelling: spelling, value: nil))
    } else if let attached {
      occurrences.append(Occurrence(name: name, spelling: spelling, value: attached))
    } else if let next = rest.first, Self.canBeValue(next) {
      rest.removeFirst()
      occurrences.append(Occurrence(name: name, spelling: spelling, value: next))
    } else {
      optionError = optionError ?? failure(.missingValue(option: spelling, placeholder: option.placeholder))
    }
  }

  /// True if the argument after an option is its value and not another option: `-`, or an argument that starts with no
  /// dash, or with a dash and a digit.
  private static func canBeValue(_ word: String) -> Bool {
    !word.hasPrefix("-") || word == "-" || looksNegative(word)
  }

  /// The error for an unknown option, with suggestions.
  func unknown(_ spelling: String) -> UsageError {
    var options = table.allGlobalOptions
    if let command {
      options = command.options + options
    } else {
      options += table.commands(below: path).flatMap(\.options)
    }
    let bare = String(spelling.drop { $0 == "-" })
    if let renamed = options.first(where: { $0.formerNames.contains(bare) }) {
      return failure(.unknownOption(spelling, suggestions: [renamed.spelling]))
    }
    let names = options.flatMap(\.longNames)
    let near = bare.count == 1 ? [] : Suggestions.nearest(to: bare, among: names).map { "--" + $0 }
    return failure(.unknownOption(spelling, suggestions: near))
  }

  /// The error for an unknown option at the present place of the line. After the first argument of a command
  /// line to run, the option probably belongs to that command.
  private func unknownHere(_ spelling: String) -> UsageError {
    guard command?.operands.last?.arity == .commandLine, !operands.isEmpty else { return unknown(spelling) }
    return failure(.optionWithoutDashes(spelling))
  }

  private func failure(_ reason: UsageError.Reason) -> UsageError {
    UsageError(reason, program: table.program, command: path)
  }
}
