// The list in Commands.md is generated from the command table, and this test compares the two.
// `BANK_RECORD_COMMANDS=1 scripts/test CommandsPageTests` writes the list again.

import Arguments
import BankModel
import Foundation
import Testing
import Wire

@testable import BankctlCommands

@Suite struct CommandsPageTests {
  private static let begin = "<!-- commands: produced from the command table -->\n"
  private static let end = "<!-- end of commands -->"

  private static var root: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
  }
  private static var file: URL {
    root.appendingPathComponent("Sources/BankctlCommands/BankctlCommands.docc/Commands.md")
  }

  /// Every code that a command can end with, and its exit codes, of which there is one.
  private func codes() throws -> [String: Set<Int32>] {
    var codes: [String: Set<Int32>] = [:]
    func add(_ code: String, _ exit: ProgramExit) { codes[code, default: []].insert(exit.rawValue) }
    for code in ErrorCode.allCases { add(code.rawValue, code.exit) }
    for code in Failure.Code.allCases { add(code.name, ProgramExit(code)) }
    for code in StockFailure.Code.allCases { add(code.name, ProgramExit(code)) }
    for code in VendingFailure.Code.allCases { add(code.name, ProgramExit(code)) }
    // The script that builds the programs fails before any of them runs.
    let script = try String(contentsOf: Self.root.appendingPathComponent("scripts/bankctl"), encoding: .utf8)
    let own = script.matches(of: /"code":"([a-z_]+)"/)
    #expect(!own.isEmpty)
    for match in own { add(String(match.output.1), .failed) }
    return codes
  }

  @Test("the table of error codes has every code once, in order, with its exit code, and no other row")
  func table() throws {
    let page = try String(contentsOf: Self.file, encoding: .utf8)
    let begin = try #require(page.range(of: "## Error codes\n")?.upperBound)
    let end = try #require(page[begin...].range(of: "\n## ")?.lowerBound)
    let rows = page[begin..<end].split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
    let codes = try codes()
    var listed: [String] = []
    for row in rows {
      guard let match = row.wholeMatch(of: /\| `([a-z_]+)` \| (\d+) \| (\S.*\.) \|/) else {
        Issue.record("not a row of a code: \(row)")
        continue
      }
      let (code, exit) = (String(match.output.1), Int32(match.output.2))
      listed.append(code)
      #expect(codes[code] == Set([exit ?? -1]), "\(code) is documented with exit code \(match.output.2)")
    }
    #expect(listed == codes.keys.sorted())
  }

  /// Rows of the table of codes in messages, in the order of a page of the protocol.
  private func codesInMessages(_ page: String) throws -> [[String]] {
    let file = Self.root.appendingPathComponent("Sources/Wire/Wire.docc/\(page).md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let begin = try #require(text.range(of: "# Codes in messages\n")?.upperBound)
    let end = text[begin...].range(of: "\n## ")?.lowerBound ?? text.endIndex
    let row = /^\| `([a-z_]+)` \| `([a-z_]+)` \|$/.anchorsMatchLineEndings()
    return text[begin..<end].matches(of: row).map { [String($0.output.1), String($0.output.2)] }
  }

  @Test("the protocol lists every code whose text in a message is another one, in order")
  func codesOfTheProtocol() throws {
    func others(_ codes: [[String]]) -> [[String]] {
      Set(codes.filter { $0[0] != $0[1] }).sorted { $0[0] < $1[0] }
    }
    let control = Failure.Code.allCases.map { [$0.rawValue, $0.name] }
    let stock = StockFailure.Code.allCases.map { [$0.rawValue, $0.name] }
    let vending = VendingFailure.Code.allCases.map { [$0.rawValue, $0.name] }
    #expect(try codesInMessages("Control") == others(control))
    #expect(try codesInMessages("StockAndVending") == others(stock + vending))
  }

  @Test("the page names the fields that only some answers have")
  func fields() throws {
    let page = try String(contentsOf: Self.file, encoding: .utf8)
    for field in [
      "already_issued_count", "already_issued", "error", "mismatch", "out_of_stock", "notes", "finished",
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
      "record it again with BANK_RECORD_COMMANDS=1 scripts/test CommandsPageTests")
    #expect(
      list.ranges(of: "`--timeout T` | Time limit for a response of the stock or the vending machine").count
        == 1,
      "what all commands of the stock and the machine have in common is listed once")
  }
}
