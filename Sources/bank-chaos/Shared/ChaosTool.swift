// Calls of a system program, such as `psql`, `ip` or `initdb`, by a chaos run.
// Errors: a program that is missing or cannot be started has the code 127. One that a signal has killed has the code
// 126.
import Posix

/// Runs system programs, and reads what they write.
struct ChaosTool {
  /// How a program has ended, and what it has written.
  struct Outcome {
    /// The exit code, and the text of standard output and standard error.
    var code: Int32
    var output: String
    var hasSucceeded: Bool { code == 0 }
  }

  /// Directory of the output while a program runs.
  let scratch: String

  /// Runs a program and waits for its exit. The first word is the program, which is searched for in the system's
  /// directories.
  func run(_ arguments: [String], environment: EnvironmentVariables = [:]) -> Outcome {
    guard let program = Self.find(arguments[0]) else {
      return Outcome(code: 127, output: "\(arguments[0]): not found")
    }
    let file = Paths.join(scratch, "tool-\(CurrentProcess.pid)")
    defer { try? Directory.unlink(file) }
    let variables = Self.variables.overlaid(by: environment)
    guard
      let child = try? ChildProcess.spawn(
        executable: program, arguments: Array(arguments.dropFirst()), environment: variables,
        standardOutput: .append(path: file), standardError: .append(path: file))
    else { return Outcome(code: 127, output: "\(program): cannot be started") }
    let status = child.wait()
    let bytes = (try? FileDescriptor.open(file, .readOnly).readAll(limit: 4 << 20)) ?? []
    let text = String(decoding: bytes, as: UTF8.self)
    if case .code(let code) = status.ending { return Outcome(code: code, output: text) }
    return Outcome(code: 126, output: text)
  }

  /// Starts a program without reading its output; nil if it cannot be started.
  func begin(_ arguments: [String], environment: EnvironmentVariables = [:]) -> ChildProcess? {
    guard let program = Self.find(arguments[0]) else { return nil }
    return try? ChildProcess.spawn(
      executable: program, arguments: Array(arguments.dropFirst()),
      environment: Self.variables.overlaid(by: environment),
      standardOutput: .null, standardError: .null)
  }

  /// Basic environment of a program.
  static let variables: EnvironmentVariables = [
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "TZ": "UTC",
  ]

  /// The path of a program; a word with a slash already is one. Returns nil if there is no such file.
  static func find(_ name: String) -> String? {
    let places =
      name.contains("/") ? [name] : ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map { Paths.join($0, name) }
    return places.first { (try? FileMetadata.inspect($0))?.isFile == true }
  }
}
