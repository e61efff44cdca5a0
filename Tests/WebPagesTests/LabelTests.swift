// Labels of values that are easily confused: a time and a duration, a number and the ones after it.

import BankModel
import Testing
import WebPages

@Suite("Labels")
struct LabelTests {
  private func both(_ page: some WebPage) -> (english: String, korean: String) {
    (page.html(PageFrame(language: .english)), page.html(PageFrame(language: .korean)))
  }

  @Test("the due time of a delayed customer is labelled as a time, and a wait as a wait")
  func scheduled() {
    let delayed = both(
      TicketPage(day: 1, ticket: 7, service: .deposit, issuedAt: 0, state: .delayed, dueAt: 60_000))
    #expect(delayed.english.contains("<dt>Scheduled for</dt>") && delayed.korean.contains("<dt>예약 시각</dt>"))
    #expect(!delayed.english.contains("Expected wait") && !delayed.korean.contains("예상 대기"))
    let waiting = both(
      TicketPage(day: 1, ticket: 7, service: .deposit, issuedAt: 0, state: .waiting, etaMilliseconds: 60_000))
    #expect(waiting.english.contains("<dt>Expected wait</dt>") && waiting.korean.contains("<dt>예상 대기</dt>"))
    #expect(!waiting.english.contains("Scheduled for") && !waiting.korean.contains("예약 시각"))
  }

  @Test("the second heading of the windows is not the name of another page")
  func windows() {
    let page = both(WindowsPage(day: 1))
    #expect(page.english.contains("<h2>Windows per service</h2>") && page.korean.contains("<h2>업무별 창구</h2>"))
    #expect(page.english.contains(">Elapsed</th>") && page.korean.contains(">경과</th>"))
  }
}
