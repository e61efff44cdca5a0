// Completion script for bash.
// Invariant: the script needs neither the bash-completion package nor the program. The words of the table are in
// single quotes, so bash expands nothing when it reads the script.

extension CommandTable {
  /// The completion script for bash.
  func bashCompletion() -> String {
    let name = "_" + functionStem
    let functions = completionFunctions(name, reset: "REPLY=", described: { word, _ in word }) {
      "REPLY=" + ShellQuoting.posix($0.joined(separator: " "))
    }
    return """
      # Completion of \(program) for bash, made from its table of commands.

      \(functions)
      \(bashDriver(name))
      """ + "\n"
  }

  /// The part of the script that parses the line.
  private func bashDriver(_ name: String) -> String {
    """

    # Offers what a function above left in REPLY; "$1" is what was typed so far, "$2" is the prefix of every reply.
    \(name)_offer() {
      local IFS=$' \\n'
      case "$REPLY" in
        '') ;;
        @files)
          compopt -o filenames 2>/dev/null
          IFS=$'\\n'
          COMPREPLY=($(compgen -P "$2" -f -- "$1")) ;;
        @assign\\ *)
          compopt -o nospace 2>/dev/null
          COMPREPLY=($(compgen -S = -W "${REPLY#@assign }" -- "$1")) ;;
        @list\\ *)
          compopt -o nospace 2>/dev/null
          # The part before the last comma is kept, and is not offered again.
          local before= word words=
          [[ $1 != *,* ]] || before=${1%,*},
          for word in ${REPLY#@list }; do
            [[ ,$before == *,"$word",* ]] || words+=" $word"
          done
          COMPREPLY=($(compgen -P "$2$before" -W "$words" -- "${1##*,}")) ;;
        *) COMPREPLY=($(compgen -P "$2" -W "$REPLY" -- "$1")) ;;
      esac
    }

    \(name)() {
      local -a typed=()
      local i glue= word cur path= place=0 wanted= ended= prefix= known REPLY
      COMPREPLY=()
      # Bash may cut words at "=": "--name=value" and "name=3" are put together again.
      for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == "=" && ${#typed[@]} -gt 0 ]]; then
          typed[${#typed[@]} - 1]+="="
          glue=yes
        elif [[ -n $glue ]]; then
          typed[${#typed[@]} - 1]+=$word
          glue=
        else
          typed+=("$word")
        fi
      done
      ((${#typed[@]} > 0)) || return 0
      cur=${typed[${#typed[@]} - 1]}
      unset "typed[${#typed[@]} - 1]"
      for word in "${typed[@]}"; do
        if [[ -n $wanted ]]; then
          wanted=
        elif [[ -z $ended && $word == -- ]]; then
          ended=yes
        elif [[ -z $ended && $word == -?* && $word != -[0-9]* ]]; then
          case "$word" in
            \(posixSpellingsWithValue)) wanted=$word ;;
          esac
        else
          \(name)_next "$path"
          known=" $REPLY "
          if [[ $place == 0 && $known == *" $word "* ]]; then
            path=${path:+$path }$word
          else
            ((place += 1))
          fi
        fi
      done
      if [[ -n $wanted ]]; then
        \(name)_value "$path:$wanted"
        \(name)_offer "$cur"
      elif [[ -z $ended && $cur == --*=* ]]; then
        # Where bash does not cut at "=", a reply replaces the whole word.
        [[ $COMP_WORDBREAKS == *"="* ]] || prefix=${cur%%=*}=
        \(name)_value "$path:${cur%%=*}"
        \(name)_offer "${cur#*=}" "$prefix"
      elif [[ -z $ended && $cur == -* ]]; then
        \(name)_options "$path"
        \(name)_offer "$cur"
      else
        local -a next=()
        if [[ $place == 0 ]]; then
          \(name)_next "$path"
          \(name)_offer "$cur"
          next=("${COMPREPLY[@]}")
          COMPREPLY=()
        fi
        \(name)_operand "$path:$place"
        \(name)_offer "$cur"
        COMPREPLY=("${next[@]}" "${COMPREPLY[@]}")
      fi
    }

    complete -F \(name) \(ShellQuoting.posix(program))
    """
  }
}
