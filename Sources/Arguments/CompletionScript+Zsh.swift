// The completion script for zsh.
// Owns: zsh's syntax. Must not know any rule of the line that `CompletionModel` does not tell.
// Invariant: the script works sourced and as a file `_PROGRAM` on `fpath`; every text from the table stands in
// single quotes, so nothing in it is expanded. It uses no name that zsh ties to something else (such as `path`).

extension CommandTable {
  func zshCompletion(_ language: TextLanguage) -> String {
    let name = "_" + functionStem
    let places = completionPlaces
    let next = places.filter { !$0.next.isEmpty }.map { place in
      Self.zshCase(
        [ShellQuoting.posix(place.key)], place.next.map { Self.described($0.word, $0.summary[language]) })
    }
    let options = places.map { place in
      let words = place.options.flatMap { option in
        option.spellings.map { Self.described($0, option.summary[language]) }
      }
      return Self.zshCase([ShellQuoting.posix(place.key)], words)
    }
    return """
      #compdef \(program)
      # Completion of \(program) for zsh, made from its table of commands.

      # The words that may follow a command path.
      \(name)_next() {
        reply=()
        case "$1" in
      \(next.joined(separator: "\n"))
        esac
      }

      # The options that may follow a command path.
      \(name)_options() {
        reply=()
        case "$1" in
      \(options.joined(separator: "\n"))
        esac
      }

      # What may be the value of an option: "PATH:OPTION".
      \(name)_value() {
        reply=()
        case "$1" in
      \(zshValueCases().joined(separator: "\n"))
        esac
      }

      # What may be an operand: "PATH:PLACE", the first place being 0.
      \(name)_operand() {
        reply=()
        case "$1" in
      \(Self.zshOperandCases(places).joined(separator: "\n"))
        esac
      }
      \(zshDriver(name))
      """ + "\n"
  }

  /// A word and its explanation as `_describe` reads them, parted by the first colon.
  private static func described(_ word: String, _ summary: String) -> String {
    word + ":" + summary
  }

  /// One arm of a `case` that leaves words in `reply`.
  private static func zshCase(_ patterns: [String], _ words: [String]) -> String {
    let list = words.map(ShellQuoting.posix).joined(separator: " ")
    return "    \(patterns.joined(separator: " | "))) reply=(\(list)) ;;"
  }

  private func zshValueCases() -> [String] {
    optionOffers.map { path, spellings, offer in
      let patterns = spellings.map { ShellQuoting.pattern(path: path, spelling: $0) }
      return Self.zshCase(patterns, offer.scriptWords)
    }
  }

  private static func zshOperandCases(_ places: [CompletionPlace]) -> [String] {
    places.flatMap { place in
      place.operands.enumerated().map { index, offer in
        let goesOn = place.isLastRepeating && index == place.operands.count - 1
        let pattern = ShellQuoting.posix(place.key) + ":" + (goesOn ? "*" : String(index))
        return zshCase([pattern], offer.scriptWords)
      }
    }
  }

  /// The part that reads the line; the same for every table but for the options that take a value.
  private func zshDriver(_ name: String) -> String {
    let spellings = spellingsWithValue.map(ShellQuoting.posix)
    return """

      # Offers what a function above left in reply: files, names with "=" behind them, or words.
      \(name)_offer() {
        case "${reply[1]}" in
          '') return 1 ;;
          @files) _files ;;
          @assign) [[ $PREFIX != *=* ]] && compadd -S = -- "${(@)reply[2,-1]}" ;;
          @list) _sequence compadd - "${(@)reply[2,-1]}" ;;
          *) compadd -- "${(@)reply}" ;;
        esac
      }

      \(name)() {
        local -a reply
        local word where= place=0 wanted= ended= result=1
        for word in "${(@)words[2,CURRENT-1]}"; do
          if [[ -n $wanted ]]; then
            wanted=
          elif [[ -z $ended && $word == -- ]]; then
            ended=yes
          elif [[ -z $ended && $word == -?* && $word != -[0-9]* ]]; then
            case "$word" in
              \(spellings.isEmpty ? "''" : spellings.joined(separator: " | "))) wanted=$word ;;
            esac
          else
            \(name)_next "$where"
            if [[ $place == 0 && -n ${(M)reply:#$word:*} ]]; then
              where=${where:+$where }$word
            else
              (( place += 1 ))
            fi
          fi
        done
        if [[ -n $wanted ]]; then
          \(name)_value "$where:$wanted"
          \(name)_offer
        elif [[ -z $ended && $PREFIX == --*=* ]]; then
          \(name)_value "$where:${PREFIX%%=*}"
          compset -P '*='
          \(name)_offer
        elif [[ -z $ended && $PREFIX == -* ]]; then
          \(name)_options "$where"
          _describe -o option reply
        else
          if [[ $place == 0 ]]; then
            \(name)_next "$where"
            (( $#reply )) && _describe command reply && result=0
          fi
          \(name)_operand "$where:$place"
          \(name)_offer && result=0
          return result
        fi
      }

      if [[ ${funcstack[1]} == \(name) ]]; then
        \(name) "$@"
      else
        compdef \(name) \(ShellQuoting.posix(program))
      fi
      """
  }
}
