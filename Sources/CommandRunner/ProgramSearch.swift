// Search for a program by the rules of execvp(3), except that execvp passes a file without an interpreter in its
// first line to a shell.
// Invariant: the search executes nothing. Errors: a refusal with the program or directory that is missing, or
// with the file that was found and is not executable. A program that was found may be missing a moment later.
import Glibc
import Posix

/// Search for programs. `execvp(3)`
public enum ProgramSearch {
  /// Path that execvp searches if there is no `PATH`. `confstr(3)` _CS_PATH
  public static let defaultPath = "/bin:/usr/bin"
  /// `PATH` of a program if neither its service nor this process sets one.
  public static let usualPath = "/usr/local/bin:/usr/bin:/bin"

  /// Finds the path of a program that starts in `directory`; `path` is the `PATH` of its environment.
  ///
  /// A name with a slash is a path, relative to the command's working directory. Any other name is searched in each
  /// directory of `path` in order; an empty entry is the working directory. A file that is not executable is skipped.
  /// - Parameters:
  ///   - path: the `PATH` of the command's own environment; nil if it has none.
  ///   - directory: directory in which the command will start; nil for that of this process.
  public static func find(
    _ program: String, path: String?, directory: String? = nil
  ) -> Result<String, CommandStartError> {
    guard !program.isEmpty else { return .failure(.programMissing(program, searched: nil)) }
    /// Path by which this process can examine a file: a relative path is relative to the command's directory.
    func seen(_ path: String) -> String { Paths.join(directory ?? "", path) }
    if program.utf8.contains(UInt8(ascii: "/")) {
      let code = check(seen(program))
      if code == 0 { return .success(program) }
      // If the directory is missing, the refusal names the directory, because no relative path can exist in it.
      if isAbsent(code), program.utf8.first != UInt8(ascii: "/"), let directory,
        (try? FileMetadata.inspect(directory)) == .some(.none)
      {
        let error = SystemError(call: "chdir", subject: directory, code: ENOENT)
        return .failure(.directoryUnusable(directory, reason: error.reason))
      }
      return .failure(
        isAbsent(code)
          ? .programMissing(seen(program), searched: nil) : notExecutable(seen(program), code))
    }
    let searched = path ?? defaultPath
    var refused: CommandStartError?
    for place in searched.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
      let candidate = Paths.join(place.isEmpty ? "." : String(Substring(place)), program)
      let code = check(seen(candidate))
      if code == 0 { return .success(candidate) }
      // If no file can be run, the refusal names the first one that exists and is not executable.
      if !isAbsent(code), refused == nil { refused = notExecutable(seen(candidate), code) }
    }
    return .failure(refused ?? .programMissing(program, searched: searched))
  }

  /// Checks whether a file can be run. Returns 0 if it can, or the errno value that says why not.
  private static func check(_ path: String) -> CInt {
    do throws(SystemError) {
      guard let facts = try FileMetadata.inspect(path) else { return ENOENT }
      guard facts.isFile else { return facts.isDirectory ? EISDIR : EACCES }
      return FileMetadata.executionError(of: path)
    } catch {
      return error.code
    }
  }

  /// True if the errno value means that the file or a directory of its path does not exist.
  private static func isAbsent(_ code: CInt) -> Bool { code == ENOENT || code == ENOTDIR }

  /// Refusal for a file that exists and cannot be run, with the text of the errno value.
  private static func notExecutable(_ path: String, _ code: CInt) -> CommandStartError {
    .notExecutable(path, reason: SystemError(call: "execve", subject: path, code: code).reason)
  }
}
