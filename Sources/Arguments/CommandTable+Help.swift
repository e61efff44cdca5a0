// Help pages: the overview, a group of commands, or one command.
// Invariant: the lists of a page are made from the table, so they contain no option that the parser does not accept.

extension CommandTable {
  /// The help page of the command, or the group of commands, with the words `path`; the overview if there is none.
  ///
  /// - Parameters:
  ///   - path: The words of a command, or of a group of commands such as `shelf admin`. If the path is empty
  ///     or unknown, the function returns the overview; for a program without subcommands, an empty path gives
  ///     the page of its only command.
  ///   - width: Columns of the terminal; clamped to 20…120.
  ///   - colour: True to print headings, examples and terms in bold (ECMA-48).
  /// - Returns: The page, ending in a newline.
  public func help(
    for path: [String] = [], language: TextLanguage, width: Int = 80, colour: Bool = false
  ) -> String {
    var page = PageLayout(width: width, colour: colour)
    if let command = command(at: path) {
      write(command, to: &page, language)
    } else if !path.isEmpty, isCommandPrefix(path) {
      write(groupAt: path, to: &page, language)
    } else {
      writeOverview(to: &page, language)
    }
    return page.text
  }

  private func writeOverview(to page: inout PageLayout, _ language: TextLanguage) {
    page.paragraph("\(program): \(summary[language])")
    write(examples, to: &page, language)
    page.heading(HelpMessages.usage[language])
    page.synopsis([program, HelpMessages.command[language], HelpMessages.options[language]])
    for group in visibleGroups {
      page.section(group.title[language], group.commands.map { entry($0, language) })
    }
    writeGlobalOptions(to: &page, language)
    writeExitCodes(to: &page, language)
    page.blankLine()
    page.paragraph(HelpMessages.more(program)[language])
  }

  /// Writes the page of a group of commands, such as `shelf admin`.
  private func write(groupAt path: [String], to page: inout PageLayout, _ language: TextLanguage) {
    let commands = commands(below: path)
    // Examples come first, because most readers look for them.
    write(commands.compactMap(\.examples.first), to: &page, language)
    page.heading(HelpMessages.usage[language])
    page.synopsis([program] + path + [HelpMessages.command[language], HelpMessages.options[language]])
    page.section(HelpMessages.commands[language], commands.map { entry($0, language) })
    writeGlobalOptions(to: &page, language)
    page.blankLine()
    page.paragraph(HelpMessages.more(([program] + path).joined(separator: " "))[language])
  }

  private func write(_ command: CommandSpec, to page: inout PageLayout, _ language: TextLanguage) {
    write(command.examples, to: &page, language)
    page.heading(HelpMessages.usage[language])
    for parts in usages(of: command, language) { page.synopsis(parts) }
    page.heading(HelpMessages.description[language])
    page.paragraph(Self.sentence(command.summary[language], command.notes(language)), indent: 2)
    if let details = command.details {
      page.blankLine()
      page.paragraph(details[language], indent: 2)
    }
    let below = commands(below: command.path)
    page.section(HelpMessages.commands[language], below.map { entry($0, language) })
    page.section(HelpMessages.operands[language], command.operands.map { Self.entry($0, language) })
    let options = command.options + (hasOnlyCommand ? allGlobalOptions : [])
    page.section(HelpMessages.ownOptions[language], options.map { Self.entry($0, language) })
    if !hasOnlyCommand { writeGlobalOptions(to: &page, language) }
    writeExitCodes(to: &page, language)
  }

  private func write(_ examples: [Example], to page: inout PageLayout, _ language: TextLanguage) {
    guard !examples.isEmpty else { return }
    page.heading(HelpMessages.examples[language])
    for example in examples {
      page.verbatim(example.line[language], indent: 2)
      page.paragraph(example.summary[language], indent: 6)
    }
  }

  private func writeGlobalOptions(to page: inout PageLayout, _ language: TextLanguage) {
    page.section(HelpMessages.globalOptions[language], allGlobalOptions.map { Self.entry($0, language) })
  }

  private func writeExitCodes(to page: inout PageLayout, _ language: TextLanguage) {
    let codes = exitCodes.map { PageLayout.Entry(term: String($0.code), explanation: $0.meaning[language]) }
    page.section(HelpMessages.exitCodes[language], codes)
  }

  /// The usage lines of a command, each as parts that stay whole if possible. An option that replaces an operand or
  /// makes it optional has a line of its own.
  func usages(of command: CommandSpec, _ language: TextLanguage) -> [[String]] {
    let start = [([program] + command.path).joined(separator: " ")]
    let end = command.options.isEmpty ? [] : [HelpMessages.options[language]]
    // Everything after `--` belongs to the command line to run, so the options of this program precede `--`.
    if command.operands.last?.arity == .commandLine { return [start + end + command.operandSynopses] }
    var usages = [start + command.operands.map(\.synopsis) + end]
    var replacing: [String] = []
    for operand in command.operands {
      let implying = operand.impliedBy.compactMap { command.option(named: $0)?.synopsis }
      usages += implying.map { start + ["[\(operand.name)]", $0] + end }
    }
    for operand in command.operands {
      guard let name = operand.replacedBy, !replacing.contains(name) else { continue }
      replacing.append(name)
      guard let option = command.option(named: name) else { continue }
      let others = command.operands.filter { $0.replacedBy != name }
      usages.append(start + [option.synopsis] + others.map(\.synopsis) + end)
    }
    return usages
  }

