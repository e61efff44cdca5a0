// The list in Commands.md is produced from the command table, and this test holds both together.
// `BANK_RECORD_COMMANDS=1 scripts/test CommandsPageTests` writes the list anew.

import Arguments
import BankModel
import Foundation
import Testing
import Wire

@testable import Console

@Suite struct CommandsPageTests {
  private static let begin = "<!-- commands: produced from the command table -->\n"
  private static let end = "<!-- end of commands -->"

  private static var file: URL {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return root.appendingPathComponent("Sources/Console/Console.docc/Commands.md")
  }

  @Test("the page names every code of a failure beside its exit code")
  func codes() throws {
    let page = try String(contentsOf: Self.file, encoding: .utf8)
    let places =
      Failure.Code.allCases.map { (ProgramExit($0), $0.rawValue) }
      + StockFailure.Code.allCases.map { (ProgramExit($0), $0.rawValue) }
      + VendingFailure.Code.allCases.map { (ProgramExit($0), $0.rawValue) }
    for (exit, code) in places {
      let line = page.split(separator: "\n").first { $0.hasPrefix("| \(exit.rawValue) | `") }
      #expect(line?.contains("`\(code)`") == true, "\(code) has exit code \(exit.rawValue)")
    }
  }

  @Test("the page names the fields that only some answers have")
  func fields() throws {
    let page = try String(contentsOf: Self.file, encoding: .utf8)
    for field in [
      "known_count", "known_tickets", "trouble", "mismatch", "out_of_stock", "notes", "finished",
      "day_closed",
    ] {
      #expect(page.contains("`\(field)`") || page.contains(".\(field)`"), "\(field)")
    }
  }

  @Test("the page lists every command and option as the table has them")
  func options() throws {
    let file = Self.file
    let page = try String(contentsOf: file, encoding: .utf8)
    let begin = try #require(page.range(of: Self.begin)?.upperBound)
    let end = try #require(page.range(of: Self.end)?.lowerBound)
    let list = BankctlTable.table.optionListMarkdown(.english)
    let wanted = list.hasSuffix("\n") ? list : list + "\n"
    if ProcessInfo.processInfo.environment["BANK_RECORD_COMMANDS"] == "1" {
      try (page[..<begin] + wanted + page[end...]).write(to: file, atomically: true, encoding: .utf8)
      return
    }
    #expect(
      String(page[begin..<end]) == wanted,
      "record it anew with BANK_RECORD_COMMANDS=1 scripts/test CommandsPageTests")
    #expect(
      list.ranges(of: "`--timeout T` | Time limit for an answer of the stock or the vending machine").count
        == 1,
      "what all commands of the stock and the machine have in common stands once")
  }
}
