// An operand that may be left out with some options, and a value that may be empty.

import Arguments
import Testing

@Suite("Operands that an option implies")
struct ImpliedOperandTests {
  private static let summary = Text("Put parcels away.", "소포를 넣습니다.")

  private func table(impliedBy names: [String] = ["note"]) -> CommandTable {
    CommandTable(
      program: "depot", summary: Self.summary,
      commands: [
        CommandSpec(
          "put", group: Self.summary, summary: Self.summary,
          examples: [Example("depot put --note x", Self.summary)],
          operands: [
            OperandSpec("N", .integer(1...9), replacedBy: "from", impliedBy: names, summary: Self.summary)
          ],
          options: [
            OptionSpec("note", .bytes, summary: Self.summary),
            OptionSpec("from", .path, summary: Self.summary),
          ])
      ], exitCodes: [])
  }

  private func run(_ words: String...) throws -> Invocation? {
    guard case .run(let invocation) = try table().parse(words) else { return nil }
    return invocation
  }

  @Test("it may be given, and need not; without the option it must")
  func implied() throws {
    #expect(try run("put", "3", "--note", "x")?.operands.integer("N") == 3)
    let left = try run("put", "--note", "x")
    #expect(left?.operands.integer("N") == nil && left?.text("note") == "x")
    #expect(throws: UsageError.self) { try run("put") }
    #expect(throws: UsageError.self) { try run("put", "--note", "x", "1", "2") }
  }

  @Test("the error about a missing operand has the first sentence of its summary alone")
  func missing() {
    var table = table()
    table.commands[0].operands[0].summary = Text("Number of parcels. With a note 1.", "소포의 수입니다. 쪽지가 있으면 1.")
    let error = #expect(throws: UsageError.self) { try table.parse(["put"]) }
    #expect(error?.message(in: .english).hasPrefix("'depot put' needs N (number of parcels).") == true)
    #expect(error?.message(in: .korean).hasPrefix("'depot put' 명령에 N 인수가 필요합니다(소포의 수).") == true)
  }

  @Test("a value of any text may be empty, written in either way")
  func empty() throws {
    #expect(try run("put", "--note", "")?.text("note") == "")
    #expect(try run("put", "--note=")?.text("note") == "")
    #expect(throws: UsageError.self) { try run("put", "--from", "") }
  }

  @Test("a missing option is a fault")
  func help() {
    #expect(table().faults() == [])
    #expect(
      table(impliedBy: ["gone"]).faults().contains(
        "operand N of command 'put' is implied by '--gone', which does not exist"))
  }
}