  /// Entry in a list of commands: the name with its operands, and the summary.
  private func entry(_ command: CommandSpec, _ language: TextLanguage) -> PageLayout.Entry {
    let term = ([command.name] + command.operandSynopses).joined(separator: " ")
    return .init(
      term: term, explanation: Self.sentence(command.summary[language], command.notes(language)))
  }

  /// Entry in a list of operands, with the accepted values.
  private static func entry(_ operand: OperandSpec, _ language: TextLanguage) -> PageLayout.Entry {
    let notes = [operand.kind.rule(shownAs: operand.name)?[language]]
    return .init(
      term: operand.synopsis, explanation: sentence(operand.summary[language], notes.compactMap { $0 }))
  }

  /// Entry in a list of options, with the range, the default and further notes.
  private static func entry(_ option: OptionSpec, _ language: TextLanguage) -> PageLayout.Entry {
    let short = option.short.map { "-\($0), " } ?? ""
    return .init(
      term: short + option.synopsis, explanation: sentence(option.summary[language], option.notes(language)))
  }

  /// A summary followed by its notes in parentheses.
  private static func sentence(_ summary: String, _ notes: [String]) -> String {
    notes.isEmpty ? summary : "\(summary) (\(notes.joined(separator: "; ")))"
  }
}

extension CommandSpec {
  /// Addition to the summary in help and documentation: the aliases.
  func notes(_ language: TextLanguage) -> [String] {
    HelpMessages.also(aliases.map { $0.joined(separator: " ") }, language)
  }
}

extension OptionSpec {
  /// Additions to the summary in help and documentation: range, default, environment, repetition,
  /// exclusion, aliases.
  func notes(_ language: TextLanguage) -> [String] {
    var notes: [String] = []
    if let rule = kind.rule(shownAs: placeholder) { notes.append(rule[language]) }
    if let defaultText { notes.append("\(HelpMessages.defaultIs[language]): \(defaultText[language])") }
    if let environment { notes.append("\(HelpMessages.environment[language]): \(environment)") }
    if isRepeatable { notes.append(HelpMessages.repeatable[language]) }
    if !excludes.isEmpty {
      let others = excludes.map { "--" + $0 }.joined(separator: ", ")
      notes.append("\(HelpMessages.notWith[language]): \(others)")
    }
    return notes + HelpMessages.also(aliases.map { "--" + $0 }, language)
  }
}

extension ValueKind {
  /// Short description of the accepted values, or nil if there is nothing to add to the placeholder.
  func rule(shownAs placeholder: String) -> Text? {
    switch self {
    case .flag, .path, .text, .bytes: nil
    case .integer(let range), .assignment(_, let range): HelpMessages.range(range)
    case .integerOrWord(let range, let words):
      Text(
        HelpMessages.range(range).english + ", or " + words.map(\.value).joined(separator: " or "),
        HelpMessages.range(range).korean + " 또는 " + words.map(\.value).joined(separator: " 또는 "))
    case .duration: Text("such as 700ms, 1.1s, 5m", "예: 700ms, 1.1s, 5m")
    case .speed: Text("such as 10, 0.5 or max", "예: 10, 0.5, max")
    case .date: Text("such as 2026-07-01", "예: 2026-07-01")
    case .choice(let choices):
      placeholder == self.placeholder
        ? nil
        : Text(
          "one of " + choices.map(\.value).joined(separator: ", "),
          choices.map(\.value).joined(separator: ", ") + " 중 하나")
    }
  }
}

/// Headings and phrases of help pages in both languages.
enum HelpMessages {
  static let usage = Text("Usage", "사용법")
  static let examples = Text("Examples", "예")
  static let description = Text("Description", "설명")
  static let commands = Text("Commands", "명령")
  static let operands = Text("Arguments", "인수")
  static let ownOptions = Text("Options", "옵션")
  static let globalOptions = Text("Global options", "공통 옵션")
  static let exitCodes = Text("Exit codes", "종료 코드")
  static let command = Text("COMMAND", "명령")
  static let options = Text("[OPTIONS]", "[옵션]")
  static let defaultIs = Text("default", "기본값")
  static let environment = Text("environment", "환경 변수")
  static let repeatable = Text("may be repeated", "여러 번 쓸 수 있음")
  static let notWith = Text("conflicts with", "함께 쓸 수 없음")
  private static let otherNames = Text("also", "다른 이름")

  /// The note about aliases, as a list with one element; empty without aliases.
  static func also(_ names: [String], _ language: TextLanguage) -> [String] {
    names.isEmpty ? [] : ["\(otherNames[language]): \(names.joined(separator: ", "))"]
  }

  /// Sentence that names `--help` as the way to the page of one command.
  static func more(_ program: String) -> Text {
    Text("See '\(program) COMMAND --help' for one command.", "한 명령의 사용법은 '\(program) 명령 --help'로 볼 수 있습니다.")
  }

  /// Describes a range in words: `1 to 9`, `3 or more`.
  static func range(_ range: ClosedRange<Int64>) -> Text {
    let low = UsageError.grouped(range.lowerBound)
    let high = UsageError.grouped(range.upperBound)
    return switch (range.lowerBound, range.upperBound) {
    case (.min, .max): Text("any whole number", "모든 정수")
    case (_, .max): Text("\(low) or more", "\(low) 이상")
    case (.min, _): Text("\(high) or less", "\(high) 이하")
    default: Text("\(low) to \(high)", "\(low)부터 \(high)까지")
    }
  }
}
