// The list in Commands.md is produced from the command table, and this test holds both together.
// `BANK_RECORD_COMMANDS=1 scripts/test CommandsPageTests` writes the list anew.

import Arguments
import Foundation
import Testing

@testable import bankctl

@Suite struct CommandsPageTests {
  private static let begin = "<!-- commands: produced from the command table -->\n"
  private static let end = "<!-- end of commands -->"

  @Test("the page lists every command and option as the table has them")
  func options() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appendingPathComponent("Sources/bankctl/bankctl.docc/Commands.md")
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
      list.ranges(of: "`--timeout T` | How long to wait for a service that is away").count == 1,
      "what all commands of the stock and the machine have in common stands once")
  }
}
