// Owns one run of the program from its words to its exit code: parse, decide, dispatch, and tell what went
// wrong.
// It must not know what a command does.
// Invariant: every failure is told once: in JSON on standard output where scripts listen, else on standard
// error.
// Failure: becomes an exit code; see ProgramExit.
import Arguments
import BankModel
import ControlClient
import Posix

/// The program.
enum Program {
  /// Runs the words behind the program's name.
  static func run(_ arguments: [String]) -> ProgramExit {
    ProcessStart.prepare(as: .command)
    let surroundings = Surroundings.actual
    let table = BankctlTable.table
    let isTerminal = Terminal.isTerminal(StandardStreams.Stream.output.fd)
    let output = Output(
      isTerminal: isTerminal, palette: Palette(isTerminal: isTerminal, variable: surroundings.variable))
    do throws(UsageError) {
      switch try table.parse(arguments) {
      case .run(let invocation): return run(invocation, surroundings, output)
      case .help(let path): return help(path, table, arguments, surroundings, output)
      case .version: return tell("bankctl \(BankctlTable.version) (\(ControlConnection.build))\n", output)
      }
    } catch {
      return refuse(error, table, arguments, surroundings, output)
    }
  }

  private static func run(
    _ invocation: Invocation, _ surroundings: Surroundings, _ output: Output
  ) -> ProgramExit {
    let asJSON = invocation.flag("json")
    var words = Words(language: surroundings.languageWithoutFile)
    var place = ""
    do throws(CommandError) {
      let home = try surroundings.home(flag: invocation.text("home"))
      place = home.path
      words = try self.words(invocation, surroundings, home)
      let session = Session(
        invocation: invocation, words: words, home: home, surroundings: surroundings, asJSON: asJSON,
        output: output)
      let exit = try Commands.run(session)
      try output.flush()
      return exit
    } catch {
      return report(error, words, place, asJSON, output)
    }
  }

  private static func words(
    _ invocation: Invocation, _ surroundings: Surroundings, _ home: BankHome
  ) throws(CommandError) -> Words {
    let flag = invocation.text("lang")
    // Only where neither flag nor variable has decided is the file looked for.
    if flag == nil, let chosen = surroundings.variable("BANK_LANG"), Language(code: chosen) == nil {
      let message = Words(language: surroundings.languageWithoutFile).noSuchLanguage(chosen)
      throw .complaint(Complaint(code: "usage", exit: .usage, message: message))
    }
    guard flag == nil, surroundings.variable("BANK_LANG") == nil else {
      return Words(language: surroundings.language(flag: flag, configuration: nil))
    }
    let declared = invocation.options.declares("config") ? invocation.text("config") : nil
    let configuration = try surroundings.configuration(flag: declared, home: home)
    return Words(language: surroundings.language(flag: nil, configuration: configuration))
  }

  /// Tells a failure.
  static func report(
    _ error: CommandError, _ words: Words, _ home: String, _ asJSON: Bool, _ output: Output
  ) -> ProgramExit {
    guard let complaint = words.complaint(about: error, home: home) else { return .done }
    do throws(CommandError) {
      // What was printed before stays in front of the reason why no more follows.
      if asJSON { try output.line(.error(code: complaint.code, message: complaint.message)) }
      try output.flush()
    } catch {
      if asJSON { return complaint.exit }
    }
    if !asJSON { Notes.say("bankctl: \(complaint.message)") }
    return complaint.exit
  }

  private static func glimpsedWords(
    _ table: CommandTable, _ arguments: [String], _ surroundings: Surroundings
  ) -> (Words, asJSON: Bool) {
    let values = table.globalValues(glimpsedIn: arguments)
    let chosen = values.text("lang").flatMap { Language(code: $0) }
    return (Words(language: chosen ?? surroundings.languageWithoutFile), values.flag("json"))
  }

  private static func help(
    _ path: [String], _ table: CommandTable, _ arguments: [String], _ surroundings: Surroundings,
    _ output: Output
  ) -> ProgramExit {
    let (words, _) = glimpsedWords(table, arguments, surroundings)
    let width = output.isTerminal ? Terminal.size?.columns ?? 80 : 80
    return tell(
      table.help(for: path, language: words.textLanguage, width: width, colour: output.palette.isOn), output)
  }

  private static func tell(_ text: String, _ output: Output) -> ProgramExit {
    output.write(text)
    do throws(CommandError) { try output.flush() } catch { return error == .readerGone ? .done : .failed }
    return .done
  }

  private static func refuse(
    _ error: UsageError, _ table: CommandTable, _ arguments: [String], _ surroundings: Surroundings,
    _ output: Output
  ) -> ProgramExit {
    let (words, asJSON) = glimpsedWords(table, arguments, surroundings)
    let complaint = Complaint(code: "usage", exit: .usage, message: error.message(in: words.textLanguage))
    if error.wantsOverview, !asJSON {
      let width = Terminal.size(of: StandardStreams.Stream.error.fd)?.columns ?? 80
      Notes.write(table.help(language: words.textLanguage, width: width) + "\n")
    }
    return report(.complaint(complaint), words, "", asJSON, output)
  }
}
