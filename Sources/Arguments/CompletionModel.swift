// Completions for each place of a line, and what the scripts for bash, zsh and fish share.
// Invariant: hidden commands are not offered.

/// A shell with a completion script.
public enum CompletionShell: String, Sendable, Hashable, CaseIterable {
  /// GNU bash 4 or later.
  case bash
  /// zsh 5 or later.
  case zsh
  /// fish 3 or later.
  case fish
}

/// What a completion offers at one place of a line.
enum CompletionOffer: Hashable {
  /// A free value, such as a number.
  case nothing
  case files
  /// One of the words.
  case words([String])
  /// One of the words, followed by `=` without a space.
  case assignments([String])
  /// Several of the words, separated by commas, without a space.
  case list([String])

  /// Encoding of the offer in the scripts for bash and zsh: a marker such as `@files`, then the words. Plain
  /// words have no marker.
  var scriptWords: [String] {
    switch self {
    case .nothing: []
    case .files: ["@files"]
    case .words(let words): words
    case .assignments(let names): ["@assign"] + names
    case .list(let words): ["@list"] + words
    }
  }

  /// The offer for a value of this kind.
  ///
  /// - Parameters:
  ///   - known: Known values of a free text, or known names of an assignment.
  ///   - isList: True if the text is a comma-separated list of such values.
  init(_ kind: ValueKind, known: [String] = [], isList: Bool = false) {
    switch kind {
    case .text where !known.isEmpty: self = isList ? .list(known) : .words(known)
    case .assignment(let names, _) where names.isEmpty && !known.isEmpty: self = .assignments(known)
    case .path: self = .files
    case .assignment(let names, _): self = names.isEmpty ? .nothing : .assignments(names.map(\.value))
    default: self = kind.offeredWords.isEmpty ? .nothing : .words(kind.offeredWords)
    }
  }
}

/// What may follow the words of a command, or of a group of commands, in a completion: further words, options,
/// operands.
struct CompletionContext {
  /// The command words before this place; empty at the start of the line.
  let path: [String]
  /// The possible next words, with their summaries.
  let next: [(word: String, summary: Text)]
  /// The options of the command if one is complete, and the global options.
  let options: [OptionSpec]
  /// The offers for the operands in order; the last one repeats if `isLastRepeating`.
  let operands: [CompletionOffer]
  /// True if the last operand may be given several times.
  let isLastRepeating: Bool

  /// The path as written in the scripts: its words, separated by spaces.
  var key: String { path.joined(separator: " ") }

  /// The pattern of an operand in the scripts: its index, or `*` for the last operand if it repeats.
  func pattern(ofOperand index: Int) -> String {
    isLastRepeating && index == operands.count - 1 ? "*" : String(index)
  }
}

extension OptionSpec {
  /// What completions offer as the value of this option.
  var offer: CompletionOffer { CompletionOffer(kind, known: offers, isList: true) }
  /// All spellings of the option: `--number`, `-n`.
  var spellings: [String] { longNames.map { "--" + $0 } + (short.map { ["-\($0)"] } ?? []) }
}

/// Quoting of texts for the shells of the completion scripts.
enum ShellQuoting {
  /// Quotes a text as one word of a POSIX shell, in single quotes.
  static func posix(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }

  /// The pattern of a POSIX `case` for an option of the command at `path`, or of any command if `path` is nil.
  static func pattern(path: String?, spelling: String) -> String {
    path.map { posix("\($0):\(spelling)") } ?? "*:" + posix(spelling)
  }

  /// Quotes a text as one word of fish, in single quotes. Within them, fish recognises two escapes: `\'` and
  /// `\\`.
  static func fish(_ text: String) -> String {
    "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
  }
}

extension CommandTable {
  /// The places of a line: the start, then the others in table order.
  var completionContexts: [CompletionContext] {
    var paths: [[String]] = [[]]
    for whole in commands.filter({ !$0.isHidden }).flatMap(\.paths) {
      for length in 1...max(1, whole.count) {
        let path = Array(whole.prefix(length))
        if !paths.contains(path) { paths.append(path) }
      }
    }
    return paths.map { path in
      let command = command(at: path).flatMap { $0.isHidden ? nil : $0 }
      let operands = command?.operands ?? []
      return CompletionContext(
        path: path,
        next: nextWords(after: path).map { (word: $0, summary: summary(of: path + [$0])) },
        options: (command?.options ?? []) + allGlobalOptions,
        operands: operands.map { CompletionOffer($0.kind, known: $0.offers) },
        isLastRepeating: operands.last?.arity.repeats ?? false)
    }
  }

