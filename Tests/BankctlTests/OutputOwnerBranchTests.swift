// The message about output of a command that another branch has served, also of a branch that has joined a
// moment ago.

import Testing
import Wire

@testable import BankctlCommands

@Suite("Output at another branch") struct OutputOwnerBranchTests {
  @Test("the branch is named by its number, and by its name and machine as far as they are known")
  func words() {
    let report = BranchReport(
      number: 2, name: "north", host: "box", epoch: 1, state: .open, leaseMilliseconds: 0, windows: 0,
      served: 0,
      rate: nil, commits: 0, isThis: false)
    let (english, korean) = (MessageCatalog(language: .english), MessageCatalog(language: .korean))
    let known = OutputOwnerBranch(number: 2, report: report)
    #expect(english.outputElsewhere(7, known).contains("branch 2 (north) on box, which keeps"))
    #expect(korean.outputElsewhere(7, known).contains("지점 2(north, 호스트 box)에서"))
    let unseen = OutputOwnerBranch(number: 2, report: nil)
    #expect(english.outputElsewhere(7, unseen).contains("branch 2, which keeps"))
    #expect(korean.outputElsewhere(7, unseen).contains("지점 2에서"))
    #expect(korean.outputElsewhere(7, unseen).contains("bankctl output 7"))
  }

  @Test("the command to copy has the day and the stream that were given, so it names the same output")
  func commands() {
    let unseen = OutputOwnerBranch(number: 2, report: nil)
    for words in [MessageCatalog(language: .english), MessageCatalog(language: .korean)] {
      #expect(words.outputElsewhere(7, unseen).hasSuffix(": bankctl output 7"))
      #expect(words.outputElsewhere(7, day: 2, unseen).hasSuffix(": bankctl output 7 --day 2"))
      #expect(
        words.outputElsewhere(7, day: 2, isErrors: true, unseen).hasSuffix(
          ": bankctl output 7 --day 2 --stderr"))
      #expect(words.outputRemoved(7, day: nil).hasSuffix(": bankctl ticket 7"))
      #expect(words.outputRemoved(7, day: 2).hasSuffix(": bankctl ticket 7 --day 2"))
    }
  }
}
