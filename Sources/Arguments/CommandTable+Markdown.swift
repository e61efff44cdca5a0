// The README's list of commands and options.
// Owns: the Markdown made from the table. Must not know the README around it.
// Invariant: everything in the table that help shows is in the list too, so the README cannot fall behind; a test of
// the program compares the two. Text from the table is escaped, so it cannot break a table row.

extension CommandTable {
  /// Commands and options as Markdown (GitHub's tables), ending in a newline.
  ///
  /// First the options of every command, then each group with a table of its commands and their options.
  public func optionListMarkdown(_ language: TextLanguage) -> String {
    var lines = ["### \(HelpWords.globalOptions[language])", ""]
    lines += Self.head(HelpWords.option[language], HelpWords.meaning[language])
    lines += allGlobalOptions.map { Self.row($0, language) }
    for group in visibleGroups {
      lines += ["", "### \(Self.escaped(group.title[language]))", ""]
      lines += Self.head(HelpWords.commands[language], HelpWords.meaning[language])
      for command in group.commands { lines += rows(command, language) }
    }
    if !exitCodes.isEmpty {
      lines += ["", "### \(HelpWords.exitCodes[language])", ""]
      lines += Self.head(HelpWords.exitCodes[language], HelpWords.meaning[language])
      lines += exitCodes.map { "| \($0.code) | \(Self.escaped($0.meaning[language])) |" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func rows(_ command: CommandSpec, _ language: TextLanguage) -> [String] {
    let names = usages(of: command, language).map { parts in
      Self.code(parts.filter { $0 != HelpWords.options[language] }.joined(separator: " "))
    }
    let row = "| \(names.joined(separator: "<br>")) | \(Self.escaped(command.summary[language])) |"
    return [row] + command.options.map { Self.row($0, language, indent: "&emsp;") }
  }

  private static func head(_ first: String, _ second: String) -> [String] {
    ["| \(first) | \(second) |", "|---|---|"]
  }

  private static func row(_ option: OptionSpec, _ language: TextLanguage, indent: String = "") -> String {
    let short = option.short.map { "`-\($0)`, " } ?? ""
    let notes = option.notes(language)
    let meaning = option.summary[language] + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
    return "| \(indent)\(short)\(code(option.synopsis)) | \(escaped(meaning)) |"
  }

  private static func code(_ text: String) -> String {
    "`" + text.map { $0 == "|" ? "\\|" : String($0) }.joined() + "`"
  }

  private static func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "\\", "|": "\\\(character)"
      case "<": "&lt;"
      case "\n": " "
      default: String(character)
      }
    }.joined()
  }
}
