// The README's list of options is produced from the command table, and this test holds both together.
// `BANK_RECORD_README=1 scripts/test ReadmeTests` writes the list anew.

import Arguments
import Foundation
import Testing

@testable import bankctl

@Suite struct ReadmeTests {
  private static let begin = "<!-- commands: produced from the command table -->\n"
  private static let end = "<!-- end of commands -->"

  @Test("the README lists every command and option as the table has them")
  func options() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appendingPathComponent("README.md")
    let readme = try String(contentsOf: file, encoding: .utf8)
    let begin = try #require(readme.range(of: Self.begin)?.upperBound)
    let end = try #require(readme.range(of: Self.end)?.lowerBound)
    let list = BankctlTable.table.optionListMarkdown(.english)
    let wanted = list.hasSuffix("\n") ? list : list + "\n"
    if ProcessInfo.processInfo.environment["BANK_RECORD_README"] == "1" {
      try (readme[..<begin] + wanted + readme[end...]).write(to: file, atomically: true, encoding: .utf8)
      return
    }
    #expect(
      String(readme[begin..<end]) == wanted,
      "record it anew with BANK_RECORD_README=1 scripts/test ReadmeTests")
  }
}
