// The report on the windows page about the teller that was killed from it last, at each step, in both
// languages.

import BankModel
import Testing
import WebPages

@Suite("The report about a killed teller")
struct KillOutcomeTests {
  private func told(_ stage: KillOutcome.Stage, _ language: Language) throws -> DocumentReader.Element {
    let lastKill = KillOutcome(window: "loan-1", generation: 3, pid: 4963, stage: stage)
    let html = WindowsPage(lastKill: lastKill, day: 1).html(PageFrame(language: language))
    return try #require(
      try DocumentReader.elements(html).first { $0.attributes["class"]?.hasPrefix("banner ") == true })
  }

  @Test(
    "names the process and the state of its customer; a known time is there as a number",
    arguments: [
      (.ordered, "Killing", "종료하는 중", nil),
      (.died(ticket: 24), "Customer 24 is not served yet", "24번 고객 다시 대기중", nil),
      (.died(ticket: nil), "No successor yet", "다음 프로세스를 준비하는 중", nil),
      (
        .served(ticket: 24, window: "loan-2", milliseconds: 5, isExact: true),
        "Customer 24 was being served again at loan-2 after", "24번 고객의 업무가 loan-2에서 다시 시작될 때까지", "5 ms"
      ),
      (
        .served(ticket: 24, window: "loan-2", milliseconds: 1_050, isExact: false),
        "Customer 24 was being served again at loan-2 after", "24번 고객의 업무가 loan-2에서 다시 시작될 때까지", "≤ 1,050 ms"
      ),
      (
        .replaced(generation: 4, milliseconds: nil), "It was replaced: generation 4", "4세대 프로세스가 준비되었습니다",
        nil
      ),
      (
        .replaced(generation: 4, milliseconds: 12), "It was idle; generation 4 was ready after",
        "대기하던 고객은 없었습니다. 4세대 프로세스가 준비될 때까지", "12 ms"
      ),
      (.ended(ticket: 24), "Customer 24 was not served again", "24번 고객의 업무가 다시 시작되지 않았습니다", nil),
    ] as [(KillOutcome.Stage, String, String, String?)])
  func stages(stage: KillOutcome.Stage, english: String, korean: String, figure: String?) throws {
    for (language, words) in [(Language.english, english), (.korean, korean)] {
      let banner = try told(stage, language).inside
      for part in ["loan-1", "pid 4963", words] { #expect(banner.contains(part), "\(banner)") }
      #expect(banner.contains("data-healed") == (figure != nil))
      if let figure { #expect(banner.contains(">\(figure)</b>"), "\(banner)") }
    }
  }

  @Test("is good news only if a customer is served or the window is ready again")
  func looks() throws {
    let stages: [(KillOutcome.Stage, String)] = [
      (.ordered, "bad"), (.died(ticket: 1), "bad"), (.died(ticket: nil), "bad"), (.ended(ticket: 1), "bad"),
      (.served(ticket: 1, window: "loan-1", milliseconds: .max, isExact: false), "good"),
      (.replaced(generation: 2, milliseconds: nil), "good"),
      (.replaced(generation: .max, milliseconds: 0), "good"),
    ]
    for (stage, look) in stages {
      #expect(try told(stage, .korean).attributes["class"] == "banner \(look)", "\(stage)")
    }
  }
}
