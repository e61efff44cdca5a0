// First line of a script: the interpreter that it names, and whether that interpreter can be run.
// Invariant: the line is parsed as the kernel parses it. Blanks before the name are skipped, and the whole text after
// the name is one argument. The result is nil for a file that is not a script or cannot be read. Such a file may
// still be executable.
import ByteText
import Glibc
import Posix

/// The first line of a script, `#!INTERPRETER [ARGUMENT]`. `execve(2)`
public struct ShebangLine: Sendable, Hashable {
  /// Number of bytes at the start of a file that the kernel examines. BINPRM_BUF_SIZE
  static let longest = 256

  /// Path of the interpreter, as written.
  public let interpreter: String
  /// The text after the interpreter, without the blanks around it.
  let argument: String?

  /// Reads the first line of a file.
  init?(of path: String) {
    guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.longest)
    guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }) else {
      return nil
    }
    self.init(Array(bytes.prefix(count)))
  }

  /// Parses the first bytes of a file; nil if they do not start with `#!` and a name.
  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: "#!".utf8) else { return nil }
    /// True for a space or a tab.
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var line = bytes.prefix(Self.longest - 1).dropFirst(2).prefix { $0 != UInt8(ascii: "\n") && $0 != 0 }
    line = line.drop(while: isBlank)
    while let last = line.last, isBlank(last) { line.removeLast() }
    let name = line.prefix { !isBlank($0) }
    guard !name.isEmpty else { return nil }
    let rest = line[name.endIndex...].drop(while: isBlank)
    interpreter = ByteText.text(of: name)
    argument = rest.isEmpty ? nil : ByteText.text(of: rest)
  }

  /// Reason why the interpreter of a script cannot be run, as a sentence without its full stop; nil if it can
  /// be run, or if this cannot be determined, for example because the file is not a script.
  ///
  /// - Parameters:
  ///   - path: the file, as this process sees it.
  ///   - search: the `PATH` that `env(1)` searches.
  ///   - directory: directory in which the command will start.
  public static func fault(of path: String, search: String?, directory: String?) -> String? {
    guard let line = ShebangLine(of: path) else { return nil }
    return line.fault(search: search, directory: directory)
  }

  /// Reason why the interpreter, or the program that `env` starts, cannot be run; nil if there is none.
  func fault(search: String?, directory: String?) -> String? {
    let code = FileMetadata.executionError(of: Paths.join(directory ?? "", interpreter))
    if code != 0 {
      let named = "its first line names the interpreter \(ByteText.quoted(interpreter)), which "
      let what =
        code == ENOENT || code == ENOTDIR
        ? "is missing"
        : "cannot be run: \(SystemError(call: "execve", subject: interpreter, code: code).reason)"
      return named + what + Self.advice(interpreter)
    }
    guard Paths.lastPart(of: interpreter) == "env", let argument, let program = Self.programOfEnv(argument)
    else { return nil }
    guard case .failure = ProgramSearch.find(program, path: search, directory: directory) else { return nil }
    return "its first line names the program \(ByteText.quoted(program)), which env does not find"
      + Self.advice(program)
  }

  /// Name of the program that `env` starts; nil if it cannot be determined. The kernel passes the rest of the
  /// line as one argument, and `env` splits this argument into words only after `-S`.
  private static func programOfEnv(_ argument: String) -> String? {
    var words = argument.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      .map { String(Substring($0)) }
    let splits = ["-S", "--split-string"].contains(words.first)
    guard splits || words.count == 1 else { return nil }
    if splits { words.removeFirst() }
    return words.first { !$0.utf8.contains(UInt8(ascii: "=")) }.flatMap { $0.hasPrefix("-") ? nil : $0 }
  }

  /// Advice for a name that ends in a carriage return, from a file with DOS line ends; else empty.
  private static func advice(_ name: String) -> String {
    guard name.utf8.last == UInt8(ascii: "\r") else { return "" }
    return "; the line ends with a carriage return: save the file with line feeds alone (LF, not CR LF)"
  }
}
