// Environment variables of programs that are not part of this build, such as a worker that a user has written.
// Secrets of the shell in which the bank was opened, and the bank's own `BANK_HOME`, are not inherited.
import Posix

/// The environment of programs that are not part of this build, such as commands: a few variables of this process,
/// and those that the service configures.
public enum InheritedEnvironment {
  /// Variables that a program inherits from this process unless its service sets them: search path, home directory of
  /// the user, language, time zone and user name. If this process has no `PATH`, ``ProgramSearch/usualPath`` is used.
  public static let inherited = ["PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME"]
  /// Returns the environment of a program: a few of the variables in `own`, and the `NAME=VALUE` in `settings`.
  ///
  /// - Parameters:
  ///   - settings: settings of the form `NAME=VALUE`, as configured for the service. Of two with the same name
  ///     the last one is used.
  ///   - own: the variables of this process.
  public static func common(_ settings: [String], own: EnvironmentVariables) -> EnvironmentVariables {
    var common = own.filter { inherited.contains($0.key) }
    if common["PATH"] == nil { common["PATH"] = ProgramSearch.usualPath }
    for setting in settings {
      guard let (name, value) = EnvironmentVariables.parts(of: setting) else { continue }
      common[name] = value
    }
    return common
  }
}
