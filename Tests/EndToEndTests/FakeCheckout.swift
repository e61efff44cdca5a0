// Small checkout with the scripts of this repository and a fake swift: its programs print their set and the digest of
// their sources. Files next to it control what it builds, how long that takes and whether it fails. The checkout is in
// the directory of the branch and is removed with it; its background builds end with it, too.
import Foundation
import Testing

struct FakeCheckout {
  let branch: ScratchBank
  let root: String
  private let fake: String

  /// - Parameter branch: Owner of the directory and of the processes of the builds.
  init(_ branch: ScratchBank) throws {
    self.branch = branch
    root = branch.path("checkout")
    fake = branch.path("fake")
    let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path
    // Copied by another process: a program that a parallel test starts now would inherit the descriptor that is written
    // to, and the copy could not be executed (ETXTBSY, execve(2)).
    let outcome = try branch.launch(
      ["-euc", Self.preparation, "prepare", repository, root, fake], program: "/bin/bash"
    ).finish()
    try #require(outcome.code == 0, outcome.story)
  }

  func launch(_ script: String, _ arguments: String...) throws -> RunningProgram {
    try start(script, arguments, [:])
  }

  /// Runs one of the scripts until it exits.
  func run(_ script: String, _ arguments: String..., environment: [String: String] = [:]) throws -> Outcome {
    try start(script, arguments, environment).finish()
  }

  private func start(_ script: String, _ arguments: [String], _ environment: [String: String]) throws
    -> RunningProgram
  {
    try branch.launch(
      arguments, program: "\(root)/scripts/\(script)",
      environment: ["PATH": "\(fake):/usr/bin:/bin"].merging(environment) { $1 })
  }

  /// Builds in the order of their starts: `quick`, `fast`, or the name of one program.
  var builds: [String] { lines("\(fake)/calls") }

  /// Waits until this number of builds has started.
  func waitForBuilds(_ count: Int) throws {
    try branch.waitUntil("\(count) builds have started") { builds.count >= count }
  }

  /// Waits until no process builds the optimized set.
  func waitForBackground() throws {
    let outcome = try branch.launch(
      ["\(root)/.build/.scripts-fast.lock", "true"], program: "/usr/bin/flock"
    ).finish()
    try #require(outcome.code == 0, outcome.story)
  }

  /// Sets the behaviour of the next builds of a kind: `hold` until it is cleared, `fail`, `change` the sources once, or
  /// compile a planted bug (`mutant`).
  func setBehaviour(_ what: String, _ kind: String) throws { try write("", to: "\(fake)/\(what)-\(kind)") }

  /// Clears a behaviour of a kind of builds.
  func clearBehaviour(_ what: String, _ kind: String) throws {
    try FileManager.default.removeItem(atPath: "\(fake)/\(what)-\(kind)")
  }

  /// Writes a source file with new content.
  func changeSources() throws { try write("// \(UUID())\n", to: "\(root)/Sources/Wire/Wire.swift") }

  /// The sets on disk.
  var sets: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(root)/.build/bank")) ?? []).sorted()
  }

  var hasBuildDirectory: Bool { FileManager.default.fileExists(atPath: "\(root)/.build") }

  /// True if a set has a program.
  func has(_ program: String, in set: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "\(root)/.build/bank/\(set)/\(program)")
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func lines(_ path: String) -> [String] {
    ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  private static let preparation = #"""
    repository=$1 root=$2 fake=$3
    mkdir -p "$root/Sources/Wire" "$root/Sources/Posix" "$root/Sources/BankctlCommands/Table" "$root/Sources/BankctlCommands/BankctlCommands.docc" "$fake"
    cp -r "$repository/scripts" "$root/"
    cp "$repository/Sources/BankctlCommands/Table/BankctlTable.swift" "$root/Sources/BankctlCommands/Table/"
    cp "$repository/Sources/BankctlCommands/BankctlCommands.docc/Commands.md" "$root/Sources/BankctlCommands/BankctlCommands.docc/"
    echo '// a manifest' >"$root/Package.swift"
    echo '// a source' >"$root/Sources/Wire/Wire.swift"
    printf '  case %s\n' 'forgetsEverything, // a comment' 'losesAll' '' >"$root/Sources/Posix/Mutant.swift"

    cat >"$fake/swiftc" <<'PROGRAM'
    #!/bin/bash
    while (($# > 0)); do
      [[ $1 != -o ]] || { printf '#!/bin/sh\n' >"$2" && chmod +x "$2"; }
      shift
    done
    PROGRAM

    cat >"$fake/swift" <<'PROGRAM'
    #!/bin/bash
    trap 'exit 130' INT
    fake=${0%/*} kind=fast place=
    case $* in
      --version) echo 'Swift version 6.0' && exit ;;
      'build --version') exit ;;
    esac
    [[ -z ${BANK_BUILD_QUICK:-} ]] || kind=quick
    programs=(bankctl bank-chaos bankd bank-guardian bank-juice bank-runner bank-stockd bank-teller bank-vending bank-web)
    while (($# > 0)); do
      case $1 in
        --scratch-path) place=$2 ;;
        --product) programs=("$2") kind=$2 ;;
      esac
      shift
    done
    echo "$kind" >>"$fake/calls"
    echo '[1/9] Compiling Wire Wire.swift'
    while [[ -e $fake/hold-$kind ]]; do sleep 0.02; done
    if [[ -e $fake/change-$kind ]]; then
      rm "$fake/change-$kind"
      echo '// changed meanwhile' >>Sources/Wire/Wire.swift
    fi
    if [[ -e $fake/fail-$kind ]]; then
      echo 'Wire.swift:1:1: error: it is broken'
      exit 1
    fi
    mkdir -p "$place/release"
    for program in "${programs[@]}"; do
      cat >"$place/release/.new" <<END
    #!/bin/bash
    echo "$kind $BANK_BUILD_ID"
    [[ \${1:-} != stay ]] || exec sleep 1200
    END
      [[ ! -e $fake/mutant-$kind ]] || echo '# losesAll' >>"$place/release/.new"
      chmod +x "$place/release/.new"
      mv "$place/release/.new" "$place/release/$program"
    done
    PROGRAM
    chmod +x "$fake/swift" "$fake/swiftc"
    """#
}
