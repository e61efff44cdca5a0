// Names of commands and options that have changed, or that have a second one: an alias is accepted, and a
// former name is refused with the present one.

import Arguments
import Testing
import Time

@testable import BankctlCommands

@Suite("Names of commands and options")
struct CommandNamesTests {
  private let table = BankctlTable.table

  private func run(_ words: String...) throws -> Invocation {
    guard case .run(let invocation) = try table.parse(words) else { throw NotACommand(words: words) }
    return invocation
  }

  private struct NotACommand: Error { let words: [String] }

  /// The page of a command without its line breaks.
  private func page(_ command: String, _ language: TextLanguage = .english) -> String {
    table.help(for: [command], language: language).split { $0 == " " || $0 == "\n" }.joined(separator: " ")
  }

  @Test("'migrate' is 'move', and '--no-browser' is '--no-open'; help names both")
  func migration() throws {
    let move = try run("migrate", "--to", "postgres://bank@db/bank")
    #expect(move.name == "move" && move.text("to") == "postgres://bank@db/bank")
    #expect(try run("move", "--to", "postgres://bank@db/bank").name == "move")
    for option in ["--no-open", "--no-browser"] { #expect(try run("web", option).flag("no-open")) }
    #expect(page("move").contains("(also: migrate)"))
    #expect(page("web").contains("(also: --no-browser)"))
    #expect(page("web", .korean).contains("(다른 이름: --no-browser)"))
  }

  @Test("'--timeout' is '--step-timeout' of 'stop' and '--stall-timeout' of 'juice order'")
  func timeouts() throws {
    for name in ["step-timeout", "timeout"] {
      #expect(try run("stop", "--\(name)", "5s").duration("step-timeout") == .seconds(5))
    }
    for name in ["stall-timeout", "timeout"] {
      #expect(
        try run("juice", "order", "kiwi", "--\(name)", "5s").duration("stall-timeout") == .seconds(5))
    }
    // The commands that keep '--timeout' as the name of their only time limit.
    #expect(try run("wait", "--timeout", "5s").duration("timeout") == .seconds(5))
    #expect(try run("--timeout", "5s", "stock").duration("timeout") == .seconds(5))
    #expect(page("stop").contains("also: --timeout)"))
  }

  @Test("'enqueue' needs N without a payload, in the error and in the help; with one N may be omitted")
  func countOfCustomers() throws {
    let error = #expect(throws: UsageError.self) { try table.parse(["enqueue", "--service", "loan"]) }
    #expect(
      error?.message(in: .english)
        == "'bankctl enqueue' needs N (number of customers). See 'bankctl enqueue --help'.")
    #expect(error?.message(in: .korean).contains("N 인수가 필요합니다(고객의 수).") == true)
    #expect(page("enqueue").contains("Required without a payload; with a payload the default is 1."))
    #expect(page("enqueue").contains("bankctl enqueue [N] --payload TEXT"))
    #expect(try run("enqueue", "--service", "thumbs", "--payload", "x").operands.integer("N") == nil)
  }

  @Test(
    "a command under its former name is refused with the present one",
    arguments: [
      (["vending", "admin", "set-aside"], "vending admin quarantine"), (["board"], "snapshot"),
    ])
  func formerCommands(_ words: [String], _ present: String) {
    let error = #expect(throws: UsageError.self) { try table.parse(words) }
    #expect(error?.message(in: .english).contains("Did you mean '\(present)'?") == true)
    #expect(table.command(named: present) != nil)
  }
}
