// Completion script for fish.
// Invariant: texts of the table are in single quotes with fish's two escapes, so fish expands nothing when it reads
// the script. The names of options and the program's name are not quoted; they contain no shell syntax.

extension CommandTable {
  /// The completion script for fish, with summaries in this language.
  func fishCompletion(_ language: TextLanguage) -> String {
    let places = completionContexts
    var lines = [fishDriver(places)]
    for option in allGlobalOptions { lines.append(fishOption(option, condition: nil, language)) }
    for place in places {
      for next in place.next {
        lines.append(fishLine("\(place.key):0", "-a \(ShellQuoting.fish(next.word))", next.summary[language]))
      }
      lines += fishOperands(place)
      for option in place.options.dropLast(allGlobalOptions.count) {
        lines.append(fishOption(option, condition: "\(place.key):*", language))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A `complete` line for places whose path and operand match a pattern; `what` is its part that says what is offered.
  private func fishLine(_ pattern: String, _ what: String, _ summary: String?) -> String {
    let condition = "__\(functionStem)_at \(ShellQuoting.fish(pattern))"
    let description = summary.map { " -d " + ShellQuoting.fish($0) } ?? ""
    return "complete -c \(program) -n \(ShellQuoting.fish(condition)) \(what)\(description)"
  }

  /// Argument of `-a`, the option of `complete` with the offered words; nil for an offer without words.
  private func fishWords(_ offer: CompletionOffer) -> String? {
    switch offer {
    case .nothing, .files: nil
    case .words(let words): ShellQuoting.fish(words.joined(separator: " "))
    case .assignments(let names): ShellQuoting.fish(names.map { $0 + "=" }.joined(separator: " "))
    // The shell function `__PROGRAM_list` completes the word after the last comma.
    case .list(let words): ShellQuoting.fish("(__\(functionStem)_list \(words.joined(separator: " ")))")
    }
  }

  /// The `complete` lines for the operands at one place.
  private func fishOperands(_ place: CompletionContext) -> [String] {
    place.operands.enumerated().compactMap { index, offer in
      let what = fishWords(offer).map { "-a " + $0 } ?? (offer == .files ? "-F" : nil)
      return what.map { fishLine("\(place.key):\(place.pattern(ofOperand: index))", $0, nil) }
    }
  }

  /// The `complete` line of an option; without a condition the option is offered at every place.
  private func fishOption(_ option: OptionSpec, condition: String?, _ language: TextLanguage) -> String {
    var what = option.longNames.map { "-l \($0)" }.joined(separator: " ")
    if let short = option.short { what += " -s \(short)" }
    if option.takesValue {
      what += fishWords(option.offer).map { " -x -a " + $0 } ?? (option.offer == .files ? " -r -F" : " -x")
    }
    let summary = option.summary[language]
    if let condition { return fishLine(condition, what, summary) }
    return "complete -c \(program) \(what) -d \(ShellQuoting.fish(summary))"
  }

  /// The shell functions that the `complete` lines need, and the line that turns off file names.
  private func fishDriver(_ places: [CompletionContext]) -> String {
    let stem = functionStem
    let withValue = spellingsWithValue.map(ShellQuoting.fish).joined(separator: " ")
    let next = places.filter { !$0.next.isEmpty }.map { place in
      """
              case \(ShellQuoting.fish(place.key))
                  printf '%s\\n' \(place.next.map { ShellQuoting.fish($0.word) }.joined(separator: " "))
      """
    }
    return """
      # Completion of \(program) for fish, made from its table of commands.

      # The words that may follow a command path.
      function __\(stem)_next
          switch "$argv[1]"
      \(next.joined(separator: "\n"))
          end
      end

      # Where the cursor is: the command path, a colon, and the number of operands before it.
      function __\(stem)_where
          set -l words (commandline -opc)
          set -e words[1]
          set -l where
          set -l place 0
          set -l wanted no
          set -l ended no
          for word in $words
              if test $wanted = yes
                  set wanted no
              else if test $ended = no; and test "$word" = --
                  set ended yes
              else if test $ended = no; and contains -- "$word" \(withValue)
                  set wanted yes
              else if test $ended = no; and string match -qr -- '^-[^0-9]' "$word"
                  continue
              else if test $place = 0; and contains -- "$word" (__\(stem)_next "$where")
                  set where $where $word
              else
                  set place (math $place + 1)
              end
          end
          echo "$where:$place"
      end

      function __\(stem)_at
          string match -q -- "$argv[1]" (__\(stem)_where)
      end

      # Words of a list with commas: the part before the last comma is kept, and is not offered again.
      function __\(stem)_list
          set -l before (commandline -ct | string replace -r '^--[^=]*=' '' | string replace -r '[^,]*$' '')
          for word in $argv
              contains -- $word (string split , -- "$before"); or echo "$before$word"
          end
      end

      complete -c \(program) -f
      """
  }
}
