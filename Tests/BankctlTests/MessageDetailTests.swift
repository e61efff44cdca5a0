// Errors and findings of the lower floors, in the reader's language.

import Arguments
import BankModel
import ControlClient
import Guardian
import Posix
import StockClient
import Testing
import Transport
import VendingClient
import Wire

@testable import BankctlCommands
@testable import bank_chaos

private let english = MessageCatalog(language: .english)
private let korean = MessageCatalog(language: .korean)

@Suite("Remarks")
struct MessageDetailTests {
  private func hasHangul(_ text: String) -> Bool {
    text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
  }

  private func sample(_ kind: MessageDetail.Kind) -> MessageDetail {
    var messageDetail = MessageDetail(kind)
    messageDetail.values = (0..<6).map { "\(7_001 + $0)" }
    return messageDetail
  }

  /// The values of a sample that a sentence contains.
  private func values(in text: String) -> Set<String> {
    Set((0..<6).map { "\(7_001 + $0)" }.filter { text.contains($0) })
  }

  @Test(
    "every kind has a sentence in both languages, with the same values",
    arguments: MessageDetail.Kind.allCases)
  func everyKind(kind: MessageDetail.Kind) {
    let messageDetail = sample(kind)
    let (first, second) = (english.localizedDetail(messageDetail), korean.localizedDetail(messageDetail))
    #expect(first == messageDetail.description && !first.contains("{") && !second.contains("{"))
    #expect(values(in: first) == values(in: second), "\(first) | \(second)")
    guard kind != .literal else { return }
    #expect(!hasHangul(first) && hasHangul(second), "\(second)")
    for source in [MessageDetail.Source.stock, .machine, .unauditedStock, .unauditedMachine] {
      let told = korean.localizedDetail(messageDetail.of(source))
      #expect(told.hasSuffix(second) && hasHangul(told) && told != second)
    }
  }

