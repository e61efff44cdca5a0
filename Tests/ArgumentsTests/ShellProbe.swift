// Runs a completion script in a real shell and returns its offers, with a temporary file and a pipe for one
// test. Invariant: the file is always removed; a shell that cannot be started gives no output, which fails
// the test.

import Arguments
import Glibc

enum ShellProbe {
  /// True if a shell is installed to try a script in. Bash always is on machines that build this repository.
  static func isInstalled(_ shell: String) -> Bool {
    output(of: "command -v \(shell)") != ""
  }

  /// Writes a script to a file, runs a command that finds its name in `$SCRIPT`, and returns its output.
  static func output(of command: String, script: String = "") -> String {
    var template = Array("/tmp/arguments-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return "" }
    let name = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(name) }
    let bytes = Array(script.utf8)
    let written = bytes.isEmpty ? 0 : write(descriptor, bytes, bytes.count)
    close(descriptor)
    guard written == bytes.count,
      let pipe = popen("exec </dev/null; SCRIPT='\(name)'; export SCRIPT\n\(command)", "r")
    else {
      return ""
    }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&buffer, 1, buffer.count, pipe)
      if count == 0 { break }
      output += buffer[..<count]
    }
    pclose(pipe)
    return String(decoding: output, as: UTF8.self)
  }

  /// Offers of bash with the cursor at the end of these words, cut as bash cuts them.
  static func bash(
    _ words: [String], breaksAtEquals: Bool = true,
    script: String = CommandTable.sample.completionScript(for: .bash)
  ) -> [String] {
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    let driver = """
      \(breaksAtEquals ? "" : "COMP_WORDBREAKS=${COMP_WORDBREAKS//=/}")
      COMP_WORDS=(\(line)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _depot
      for reply in "${COMPREPLY[@]}"; do printf '%s\\n' "$reply"; done
      """
    let text = output(of: "bash \"$SCRIPT\"", script: script + driver)
    return text.split(separator: "\n").map(String.init)
  }
}
