# Sourced by scripts/build, never run: compiling, progress and installation of a set of programs. A set is all
# programs of one build in one directory of .build/bank, named by the digest of its sources, with the suffix
# `-quick` if it was not optimized. It is complete before it gets its name and never changes afterwards,
# except that a measuring program may be added.
# shellcheck shell=bash

# Messages before the wait. Their durations were measured on two cores of a fast and of a slow machine; at the end the
# script prints the real duration.
quick_ko='코어 둘에서 프로세서에 따라 30초에서 2분 걸리고, 디스크를 270MB 씁니다.'
quick_en='On two cores this takes from half a minute to two minutes, depending on the processor, and 270 MB of disk.'
fast_ko='코어 둘에서 프로세서에 따라 1분 반에서 5분 걸리고, 디스크를 400MB 씁니다.'
fast_en='On two cores that takes from a minute and a half to five minutes, depending on the processor, and 400 MB of disk.'

programs=(bankctl bank-chaos bankd bank-guardian bank-juice bank-runner bank-stockd bank-teller bank-vending)

# Computes the digest of the sources and the paths of their sets. The mark is older than the digest, so later
# changes of the sources are newer than the stamp made from it.
look() {
  # Without the library of the web server there is no bank-web, and everything else is the same.
  [[ $BANK_PAGE != 1 || ${programs[-1]} == bank-web ]] || programs+=(bank-web)
  : >"$mark"
  BANK_BUILD_ID=$(build_identity)
  export BANK_BUILD_ID
  fast=$build/bank/$BANK_BUILD_ID
  quick=$fast-quick
}

# remember STAMP NAME: records the current set, with the time of the mark. From then on that set is used.
remember() {
  printf '%s\n' "$2" >"$1.$$"
  touch -r "$mark" -- "$1.$$"
  mv -f -- "$1.$$" "$1"
}

# make_set quick|fast [TOOL…]: compiles the missing programs of the set of the current sources and installs them. The
# variable `quick` or `fast` contains the path of the set. A set has one digest and must be built of these sources
# alone, so it is built again if the sources change during the build. In the background nothing is installed in that
# case, and the caller decides.
make_set() {
  local kind=$1 tools=("${@:2}") tool began
  while :; do
    began=$BANK_BUILD_ID
    if [[ ! -d ${!kind} ]]; then
      compile "$kind" || return 1
    fi
    for tool in "${tools[@]}"; do
      [[ -x ${!kind}/$tool ]] || compile "$kind" "$tool" || return 1
    done
    look
    [[ $BANK_BUILD_ID != "$began" ]] || break
    [[ $configuration != behind ]] || return 0
    say '빌드하는 동안 소스가 바뀌어 다시 빌드합니다…' 'The sources changed during the build; building again…'
  done
  lay_down "$kind" "${tools[@]}"
}

# compile quick|fast [TOOL]: all programs, or one measuring program.
compile() {
  local kind=$1 variables=(BANK_BUILD_PROGRAMS=1) options=()
  [[ -z ${2:-} ]] || variables=() options=(--product "$2")
  if [[ $kind == quick ]]; then
    variables+=(BANK_BUILD_QUICK=1)
    options+=(-Xlinker -s)
  fi
  # Warnings are the subject of scripts/check; they do not stop a user from running a bank.
  env -u BANK_STRICT -u BANK_BUILD_QUICK -u BANK_BUILD_TESTS -u BANK_BUILD_PROGRAMS "${variables[@]}" \
    swift build -c release --static-swift-stdlib --scratch-path "$build/$kind" "${options[@]}" 2>&1 9>&- |
    follow_build "$build/.scripts-$kind.progress"
}

# refuse_mutants PROGRAM…: fails if a program contains the name of a planted bug, all of which are in Mutant.swift.
refuse_mutants() {
  local names found
  names=$(awk '/^ *case /,/^ *\/\/|^$/ { gsub(/\/\/.*|case|[ ,]+/, "\n"); print }' Sources/Posix/Mutant.swift | sed '/^$/d' | sort -u)
  [[ -n $names ]] || return 1
  ! found=$(grep -laF -- "$names" "$@") || {
    printf 'A planted bug is in: %s\n' "$found" >&2
    return 1
  }
}

# One directory for each set, complete before it gets its name: a running coordinator keeps starting tellers
# of its own set, even if other sets are built meanwhile.
lay_down() {
  local kind=$1 place=${!1} new=$build/bank/.new-$1 program old
  if [[ ! -d $place ]]; then
    rm -rf -- "$new"
    mkdir -p -- "$new" || return 1
    for program in "${programs[@]}"; do
      cp -- "$build/$kind/release/$program" "$new/" || return 1
    done
    [[ $kind != fast ]] || refuse_mutants "$new"/* || {
      rm -rf -- "$new"
      return 1
    }
    mv -T -- "$new" "$place" || return 1
  fi
  for program in "${@:2}"; do
    [[ ! -x $place/$program ]] || continue
    cp -- "$build/$kind/release/$program" "$place/.$program.$$" || return 1
    mv -f -- "$place/.$program.$$" "$place/$program" || return 1
  done
  # Sets of other sources without running processes are removed.
  for old in "$build"/bank/*; do
    [[ $old != "$fast" && $old != "$quick" ]] || continue
    [[ -z $(find /proc -mindepth 2 -maxdepth 2 -name exe -lname "$old/*" -print -quit 2>/dev/null) ]] || continue
    rm -rf -- "$old"
  done
}

# Reads the output of `swift build`. Its steps become one line that is rewritten on a terminal, and an occasional line
# elsewhere; FILE contains the progress for waiting scripts. Warnings and errors are printed unchanged.
follow_build() {
  local file=$1 line part='' status module count=0 told=$SECONDS total
  local -A seen=()
  # Without libpq these modules are not built.
  local absent='Postgres|PostgresStore|PostgresQueries|PostgresBackend'
  [[ ${BANK_POSTGRES:-0} == 0 ]] || absent=''
  # A Ctrl-C ends swift, and this function ends after the last line of its output.
  trap '' INT
  total=$(find Sources -mindepth 2 -name '*.swift' -printf '%P\n' | cut -d/ -f1 | sort -u |
    grep -cvxE "$absent${absent:+|}Simulator|bank-(simulate|bench|fuzz)")
  while :; do
    status=0
    IFS= read -r -t 1 line || status=$?
    part+=$line
    if ((status <= 128)); then
      case $part in
        '['*'] Compiling '*.c) ;;
        '['*'] Compiling '*)
          module=${part#*'] Compiling '} module=${module%% *}
          [[ -n ${seen[$module]:-} ]] || { seen[$module]=yes count=$((count + 1)); }
          ((count <= total)) || total=$count
          printf '%s %s\n' "$count" "$total" >"$file"
          ;;
        '['*/*'] '* | 'Building for '* | 'Build complete!'* | "Build of product "* | '') ;;
        *)
          wipe_line
          printf '%s\n' "$part" >&2
          ;;
      esac
      part=
    fi
    if is_terminal || ((SECONDS - told >= 20)); then
      told=$SECONDS
      tell_progress "$count" "$total" "$SECONDS" "${module:-}"
    fi
    ((status == 0 || status > 128)) || break
  done
  wipe_line
  rm -f -- "$file"
}
