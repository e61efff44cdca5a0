// Environment variables of every program that is not of this build.
// Invariant: such a program gets the variables of its service and six usual ones, and nothing else of the
// bank's environment. Secrets of the shell that opened the bank, and the bank's own `BANK_HOME`, are not
// passed on. Nothing here can fail.
import Posix

/// The environment of programs that are not of this build.
public enum CommandSurroundings {
  /// Inherited from this process unless the service sets them: search path, user's home, language, time zone
  /// and user name. Most programs were never tested without them.
  public static let inherited = ["PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME"]
  /// The variables of a program.
  ///
  /// - Parameters:
  ///   - settings: `NAME=VALUE` each, as the service configures them; the last one wins if a name comes twice.
  ///   - own: the variables of this process.
  public static func common(_ settings: [String], own: Variables) -> Variables {
    var common = own.filter { inherited.contains($0.key) }
    if common["PATH"] == nil { common["PATH"] = ProgramSearch.usualPath }
    for setting in settings {
      guard let (name, value) = Variables.parts(of: setting) else { continue }
      common[name] = value
    }
    return common
  }
}
