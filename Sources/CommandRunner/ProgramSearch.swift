// Owns where a program is: by the rules of execvp(3), and without its last one, by which a file without a first line
// that says otherwise is read by a shell. Invariant: nothing is run to find out.
// Failure: a refusal that says what is missing, or found and not executable; what is found may be gone a moment later.
import Glibc
import Posix

/// Looks for programs. `execvp(3)`
public enum ProgramSearch {
  /// Where execvp looks when there is no `PATH`. `confstr(3)` _CS_PATH
  public static let defaultPath = "/bin:/usr/bin"
  /// The `PATH` that a command has where nobody has said one. `environ(7)`
  public static let usualPath = "/usr/local/bin:/usr/bin:/bin"

  /// The path of a program.
  ///
  /// A name with a slash is a path, from the working directory of the command. Any other is looked for in each directory
  /// of `path` in turn; an empty one is the working directory. One that may not be run is passed over, as execvp does.
  /// - Parameters:
  ///   - path: the `PATH` of the command's own environment; nil where it has none.
  ///   - directory: where the command will start; nil for where this process is.
  public static func find(
    _ program: String, path: String?, directory: String? = nil
  ) -> Result<String, CommandRefusal> {
    guard !program.isEmpty else { return .failure(.programMissing(program, searched: nil)) }
    // Paths are as the command sees them from its directory, and are looked at from here.
    func seen(_ path: String) -> String { Paths.join(directory ?? "", path) }
    if program.utf8.contains(UInt8(ascii: "/")) {
      let code = check(seen(program))
      if code == 0 { return .success(program) }
      // Without the directory nothing can be where a relative path leads.
      if isAbsent(code), program.utf8.first != UInt8(ascii: "/"), let directory,
        (try? FileFacts.inspect(directory)) == .some(.none)
      {
        let error = SystemError(call: "chdir", subject: directory, code: ENOENT)
        return .failure(.directoryUnusable(directory, reason: error.reason))
      }
      return .failure(
        isAbsent(code)
          ? .programMissing(seen(program), searched: nil) : notExecutable(seen(program), code))
    }
    let searched = path ?? defaultPath
    var refused: CommandRefusal?
    for place in searched.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
      let candidate = Paths.join(place.isEmpty ? "." : String(Substring(place)), program)
      let code = check(seen(candidate))
      if code == 0 { return .success(candidate) }
      // The first that is there and may not be run is named where no other can be.
      if !isAbsent(code), refused == nil { refused = notExecutable(seen(candidate), code) }
    }
    return .failure(refused ?? .programMissing(program, searched: searched))
  }

  /// 0, or an errno value.
  private static func check(_ path: String) -> CInt {
    do throws(SystemError) {
      guard let facts = try FileFacts.inspect(path) else { return ENOENT }
      guard facts.isFile else { return facts.isDirectory ? EISDIR : EACCES }
      return FileFacts.execution(of: path)
    } catch {
      return error.code
    }
  }

  private static func isAbsent(_ code: CInt) -> Bool { code == ENOENT || code == ENOTDIR }

  private static func notExecutable(_ path: String, _ code: CInt) -> CommandRefusal {
    .notExecutable(path, reason: SystemError(call: "execve", subject: path, code: code).reason)
  }
}
