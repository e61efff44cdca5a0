// Owns the variables that every program begins with that is not of this build. Invariant: it is told nothing of the bank's own
// surroundings: it has what its service names, and six usual variables. Whatever else the bank was opened with, as secrets of a
// shell and the bank's own `BANK_HOME`, stays here. Nothing here can fail.
import Posix

/// The surroundings of programs that are not of this build.
public enum CommandSurroundings {
  /// Taken over from this process where the service does not name them: a program finds others, its user's files, a language
  /// and a time of day. Without them most programs work in a way that nobody has tried.
  public static let inherited = ["PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME"]
  /// The variables of a program.
  ///
  /// - Parameters:
  ///   - settings: `NAME=VALUE` each, as the service names them; of a name that comes twice, the last.
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
