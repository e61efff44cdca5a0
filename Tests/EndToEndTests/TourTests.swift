// Commands of the README, typed in order at a shell in a terminal and compared with its output. `ReadmeBranchesTests`
// covers the section that needs a PostgreSQL server.
import Foundation
import Testing

@Suite("Commands of the README")
struct TourTests {
  @Test("every command works as typed and prints what the README shows")
  func replay() throws {
    let tour = try Tour.ofReadme()
    #expect(tour.steps.count > 12 && tour.steps.allSatisfy { !$0.command.isEmpty })
    try withScratchBank { branch in
      let shell = try TourShell(branch)
      for block in tour.blocks where block.section != Tour.severalMachines {
        if block.language == "json" {
          let file = try #require(
            block.file, "README.md:\(block.line): the text does not name the file to save this as")
          let text = block.text.joined(separator: "\n") + "\n"
          let place = branch.path("elsewhere/\(file.directory)/\(file.name)")
          try text.write(toFile: place, atomically: false, encoding: .utf8)
        }
        for step in block.steps { try shell.follow(step) }
      }
      try shell.end()
      try branch.waitUntil("no process is left", within: .seconds(5)) { branch.processes.all().isEmpty }
    }
  }

  @Test("every command is in a block that a test types, except the two that set up the checkout")
  func blocks() throws {
    let blocks = try Tour.ofReadme().blocks
    #expect(Set(blocks.map(\.language)) == ["console", "json", "sh", "text"])
    let untyped = blocks.filter { $0.language == "sh" }
    #expect(
      untyped.flatMap(\.text).map { $0.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces) }
        == ["scripts/bankctl open", "scripts/test"])
    #expect(untyped.allSatisfy { $0.line + $0.text.count < 40 }, "they are near the top of the README")
    #expect(blocks.filter { $0.language == "json" }.allSatisfy { $0.file != nil })
    for block in blocks where block.language == "console" {
      #expect(block.text.first?.hasPrefix("$ ") == true, "README.md:\(block.line): nothing is typed here")
    }
    #expect(blocks.contains { $0.section == Tour.severalMachines && !$0.steps.isEmpty })
  }

  @Test("every line of the README is compared, and a changed word is found")
  func planted() throws {
    for step in try Tour.ofReadme().steps {
      let seen = step.shown.filter { $0 != "…" }
      #expect(TourProcesses().matching(shown: step.shown, seen: seen) != nil, "\(step)")
      for place in seen.indices where !seen[place].isEmpty {
        var other = seen
        other[place] += " x"
        #expect(
          TourProcesses().matching(shown: step.shown, seen: other) == nil,
          "README.md:\(step.line): \(seen[place])")
        other.remove(at: place)
        #expect(
          TourProcesses().matching(shown: step.shown, seen: other) == nil,
          "README.md:\(step.line): \(seen[place])")
      }
    }
  }

  @Test("times, durations and memory may have any value, and a process keeps its number")
  func rules() {
    func isSame(_ shown: String, _ seen: String) -> Bool {
      TourProcesses().matching(
        shown: shown.components(separatedBy: "\n"), seen: seen.components(separatedBy: "\n")) != nil
    }
    #expect(isSame("at 2026-11-22T03:15:43.541Z  done", "at 2027-01-01T00:00:00.001Z done"))
    #expect(isSame("time - 00:02:781 · for 2.7 s", "time - 01:00:000 · for 12 ms"))
    #expect(isSame("total: 5.53 seconds.", "total: 11.08 seconds."))
    #expect(isSame("7.8 MB", "12.4 MB") && !isSame("7.8 MB", "12.4 s") && !isSame("7 waiting", "8 waiting"))
    #expect(isSame("총 14명, 총 9.62초입니다.", "총 14명, 총 10.01초입니다."))
    #expect(!isSame("총 14명, 총 9.62초입니다.", "총 15명, 총 9.62초입니다."))
    #expect(isSame("a pid 12\nb pid 13\nc pid=12", "a pid 701\nb pid 702\nc pid=701"))
    #expect(!isSame("a pid 12\nb pid 13", "a pid 701\nb pid 701"), "two processes do not match one")
    #expect(!isSame("a pid 12\nb pid 12", "a pid 701\nb pid 702"), "one process does not match two")
    #expect(isSame("at run-1, generation 1, pid 12", "at run-2, generation 2, pid 701"))
    #expect(!isSame("at sum-1, generation 1, pid 12", "at sum-1, generation 2, pid 701"))
    let table = "window  pid  state\nloan-1   %  idle\n\nserved  9"
    #expect(isSame(table.replacing("%", with: "41"), table.replacing("%", with: "70000")))
    #expect(!isSame(table, table.replacing("9", with: "8")))
    #expect(isSame("a\n…\nd", "a\nb\nc\nd") && isSame("a\n…\nd", "a\nd") && !isSame("a\n…\nd", "a\nb"))
    #expect(isSame("a … d", "a b c d") && isSame("a … d", "a d"))
    #expect(!isSame("a … d", "a b") && !isSame("a … d", "a d e"))
    let processes = TourProcesses().matching(shown: ["pid 12"], seen: ["pid 701"])
    #expect(processes?.typed("kill -9 12") == "kill -9 701")
  }
}
