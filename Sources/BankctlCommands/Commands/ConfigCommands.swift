// `config show` and `config check`: the effective settings of a bank, and their validation. They change nothing.
// Errors: `CommandError`.
import Arguments
import BankModel
import CommandRunner
import Configuration
import ControlClient
import Posix
import Wire

/// Implementations of `bankctl config show` and `bankctl config check`.
enum ConfigCommands {
  // MARK: Checking

  /// Validates the configuration with its files and programs, and prints the names of the files.
  static func check(_ session: Session) throws(CommandError) {
    let flag = session.invocation.operands.text("FILE")
    let configuration = try session.environment.configuration(flag: flag, home: session.home)
    let files = BankFiles(home: session.home.path, configuration: configuration)
    let read = try fromFile(session) { () throws(ConfigurationError) in try files.readAll() }
    try findPrograms(of: read.configuration.configuration, session)
    try fromFile(session) { () throws(ConfigurationError) in
      try findConfiguredPrograms(of: read.configuration, file: files.configuration ?? "", session)
    }
    try session.show(.checked(files), or: [session.messages.configurationValid(files)])
  }

  /// Throws an error for the first program of the bank that is missing beside bankctl.
  private static func findPrograms(
    of configuration: BankConfiguration, _ session: Session
  ) throws(CommandError) {
    let launcher = try fromControl(session.environment.launcher())
    let programs = ProgramPaths(in: Paths.directory(of: launcher.program))
    for path in [launcher.guardian].compactMap(\.self) + programs.needed(by: configuration)
    where !ProgramPaths.isProgram(path) {
      throw .control(.programMissing(places: [path]))
    }
  }

  /// Throws an error for the first external program of the configuration that the bank would not find or could not
  /// execute.
  private static func findConfiguredPrograms(
    of read: LoadedConfiguration, file: String, _ session: Session
  ) throws(ConfigurationError) {
    for program in read.namedPrograms {
      let path = program.path ?? session.environment.variable("PATH") ?? ProgramSearch.usualPath
      let directory = program.directory ?? session.home.path
      do throws(CommandStartError) {
        let place = Paths.join(
          directory, try ProgramSearch.find(program.name, path: path, directory: directory).get())
        if let fault = ShebangLine.fault(of: place, search: path, directory: directory) {
          throw .notExecutable(place, reason: fault)
        }
      } catch {
        let reason: ConfigurationError.Reason =
          if case .notExecutable(let place, let why) = error { .notExecutable(place, why) } else {
            .noSuchProgram(program.name)
          }
        throw program.refusal(reason, in: file)
      }
    }
  }

  /// Reads a configuration, and converts its error into that of the command.
  private static func fromFile<Result>(
    _ session: Session, _ read: () throws(ConfigurationError) -> Result
  ) throws(CommandError) -> Result {
    do throws(ConfigurationError) { return try read() } catch {
      throw .failure(
        Failure(
          .badConfiguration, subject: error.path, detail: error.message(in: session.messages.language)))
    }
  }

  // MARK: Showing

  /// Prints the settings with their values and sources, and a note about differences in the open bank.
  static func show(_ session: Session) throws(CommandError) {
    let file = try session.environment.chosenConfiguration(
      flag: session.invocation.text("config"), home: session.home)
    let files = BankFiles(home: session.home.path, configuration: file?.path)
    let read = try fromFile(session) { () throws(ConfigurationError) in try files.readConfiguration() }
    let settings = read.settings(with: try choices(session, read.configuration))
    let inUse = differencesInUse(read, session)
    try session.show(
      .settings(settings, of: file, inUse: inUse),
      or: [session.messages.shown(file)]
        + table(settings, session.messages).lines(
          session.output.palette, within: session.columns))
    if !session.asJSON, !inUse.isEmpty { session.note(session.messages.differsInUse(inUse)) }
  }

  /// Values from the command line and the environment that override the configuration, as for `start`.
  private static func choices(
    _ session: Session, _ configuration: BankConfiguration
  ) throws(CommandError) -> [(SettingOverride, SettingSource)] {
    let invocation = session.invocation
    var choices: [(SettingOverride, SettingSource)] = []
    for choice in try session.chosenWindows(juice: true) {
      let known = configuration.services.map(\.text)
      guard configuration.services.contains(choice.service) else {
        let near = Suggestions.nearest(to: choice.service.text, among: known)
        throw .commandFailure(
          as: .noSuchService, session.messages.noSuchService(choice.service.text, near, known))
      }
      guard choice.count == 0 || !configuration.isOutside(choice.service) else {
        throw .failure(
          Failure(
            .badRequest, messageDetail: MessageDetail(.outsideServiceWithoutWindows, choice.service.text)))
      }
      choices.append((.windows(choice.service, Int32(clamping: choice.count)), .option(choice.option)))
    }
    if let speed = invocation.speed("speed") { choices.append((.speed(Speed(speed)), .option("--speed"))) }
    if let language = invocation.text("lang").flatMap({ Language(code: $0) }) {
      choices.append((.language(language), .option("--lang")))
    } else if let language = session.environment.variable("BANK_LANG").flatMap({ Language(code: $0) }) {
      choices.append((.language(language), .environment("BANK_LANG")))
    }
    if let store = try session.environment.store(flag: invocation.text("store"), session.messages) {
      choices.append((.store(store.address), store.source))
    }
    return choices
  }

  /// Settings whose values differ in the open bank; empty if the bank is closed, or has no copy of its configuration.
  private static func differencesInUse(_ read: LoadedConfiguration, _ session: Session) -> [EffectiveSetting]
  {
    guard let copy = try? LoadedConfiguration(path: session.home.configurationInUse), session.isBankAnswering
    else { return [] }
    return read.differences(in: copy)
  }

  /// The settings as a table: key, value, source.
  static func table(_ settings: [EffectiveSetting], _ messages: MessageCatalog) -> TextTable {
    var table = TextTable([.left, .left, .left])
    table.addHeadings([MessageCatalog.Column.setting, .value, .source].map(messages.column))
    for setting in settings {
      table.add([.init(setting.key), .init(setting.value.fileText), .init(messages.source(setting.source))])
    }
    return table
  }
}
