# Sourced by the scripts beside it, never run: the path of the checkout, messages to the user, the Swift that
# builds the bank, and the identity of a build. Sourcing it changes nothing. All messages go to stderr,
# because stdout belongs to the program that the caller runs in the end (`bankctl --json`).
# shellcheck shell=bash

set -euo pipefail

root=$(CDPATH='' cd -P -- "${BASH_SOURCE[0]%/*}/.." && pwd -P)
build=$root/.build

# The same rule as bankctl's: the bank's setting, else the locale; Korean for ko*, English otherwise.
language=${BANK_LANG:-${LC_ALL:-${LC_MESSAGES:-${LANG:-en}}}}
case $language in ko*) language=ko ;; *) language=en ;; esac

# say KOREAN ENGLISH: prints one message for the user.
say() {
  if [[ $language == ko ]]; then printf '%s\n' "$1" >&2; else printf '%s\n' "$2" >&2; fi
}

# die KOREAN ENGLISH: prints the last message and fails.
die() {
  say "$@"
  exit 1
}

# misused KOREAN ENGLISH: prints the last message about wrong usage and fails.
misused() {
  say "$@"
  exit 2
}

# Prints the comment at the top of a script, which is its help.
help_of() {
  sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p;}' "$1"
}

# Checks for the library of the web server, and for that of PostgreSQL's client, and passes the results to
# Package.swift: 1 or 0.
find_libraries() {
  local place
  export BANK_PAGE=0 BANK_POSTGRES=0
  for place in /usr/include /usr/local/include; do
    [[ ! -e $place/microhttpd.h ]] || BANK_PAGE=1
    [[ ! -e $place/libpq-fe.h && ! -e $place/postgresql/libpq-fe.h ]] || BANK_POSTGRES=1
  done
}
find_libraries

# Adds a Swift that is unpacked in one of the usual places to PATH if PATH has none, as in a shell that read
# no profile (cron, systemd, `env -i`). Fails if there is none.
find_swift() {
  local home=${HOME:-/nonexistent} directory
  find_libraries
  command -v swift >/dev/null && return 0
  for directory in "$home"/.local/share/swiftly/bin "$home"/.swiftly/bin "$home"/swift*/usr/bin \
    /usr/local/swift*/usr/bin /opt/*/usr/bin; do
    if [[ -x $directory/swift ]]; then
      export PATH=$PATH:$directory
      return 0
    fi
  done
  return 1
}

# True if the browser for the tests of pages is installed.
find_browser() {
  command -v chromium-headless-shell >/dev/null
}

# borrowed PACKAGE PROGRAM: prints the path of a program, either the system's or one unpacked from its Debian package in
# .build. Unpacking needs no password and does not change the system. Fails without either.
borrowed() {
  local place=$build/.borrowed/$1
  command -v "$2" && return 0
  if [[ ! -x $place/usr/bin/$2 ]]; then
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    say "$2 프로그램을 받습니다." "Fetching $2."
    rm -rf -- "$place"
    mkdir -p -- "$place"
    (
      cd -- "$place"
      as_root=()
      ((EUID == 0)) || as_root=(sudo -n)
      apt-get -q download "$1" || { "${as_root[@]}" apt-get -q update && apt-get -q download "$1"; } || exit 1
      dpkg-deb -x "$1"_*.deb .
    ) >/dev/null 2>&1 || return 1
  fi
  [[ -x $place/usr/bin/$2 ]] && printf '%s\n' "$place/usr/bin/$2"
}

# Identity of a build: a digest of the sources' names and contents, the same in every checkout of the same
# sources. Hidden files belong to editors.
build_identity() {
  local digest
  digest=$(cd -- "$root" && find Package.swift Sources -type f ! -name '.*' -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
  # A set without the web server has another identity.
  [[ $BANK_PAGE == 1 ]] || digest=$(printf '%s without a page' "$digest" | sha256sum)
  printf '%s\n' "${digest:0:12}"
}

is_terminal() {
  [[ -t 2 && ${TERM:-dumb} != dumb ]]
}

# Clears the progress line on the terminal.
wipe_line() {
  ! is_terminal || printf '\r\033[K' >&2
}

# tell_progress COUNT TOTAL SECONDS [MODULE]: prints the progress of a build in a line without a newline.
tell_progress() {
  wipe_line
  if [[ $language == ko ]]; then
    printf '  %s초, 모듈 %s/%s%s' "$3" "$1" "$2" "${4:+ $4}" >&2
  else
    printf '  %s s, module %s of %s%s' "$3" "$1" "$2" "${4:+ $4}" >&2
  fi
  is_terminal || printf '\n' >&2
}

# how_far KIND: reads into `count` and `total` the progress of a build by another script; fails if it is
# unknown.
how_far() {
  { read -r count total <"$build/.scripts-$1.progress"; } 2>/dev/null
}

# take_build_lock KIND: one script at a time builds the debug programs (`build`), the quick set or the fast
# set. Others that need the same build wait, print a message and show its progress. The lock is descriptor 9,
# which started programs must not inherit (`9>&-`); otherwise a process left behind would hold it forever.
take_build_lock() {
  local kind=$1 began=$SECONDS told=$SECONDS count total
  mkdir -p -- "$build"
  exec 9>"$build/.scripts-$kind.lock"
  flock -n 9 || {
    say '같은 빌드가 이미 진행 중입니다. 끝나기를 기다립니다…' 'The same build is already running; waiting for it to finish…'
    while ! flock -w 1 9; do
      is_terminal || ((SECONDS - told >= 20)) || continue
      told=$SECONDS
      ! how_far "$kind" || tell_progress "$count" "$total" "$((SECONDS - began))"
    done
    wipe_line
  }
  leave_old_place
}

# Swift stores absolute paths in its build products, so they are unusable after the checkout was moved. The
# first script that detects a move removes them, before any script builds here.
leave_old_place() {
  local built_at=$build/.scripts-root place=
  exec 8>"$build/.scripts-root.lock"
  flock 8
  [[ -f $built_at ]] && IFS= read -r place <"$built_at"
  if [[ -n $place && $place != "$root" ]]; then
    say "이 폴더는 $place에서 옮겨졌으므로 처음부터 다시 빌드합니다." \
      "This checkout was moved here from $place; building it from scratch."
    find "$build" -mindepth 1 -maxdepth 1 ! -name '.scripts-*.lock' ! -name '.scripts-mark.*' -exec rm -rf -- {} +
  fi
  printf '%s\n' "$root" >"$built_at"
  exec 8>&-
}

drop_build_lock() {
  exec 9>&-
}

# swift_for_tests OPTIONS…: runs `swift build` for the tests and the programs that they drive. This build has a directory
# of its own. It optimizes only the modules in which the tests spend their time, and it alone contains the planted bugs;
# see Package.swift.
swift_for_tests() {
  BANK_BUILD_TESTS=1 swift build -c release -debug-info-format none --scratch-path "$(strict_place)/tests" "$@"
}

# A strict build has other flags than a plain one. Each has a directory of its own, so that switching between
# them does not recompile everything.
strict_place() {
  if [[ -n ${BANK_STRICT:-} ]]; then printf '%s\n' "$build/strict"; else printf '%s\n' "$build"; fi
}
