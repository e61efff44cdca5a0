// The random choices of a chaos run, which depend on the seed alone; and the times in its report, which never
// look too good.
import Arguments
import BankModel
import Posix
import Testing
import Time

@testable import BankctlCommands
@testable import bank_chaos

@Suite("The plan and the report of a chaos run")
struct ChaosPlanTests {
  @Test("the same seed plans the same faults, another does not, and stops change no kill")
  func seeded() {
    func kills(_ seed: UInt64, stopping: Bool = false) -> [ChaosPlan.Kill] {
      var plan = ChaosPlan(seed: seed, rules: ChaosRules())
      return (0..<50).map { _ in
        if stopping { _ = (plan.nextStop(), plan.nextCut()) }
        return plan.nextKill()
      }
    }
    #expect(kills(1) == kills(1))
    #expect(kills(1) != kills(2))
    #expect(kills(1) == kills(1, stopping: true))
  }

  @Test("only the chosen targets are killed, all of them, with the requested pause")
  func bounds() {
    var plan = ChaosPlan(seed: 3, rules: ChaosRules(targets: [.teller, .guardian], every: .milliseconds(10)))
    let kills = (0..<2_000).map { _ in plan.nextKill() }
    #expect(Set(kills.map(\.target)) == [.teller, .guardian])
    #expect(kills.allSatisfy { .zero <= $0.after && $0.after <= .milliseconds(20) })
    let mean = kills.reduce(TimeSpan.zero) { $0 + $1.after } / Int64(kills.count)
    #expect(.milliseconds(9) < mean && mean < .milliseconds(11))
    let stops = (0..<200).map { _ in plan.nextStop() }
    #expect(stops.allSatisfy { .milliseconds(5) <= $0.length && $0.length <= .milliseconds(250) })
  }

  @Test(
    "with some runners and workers their coordinator is killed, if allowed, and with no others")
  func pairs() {
    for targets in [ChaosTarget.allCases, [.runner, .worker]] {
      var plan = ChaosPlan(seed: 5, rules: ChaosRules(targets: targets))
      let pairs = (0..<2_000).map { _ in plan.nextKill() }.filter(\.isPair)
      #expect(Set(pairs.map(\.target)) == (targets.contains(.coordinator) ? [.runner, .worker] : []))
    }
  }

  @Test("targets are read with or without an s, and a mistake is named")
  func targets() throws {
    let messages = MessageCatalog(language: .english)
    #expect(try ChaosProgram.targets("tellers,coordinator,teller", messages) == [.teller, .coordinator])
    #expect(try ChaosProgram.targets("stock,juice", messages) == [.stock, .juice])
    #expect(try ChaosProgram.targets("runners,commands,outside", messages) == [.runner, .command, .outside])
    for list in ["", "tellers,", "bankd"] {
      #expect(throws: CommandError.self) { try ChaosProgram.targets(list, messages) }
    }
  }

  @Test("help and completions list every target, under the name that errors use")
  func helpOfTargets() throws {
    #expect(BankctlTable.targets == ChaosTarget.allCases.map(\.rawValue))
    #expect(BankctlTable.branchTargets == SharedFault.allCases.map(\.rawValue))
    let option = try #require(BankctlTable.chaos.options.first { $0.name == "targets" })
    #expect(Set(option.offers) == Set(BankctlTable.targets + BankctlTable.branchTargets))
    let messages = MessageCatalog(language: .english)
    #expect(messages.unknownTarget("x").contains(BankctlTable.targets.joined(separator: ", ")))
    for target in option.offers {
      #expect(option.summary.english.contains(target) && option.summary.korean.contains(target))
    }
  }

  @Test(
    "an option under its former name is refused with the present one",
    arguments: [("--kill", "--targets"), ("--kills", "--max-kills"), ("--every", "--interval")])
  func formerNames(_ former: String, _ present: String) {
    for (table, messages) in [(BankctlTable.table, ["chaos"]), (BankctlTable.chaosProgram, [])] {
      let error = #expect(throws: UsageError.self) { try table.parse(messages + [former, "1"]) }
      #expect(error?.reason == .unknownOption(former, suggestions: [present]))
    }
  }

  @Test("median, 99th percentile and maximum are whole milliseconds, rounded up")
  func times() {
    let times = ChaosTimes((1...200).reversed().map { .microseconds($0 * 1000 - 1) })
    #expect(times.median == 100 && times.p99 == 198 && times.longest == 200 && times.count == 200)
    #expect(ChaosTimes([]).document.text == #"{"count":0,"p50":null,"p99":null,"max":null}"#)
    #expect(ChaosTimes([.microseconds(1)]).longest == 1)
  }

  @Test("a broken guarantee names the seed and where to look, in both languages")
  func softwareErrorCode() {
    var evidence = ChaosCheckResult.Evidence()
    evidence.recovered = false
    let report = ChaosReport(seed: 77, home: "/somewhere", account: ChaosCheckResult(evidence))
    for language in [Language.english, .korean] {
      let lines = report.lines(MessageCatalog(language: language), .none)
      #expect(lines[0].contains("--seed 77") && lines[0].contains("/somewhere"))
    }
    #expect(report.document(MessageCatalog(language: .english)).text.contains(#""ok":false,"seed":77"#))
  }
}
