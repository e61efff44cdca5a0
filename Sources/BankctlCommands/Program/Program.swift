// One run of a command-line program, from its arguments to its exit code.
// Invariant: an error is reported at most once: in JSON on standard output if JSON was requested, otherwise on standard
// error. A standard output without a reader is not reported.
import Arguments
import BankModel
import ControlClient
import Posix

/// One run of a command-line program.
package struct Program {
  /// The name under which the program was called (argv[0]), the prefix of its messages. A program that
  /// bankctl executes receives bankctl's name.
  private static let name = CurrentProcess.arguments.first.map(Paths.lastPart) ?? ""

  private let table: CommandTable
  private let arguments = Array(CurrentProcess.arguments.dropFirst())
  private let environment = ProcessEnvironment.actual
  private let output: Output

  private init(_ table: CommandTable) {
    ProcessStart.prepare(as: .command)
    self.table = table
    let isTerminal = Terminal.isTerminal(StandardStreams.Stream.output.fd)
    output = Output(
      isTerminal: isTerminal, palette: Palette(isTerminal: isTerminal, variable: environment.variable))
  }

  /// Runs a program whose commands work on a home. Returns its exit code.
  package static func run(
    _ table: CommandTable, _ command: (Session) throws(CommandError) -> ProgramExit
  ) -> Int32 {
    let program = Program(table)
    return program.understand { invocation in program.run(invocation, command) }
  }

  /// Runs a program without home and configuration. Returns its exit code. The environment decides the
  /// language.
  package static func run(
    tool table: CommandTable, _ work: (Invocation, MessageCatalog) throws(CommandError) -> ProgramExit
  ) -> Int32 {
    let program = Program(table)
    return program.understand { invocation in
      let messages = MessageCatalog(language: program.environment.languageWithoutFile)
      do throws(CommandError) { return try work(invocation, messages) } catch {
        return report(error, messages, "", invocation.options.wantsJSON, program.output)
      }
    }
  }

  /// Parses the arguments; runs the command, prints help or the version, or reports the usage error.
  private func understand(_ run: (Invocation) -> ProgramExit) -> Int32 {
    do throws(UsageError) {
      return switch try table.parse(arguments) {
      case .run(let invocation): run(invocation).rawValue
      case .help(let path): help(path).rawValue
      case .version:
        printText("\(table.program) \(BankctlTable.version) (\(ControlConnection.build))\n").rawValue
      }
    } catch {
      return refuse(error).rawValue
    }
  }

  /// Decides home and language, runs the command, and reports its error. Returns the exit code.
  private func run(
    _ invocation: Invocation, _ command: (Session) throws(CommandError) -> ProgramExit
  ) -> ProgramExit {
    let asJSON = invocation.options.wantsJSON
    var messages = MessageCatalog(language: environment.languageWithoutFile)
    var place = ""
    do throws(CommandError) {
      let home = try environment.home(flag: invocation.text("home"))
      place = home.path
      messages = try self.messages(invocation, home)
      let session = Session(
        invocation: invocation, messages: messages, home: home, environment: environment, asJSON: asJSON,
        output: output)
      let exit = try command(session)
      try output.flush()
      return exit
    } catch {
      return Self.report(error, messages, place, asJSON, output)
    }
  }

  /// The messages in the language that flag, environment, configuration or locale decides.
  private func messages(_ invocation: Invocation, _ home: BankHome) throws(CommandError) -> MessageCatalog {
    let flag = invocation.text("lang")
    // The configuration file is read only if neither the flag nor the variable decides the language.
    if flag == nil, let chosen = environment.variable("BANK_LANG"), Language(code: chosen) == nil {
      throw .usage(MessageCatalog(language: environment.languageWithoutFile).noSuchLanguage(chosen))
    }
    guard flag == nil, environment.variable("BANK_LANG") == nil else {
      return MessageCatalog(language: environment.language(flag: flag, configuration: nil))
    }
    let declared = invocation.options.declares("config") ? invocation.text("config") : nil
    let configuration = try environment.configuration(flag: declared, home: home)
    return MessageCatalog(language: environment.language(flag: nil, configuration: configuration))
  }

  /// Reports an error once, in JSON or on standard error. Returns the exit code.
  static func report(
    _ error: CommandError, _ messages: MessageCatalog, _ home: String, _ asJSON: Bool, _ output: Output
  ) -> ProgramExit {
    guard let commandFailure = messages.commandFailure(about: error, home: home) else { return .done }
    do throws(CommandError) {
      // The output that was buffered before the error is written first.
      if asJSON { try output.line(.error(code: commandFailure.code, message: commandFailure.message)) }
      try output.flush()
    } catch {
      if asJSON { return commandFailure.exit }
    }
    if !asJSON { StandardErrorNotes.say("\(name): \(commandFailure.message)") }
    return commandFailure.exit
  }

  /// Messages and output format for a command line that may be invalid.
  private var provisionalMessages: (MessageCatalog, asJSON: Bool) {
    let values = table.globalValues(inPossiblyInvalid: arguments)
    let named = values.declares("lang") ? values.text("lang") : nil
    let chosen = named.flatMap { Language(code: $0) }
    return (MessageCatalog(language: chosen ?? environment.languageWithoutFile), values.wantsJSON)
  }

  /// Prints the help of a command, or the overview for an empty path.
  private func help(_ path: [String]) -> ProgramExit {
    let width = output.isTerminal ? Terminal.size?.columns ?? 80 : 80
    let language = provisionalMessages.0.textLanguage
    return printText(table.help(for: path, language: language, width: width, colour: output.palette.isOn))
  }

  /// Prints text on standard output. Returns the exit code.
  private func printText(_ text: String) -> ProgramExit {
    output.write(text)
    do throws(CommandError) { try output.flush() } catch { return error == .readerGone ? .done : .failed }
    return .done
  }

  /// Reports a usage error, after the overview if the error asks for it. Returns the exit code.
  private func refuse(_ error: UsageError) -> ProgramExit {
    let (messages, asJSON) = provisionalMessages
    if error.wantsOverview, !asJSON {
      let width = Terminal.size(of: StandardStreams.Stream.error.fd)?.columns ?? 80
      StandardErrorNotes.write(table.help(language: messages.textLanguage, width: width) + "\n")
    }
    return Self.report(.usage(error.message(in: messages.textLanguage)), messages, "", asJSON, output)
  }
}

extension Values {
  fileprivate var wantsJSON: Bool { declares("json") && flag("json") }
}
