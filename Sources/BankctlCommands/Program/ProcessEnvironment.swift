// Settings that flags, environment and files decide before a command runs: home, configuration, language.
// Invariant: a flag overrides the environment, the environment overrides a file, a file overrides the default. The
// exception is `BANK_CONFIG_DEFAULT`, which replaces only a missing file of the home. Paths are absolute.
// Errors: `CommandError` if no home can be determined, a path cannot be made absolute, or the address of a shared
// database is invalid.
import BankModel
import ByteText
import Configuration
import ControlClient
import Posix

/// What a command reads of its surroundings.
package struct ProcessEnvironment {
  /// Value of an environment variable; nil if it is unset or empty.
  var variable: (String) -> String?
  /// Makes a path absolute.
  var absolute: (String) throws(SystemError) -> String
  /// True if a regular file has this path.
  var isFile: (String) -> Bool
  /// The language in a configuration file; nil if it has none or cannot be read.
  var configuredLanguage: (String) -> Language?
  /// Path of this program; nil if unknown.
  var executable: () -> String?
  /// Finds the coordinator's program for a launch; throws if it is missing.
  var launcher: () throws(ControlError) -> BankLauncher

  static var actual: ProcessEnvironment {
    ProcessEnvironment(
      variable: { Environment.value($0).flatMap { $0.isEmpty ? nil : $0 } }, absolute: Paths.absolute,
      isFile: { (try? FileMetadata.inspect($0))?.isFile == true },
      configuredLanguage: { (try? BankConfiguration.load(path: $0))?.language },
      executable: { try? Paths.executable() }, launcher: BankLauncher.find)
  }

  /// The home, from the first of these that is set: flag, `BANK_HOME`, `$XDG_STATE_HOME/bank`,
  /// `~/.local/state/bank`. A relative XDG_STATE_HOME is ignored (XDG Base Directory Specification).
  func home(flag: String?) throws(CommandError) -> BankHome {
    let chosen: String
    if let flag {
      chosen = flag
    } else if let home = variable("BANK_HOME") {
      chosen = home
    } else if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") {
      chosen = Paths.join(state, "bank")
    } else if let person = variable("HOME") {
      chosen = Paths.join(person, ".local/state/bank")
    } else {
      let messages = MessageCatalog(language: languageWithoutFile)
      throw .commandFailure(
        as: .badHome,
        messages.say(
          "The bank has no home: set --home, BANK_HOME, XDG_STATE_HOME or HOME.",
          "은행의 홈을 알 수 없습니다. --home, BANK_HOME, XDG_STATE_HOME, HOME 중 하나를 설정하세요."))
    }
    return BankHome(path: try fromSystem(absolute(chosen)))
  }

  /// The configuration, from the first of these: flag, `BANK_CONFIG`, the home's file if it exists,
  /// `BANK_CONFIG_DEFAULT`, the installation's file if it exists. Nil for none.
  package func configuration(flag: String?, home: BankHome) throws(CommandError) -> String? {
    try chosenConfiguration(flag: flag, home: home)?.path
  }

  /// The configuration and its source, in the same order; nil for none.
  func chosenConfiguration(flag: String?, home: BankHome) throws(CommandError) -> ChosenConfiguration? {
    if let flag { return ChosenConfiguration(try fromSystem(absolute(flag)), by: .option) }
    if let chosen = try named(by: "BANK_CONFIG") { return chosen }
    if isFile(home.configuration) { return ChosenConfiguration(home.configuration, by: .home) }
    if let standard = try named(by: "BANK_CONFIG_DEFAULT") { return standard }
    guard let executable = executable() else { return nil }
    let prefix = Paths.directory(of: Paths.directory(of: executable))
    let installed = Paths.join(prefix, "share/bank/bank.json")
    return isFile(installed) ? ChosenConfiguration(installed, by: .installation) : nil
  }

  /// The configuration that an environment variable names; nil if the variable is unset.
  private func named(by name: String) throws(CommandError) -> ChosenConfiguration? {
    guard let path = variable(name) else { return nil }
    return ChosenConfiguration(try fromSystem(absolute(path)), by: .environment(name))
  }

  /// Address of a shared database given outside the configuration, and its source: flag, `BANK_STORE`. Nil
  /// leaves the choice to the configuration. Errors: a usage error that contains at most one byte of the input,
  /// because the input may contain a password.
  func store(
    flag: String?, _ messages: MessageCatalog, option: String = "--store"
  ) throws(CommandError) -> (address: StoreAddress, source: SettingSource)? {
    let name = "BANK_STORE"
    guard let text = flag ?? variable(name) else { return nil }
    if let (byte, offset) = ByteText.firstNonUTF8Byte(in: text) {
      throw .usage(messages.notText(flag == nil ? name : option, byte, behind: offset))
    }
    do throws(StoreAddress.Fault) {
      return (try StoreAddress(text), flag == nil ? .environment(name) : .option(option))
    } catch {
      throw .usage(messages.badAddress(flag == nil ? name : option, error.message(in: messages.language)))
    }
  }

  /// The language, from the first of these that decides it: flag, `BANK_LANG`, the configuration, the locale.
  func language(flag: String?, configuration: String?) -> Language {
    if let chosen = flag ?? variable("BANK_LANG"), let language = Language(code: chosen) { return language }
    // Errors in the configuration are ignored, because the coordinator reports them.
    if let configuration, let language = configuredLanguage(configuration) { return language }
    return locale
  }

  /// The language as long as home and configuration are unknown: `BANK_LANG`, otherwise the locale.
  var languageWithoutFile: Language { variable("BANK_LANG").flatMap { Language(code: $0) } ?? locale }

  /// The language that `LC_ALL`, `LC_MESSAGES` or `LANG` selects.
  private var locale: Language {
    let name = variable("LC_ALL") ?? variable("LC_MESSAGES") ?? variable("LANG") ?? ""
    return Language(locale: name)
  }
}

/// A configuration file and its source.
struct ChosenConfiguration: Equatable {
  /// What has named a configuration file.
  enum ConfigurationSource: Equatable {
    case option
    /// The environment variable with this name.
    case environment(String)
    case home, installation
  }

  /// Absolute path.
  let path: String
  let source: ConfigurationSource

  init(_ path: String, by source: ConfigurationSource) { (self.path, self.source) = (path, source) }
}