  /// Summary of the command with these words, or the heading of the commands that start with them.
  private func summary(of path: [String]) -> Text {
    command(at: path)?.summary ?? commands(below: path).first?.group ?? ""
  }

  /// Spellings of the options with a value of all commands, each once. A script needs them to skip a value before it
  /// has found the command.
  var spellingsWithValue: [String] {
    var spellings: [String] = []
    for option in allGlobalOptions + commands.flatMap(\.options) where option.takesValue {
      spellings += option.spellings.filter { !spellings.contains($0) }
    }
    return spellings
  }

  /// Spellings of all options with a value, as the pattern of a POSIX `case`.
  var posixSpellingsWithValue: String {
    let spellings = spellingsWithValue.map(ShellQuoting.posix)
    return spellings.isEmpty ? "''" : spellings.joined(separator: " | ")
  }

  /// The program's name as part of a shell function's name: `my-depot` is `my_depot`.
  var functionStem: String {
    program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
  }

  /// The offers for the values of options, by command. After them, each spelling follows once without a path, for
  /// lines on which the option precedes the command.
  var optionOffers: [(path: String?, spellings: [String], offer: CompletionOffer)] {
    var offers: [(path: String?, spellings: [String], offer: CompletionOffer)] = []
    for command in commands where !command.isHidden {
      for option in command.options where option.takesValue {
        for path in command.paths {
          offers.append((path.joined(separator: " "), option.spellings, option.offer))
        }
      }
    }
    var seen: Set<String> = []
    for option in allGlobalOptions + commands.flatMap({ $0.isHidden ? [] : $0.options })
    where option.takesValue {
      let new = option.spellings.filter { seen.insert($0).inserted }
      if !new.isEmpty { offers.append((nil, new, option.offer)) }
    }
    return offers
  }

  /// The table in a script for bash or zsh: four functions that return the possible continuations of a
  /// place in the reply variable.
  ///
  /// - Parameters:
  ///   - name: Prefix of the function names.
  ///   - reset: Code that empties the reply.
  ///   - described: Formats a word with its summary for the shell.
  ///   - reply: Code that stores words in the reply.
  func completionFunctions(
    _ name: String, reset: String, described: (_ word: String, _ summary: Text) -> String,
    reply: (_ words: [String]) -> String
  ) -> String {
    /// A shell function with one arm of a `case` for each pattern.
    func function(_ suffix: String, _ comment: String, _ arms: [(pattern: String, words: [String])]) -> String
    {
      let lines = arms.map { "    \($0.pattern)) \(reply($0.words)) ;;" }
      return """
        # \(comment)
        \(name)_\(suffix)() {
          \(reset)
          case "$1" in
        \(lines.joined(separator: "\n"))
          esac
        }
        """
    }
    let places = completionContexts
    let next = places.filter { !$0.next.isEmpty }.map { place in
      (ShellQuoting.posix(place.key), place.next.map { described($0.word, $0.summary) })
    }
    let options = places.map { place in
      let words = place.options.flatMap { option in option.spellings.map { described($0, option.summary) } }
      return (ShellQuoting.posix(place.key), words)
    }
    // An option with a free value needs an entry, too: the entry hides the offers of other commands for the
    // same option name.
    let values = optionOffers.map { path, spellings, offer in
      let patterns = spellings.map { ShellQuoting.pattern(path: path, spelling: $0) }
      return (patterns.joined(separator: " | "), offer.scriptWords)
    }
    let operands = places.flatMap { place in
      place.operands.indices.map { index in
        let pattern = ShellQuoting.posix(place.key) + ":" + place.pattern(ofOperand: index)
        return (pattern, place.operands[index].scriptWords)
      }
    }
    return [
      function("next", "The words that may follow a command path.", next),
      function("options", "The options that may follow a command path.", options),
      function("value", "What may be the value of an option: \"PATH:OPTION\".", values),
      function("operand", "What may be an operand: \"PATH:PLACE\", the first place being 0.", operands),
    ].joined(separator: "\n\n")
  }

  /// A completion script, ending in a newline.
  ///
  /// The script offers commands, subcommands, options, choices, and file names for paths; it never runs the
  /// program. Usage: `source` it (bash, zsh), or write it to `~/.config/fish/completions/PROGRAM.fish`
  /// (fish).
  /// - Parameter language: Language of the explanations in zsh and fish.
  public func completionScript(for shell: CompletionShell, language: TextLanguage = .english) -> String {
    switch shell {
    case .bash: bashCompletion()
    case .zsh: zshCompletion(language)
    case .fish: fishCompletion(language)
    }
  }
}
