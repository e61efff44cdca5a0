// The list of commands and options for the documentation, as Markdown generated from the table;
// `CommandsPageTests` writes it into the page, or compares the two. The list contains all that help shows,
// and text from the table is escaped, so that it cannot break a row. An option that many commands have with
// the same text is listed once, before the groups.

@testable import Arguments

private enum ListMessages {
  static let sharedOptions = Text("Options of several commands", "여러 명령의 옵션")
  static let option = Text("Option", "옵션")
  static let meaning = Text("Meaning", "뜻")
}

extension CommandTable {
  /// Commands and options as Markdown (GitHub's tables), ending in a newline.
  ///
  /// First the options of every command, then those of many commands, then each group with a table of its commands and
  /// their other options.
  func optionListMarkdown(_ language: TextLanguage) -> String {
    var lines = ["## \(HelpMessages.globalOptions[language])", ""]
    lines += Self.head(ListMessages.option[language], ListMessages.meaning[language])
    lines += allGlobalOptions.map { Self.row($0, language) }
    let shared = sharedOptions
    if !shared.isEmpty {
      lines += ["", "## \(ListMessages.sharedOptions[language])", ""]
      lines += Self.head(ListMessages.option[language], ListMessages.meaning[language])
      for option in shared {
        let names = commands.filter { !$0.isHidden && $0.options.contains(option) }.map { Self.code($0.name) }
        lines.append(Self.row(option, language, messageDetail: names.joined(separator: ", ")))
      }
    }
    for group in visibleGroups {
      lines += ["", "## \(Self.escaped(group.title[language]))", ""]
      lines += Self.head(HelpMessages.commands[language], ListMessages.meaning[language])
      for command in group.commands { lines += rows(command, language, without: shared) }
    }
    if !exitCodes.isEmpty {
      lines += ["", "## \(HelpMessages.exitCodes[language])", ""]
      lines += Self.head(HelpMessages.exitCodes[language], ListMessages.meaning[language])
      lines += exitCodes.map { "| \($0.code) | \(Self.escaped($0.meaning[language])) |" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Options that at least four commands have with the same text, in the order of the table.
  private var sharedOptions: [OptionSpec] {
    var counts: [(option: OptionSpec, commands: Int)] = []
    for option in commands.filter({ !$0.isHidden }).flatMap(\.options) {
      if let index = counts.firstIndex(where: { $0.option == option }) {
        counts[index].commands += 1
      } else {
        counts.append((option, 1))
      }
    }
    return counts.filter { $0.commands >= 4 }.map(\.option)
  }

  private func rows(_ command: CommandSpec, _ language: TextLanguage, without shared: [OptionSpec])
    -> [String]
  {
    let names = usages(of: command, language).map { parts in
      Self.code(parts.filter { $0 != HelpMessages.options[language] }.joined(separator: " "))
    }
    let meaning = Self.sentence(command.summary[language], command.notes(language))
    let row = "| \(names.joined(separator: "<br>")) | \(Self.escaped(meaning)) |"
    let options = command.options.filter { !shared.contains($0) }
    return [row] + options.map { Self.row($0, language, indent: "&emsp;") }
  }

  private static func head(_ first: String, _ second: String) -> [String] {
    ["| \(first) | \(second) |", "|---|---|"]
  }

  private static func row(
    _ option: OptionSpec, _ language: TextLanguage, indent: String = "", messageDetail: String = ""
  ) -> String {
    let short = option.short.map { "`-\($0)`, " } ?? ""
    let meaning = sentence(option.summary[language], option.notes(language))
    let commands = messageDetail.isEmpty ? "" : "<br>\(messageDetail)"
    return "| \(indent)\(short)\(code(option.synopsis)) | \(escaped(meaning))\(commands) |"
  }

  private static func sentence(_ summary: String, _ notes: [String]) -> String {
    notes.isEmpty ? summary : "\(summary) (\(notes.joined(separator: "; ")))"
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