  @Test("particles follow the value, and names are in the reader's language")
  func forms() {
    #expect(korean.localizedDetail(MessageDetail(.cannotInspect, "/run/재고", "x")) == "/run/재고를 살펴볼 수 없습니다: x")
    #expect(korean.localizedDetail(MessageDetail(.cannotInspect, "/run/은행", "x")) == "/run/은행을 살펴볼 수 없습니다: x")
    #expect(
      korean.localizedDetail(MessageDetail(.waitingCountDiffers, "loan", "vip", 1, 2)).hasPrefix(
        "대출 VIP 대기 고객"),
      "by their names")
    #expect(
      korean.localizedDetail(MessageDetail(.itemQuantityDiffers, "kiwi", 3, 4)) == "키위: 원장 3개, 실제 4개입니다")
    #expect(
      korean.localizedDetail(MessageDetail(quoting: "disk I/O error")) == "disk I/O error",
      "the system's text")
    // A kind that only a newer coordinator knows, and a message of an older one that knows none.
    var new = MessageDetail(.andMore, 3)
    new.code = 9_999
    #expect(
      korean.localizedDetail("as it came", new) == "as it came"
        && korean.localizedDetail("as it came", nil) == "as it came")
  }

  @Test("the particle after a value follows its last sound", arguments: MessageDetail.Kind.allCases)
  func particlesAfterValues(kind: MessageDetail.Kind) {
    // 삼 ends in a consonant, 이 in a vowel.
    for (value, wrong) in [("3", ["가", "는", "를", "와", "로"]), ("2", ["이", "은", "을", "과", "으로"])] {
      var messageDetail = MessageDetail(kind)
      messageDetail.values = Array(repeating: value, count: 6)
      let text = korean.localizedDetail(messageDetail)
      for particle in wrong { #expect(!text.contains("\(value)\(particle) "), "\(text)") }
    }
  }

  @Test("the particle after the number of a process or an option follows its last sound")
  func particlesInSentences() {
    for (pid, by) in [(123 as Int32, "으로"), (122, "로"), (121, "로")] {
      let waiting = korean.heldByGuardian(home: "/h", coordinator: 1, guardian: pid, isStopped: false)
      let stopped = korean.heldByGuardian(home: "/h", coordinator: 1, guardian: pid, isStopped: true)
      #expect(waiting.contains("'kill \(pid)'\(by) "))
      #expect(stopped.contains("'kill -CONT \(pid)'\(by) ") && stopped.contains("'kill -KILL \(pid)'\(by) "))
    }
    #expect(korean.chaosNotOverBranches("juice").hasPrefix("--juice는 "))
    #expect(korean.chaosNotOverBranches("cut").hasPrefix("--cut은 "))
  }

  @Test("a refusal has its details in the reader's language")
  func refusals() {
    let day = Failure(.noSuchDay, subject: "9", messageDetail: MessageDetail(.presentDay, 3))
    #expect(korean.sentence(day, home: "/h").hasPrefix("9일차 영업일은 없습니다(지금은 3일차입니다)."))
    #expect(
      english.sentence(day, home: "/h").hasPrefix("There was no business day 9 (the current day is 3)."))
    let damaged = Failure(.damaged, subject: "/h/bank.db", messageDetail: MessageDetail(.notSQLite))
    #expect(korean.sentence(damaged, home: "/h").contains("(SQLite 데이터베이스가 아닙니다)"))
    let stock = StockFailure(.itemHasDates, subject: "kiwi", messageDetail: MessageDetail(.lotsHaveDates))
    #expect(korean.commandFailure(about: stock).message.contains("(날짜가 있는 묶음이니 개수를 더하거나 빼세요)"))
    let machine = VendingFailure(
      .badRequest, subject: "0", messageDetail: MessageDetail(.insertionRange, 1, 1_000_000))
    #expect(korean.commandFailure(about: machine).message.contains("한 번에 1원부터 1000000원까지"))
    for error in [
      korean.refusal(
        StockClientError.tryLater(detail: MessageDetail(.closedLocally), isInDoubt: false), trouble: nil),
      korean.refusal(
        VendingClientError.tryLater(detail: MessageDetail(.closedLocally), isInDoubt: false), trouble: nil),
    ] {
      let message = korean.commandFailure(about: error, home: "/h")?.message ?? ""
      #expect(message.contains("(이쪽에서 연결을 끊었습니다)") && !message.contains("this side"), "\(message)")
    }
  }

  @Test("the findings of an audit are in the reader's language; without their kinds as they came")
  func audit() {
    var report = AuditReport(
      issued: 1, served: 1, cancelled: 0, waiting: 0, delayed: 0, dead: 0, lost: 1, duplicated: 0,
      ledgerDifference: 0, problems: [])
    report.add(MessageDetail(.ticketLost, 7, 3))
    report.add(MessageDetail(.changeMissing, 1, 2).of(.stock))
    report.note(MessageDetail(.ordersOfOtherBank, 2))
    #expect(report.problems.first == "ticket 7 of day 3 was issued but is missing")
    let lines = AuditCommand.lines(report, korean, .none)
    #expect(lines.contains("- 영업 3일차 7번은 발급되었으나 없습니다"))
    #expect(lines.contains("- 재고: 변경 2 앞에 변경 1이 없습니다"))
    #expect(lines.contains("- 재고의 주문 2건은 다른 데이터베이스의 번호표로 만들어졌습니다"))
    #expect(AuditCommand.lines(report, english, .none).contains("- " + report.problems[0]))
    report.messageDetails = nil
    #expect(AuditCommand.lines(report, korean, .none).contains("- " + report.problems[0]))
  }

  @Test("the end of a process is in the reader's language, for a worker and for a coordinator")
  func processes() {
    func worker(_ status: Posix.ExitStatus) -> WorkerReport {
      let end = MessageDetail(status)
      return WorkerReport(
        name: "stock", role: .stock, service: nil, window: nil, pid: 0, generation: 9, state: .stopped,
        ticket: nil, restarts: 9, served: 0, residentKilobytes: 0, isFailed: true, trouble: end.description,
        troubleDetail: end)
    }
    let ends: [(Posix.ExitStatus.Termination, String, String)] = [
      (.code(7), "code 7", "종료 코드 7"), (.signal(9, coreDumped: false), "SIGKILL", "시그널 SIGKILL"),
      (.signal(11, coreDumped: true), "SIGSEGV (core dumped)", "시그널 SIGSEGV (core dumped)"),
      (.unknown, "exit status unknown", "종료 원인을 알 수 없음"),
    ]
    for (ending, first, second) in ends {
      let status = Posix.ExitStatus(ending: ending, maxResidentBytes: 0)
      #expect(MessageDetail(status).description == status.description && status.description == first)
      #expect(english.trouble(of: worker(status)) == first)
      #expect(korean.trouble(of: worker(status)) == second)
      #expect(korean.notWorking(worker(status))?.hasPrefix("재고 서비스를 쓸 수 없습니다(\(second)).") == true)
      #expect(korean.sentence(ControlError.coordinatorEnded(status), home: "/h").contains("(\(second))"))
      #expect(korean.coordinatorDied(MessageDetail(status)).contains("(\(second))"))
    }
    for (end, told) in [(CoordinatorExit.code(1), "종료 코드 1"), (.signal(9), "시그널 SIGKILL")] {
      #expect(korean.reopeningFailed(end).contains("(\(told))"))
      #expect(korean.sentence(Guardian.Event.ended(end, pid: 5))?.contains("(\(told))") == true)
      #expect(MessageDetail(end).description == "\(end)")
    }
    #expect(
      english.sentence(Guardian.Event.ended(.unknown, pid: 5))
        == "The coordinator (pid 5) has exited; its exit status is unknown. No customers are lost.")
    #expect(english.reopeningFailed(.unknown).contains("exited each time (exit status unknown)."))
    #expect(
      english.coordinatorDied(MessageDetail(CoordinatorExit.unknown))
        .hasPrefix("The coordinator has exited; its exit status is unknown. No customers are lost"))
    var older = worker(Posix.ExitStatus(ending: .code(7), maxResidentBytes: 0))
    older.troubleDetail = nil
    #expect(korean.trouble(of: older) == "code 7", "an older coordinator reports no more")
  }

  @Test("an answer that does not belong to the question is named in the reader's language")
  func strangeAnswers() {
    let errors: [ControlError] = [
      .malformed(detail: MessageDetail(.endsMidFrame)), .malformed(detail: MessageDetail(.tooManyReplies)),
      .unexpected(detail: MessageDetail(.secondWelcome)),
      .unexpected(detail: MessageDetail(.replyBeforeWelcome)),
      .unexpected(detail: MessageDetail(.noReply)),
      .unexpected(detail: MessageDetail(.unexpectedReply).of(.machine)),
    ]
    for error in errors {
      let told = korean.sentence(error, home: "/h").replacing("bankctl", with: "")
        // The name of a message of the protocol.
        .replacing("welcome", with: "")
      #expect(!told.contains { $0.isASCII && $0.isLetter }, "\(told)")
      #expect(!hasHangul(english.sentence(error, home: "/h")))
    }
    #expect(
      korean.commandFailure(about: ControlAnswer.requeued(1).unexpected, home: "/h")?.message.contains(
        "'requeued' 응답") == true)
  }

  @Test("the findings of a chaos run, and of the bank's own audit in it, are in the reader's language")
  func chaos() {
    let violations: [ChaosViolation] = [
      .watch(MessageDetail(.viewOutOfOrder, 3, 5)), .watch(MessageDetail(.viewTotalDiffers)),
      .audit(MessageDetail(.ticketLost, 7, 3)),
      .audit(MessageDetail(.balanceIs, 5, 6)), .watch(MessageDetail(.viewDiffers, 3, 4, "kiwi", 5)),
    ]
    for violation in violations {
      let told = korean.sentence(violation)
      #expect(!told.contains { $0.isASCII && $0.isLetter }, "\(told)")
      #expect(!hasHangul(english.sentence(violation)))
    }
    #expect(english.sentence(violations[0]) == "a watcher of the stock: change 3 was followed by change 5")
  }

  @Test("a shortage counts what all juices of an order need")
  func missing() throws {
    let juice = try #require(Assortment.standard.juices.first { $0.id == ItemID("mango-kiwi") })
    func missing(_ count: Int, _ there: Quantity) -> [Int64] {
      JuiceOrderReport.missing(for: count, of: juice) { _ in there }.map { $0.needed - $0.available }
    }
    #expect(missing(1, 1) == [1] && missing(2, 1) == [3, 1] && missing(5, 100) == [])
    #expect(missing(.max, 0).allSatisfy { $0 == StockLimits.quantity })
  }
}
