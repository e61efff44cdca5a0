// Completion script for zsh.
// Invariant: the script works if it is sourced, and as a file `_PROGRAM` on `fpath`. The texts of the table are in
// single quotes, so zsh expands nothing when it reads the script. No local variable of the script has the name of a
// special parameter of zsh, such as `path`.

extension CommandTable {
  /// The completion script for zsh, with summaries in this language.
  func zshCompletion(_ language: TextLanguage) -> String {
    let name = "_" + functionStem
    // `_describe` splits a word and its explanation at the first colon.
    let functions = completionFunctions(name, reset: "reply=()", described: { "\($0):\($1[language])" }) {
      "reply=(\($0.map(ShellQuoting.posix).joined(separator: " ")))"
    }
    return """
      #compdef \(program)
      # Completion of \(program) for zsh, made from its table of commands.

      \(functions)
      \(zshDriver(name))
      """ + "\n"
  }

  /// The part of the script that parses the line.
  private func zshDriver(_ name: String) -> String {
    """

    # Offers what a function above left in reply: files, names with "=" after them, or words.
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
            \(posixSpellingsWithValue)) wanted=$word ;;
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
