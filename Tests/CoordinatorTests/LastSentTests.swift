// Answers to clients contain only what is on disk. Each question is asked while a change is staged: the
// commit answers it, and nothing before. After a failed commit the answer contains nothing of the lost
// change.

import BankModel
import Posix
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Answers to clients")
struct LastSentTests {
  /// Every question that quotes the store.
  enum Question: CaseIterable {
    case ticket, receipts, followed, tickets, account, ledger, awaited, cancelled, requeued, known,
      conflicting

    var command: ControlCommand {
      switch self {
      case .ticket: .ticket(number: 1, day: nil)
      case .receipts: .receipts(ReceiptQuery(days: .present, follow: false))
      case .followed: .receipts(ReceiptQuery(days: .all, follow: true))
      case .tickets: .tickets(TicketQuery(state: .waiting))
      case .account: .account(7)
      case .ledger: .ledger
      case .awaited: .awaitTickets(day: 1, first: 1, last: 1)
      case .cancelled: .cancel(1)
      case .requeued: .requeue(1)
      case .known: .enqueue(.deposits(2, key: "k"))
      case .conflicting:
        .enqueueList(
          EnqueueList(
            entries: [
              EnqueueEntry(service: .loan, priority: .vip, amount: 9, account: 9, key: "k", drawn: [])
            ], isLast: true))
      }
    }
  }

  /// A bank with two customers on disk; the receipt of the first is staged, and not committed.
  private func served() throws -> (TestBank, TestClient) {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(2, key: "k", client)
    bank.serveAll()
    #expect(bank.store.hasStagedChanges)
    return (bank, client)
  }

  @Test("no content of the store is reported before it is on disk", arguments: Question.allCases)
  func afterTheCommit(_ question: Question) throws {
    let (bank, client) = try served()
    let commits = bank.store.commits
    let number = client.ask(question.command, bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    bank.round()
    #expect(try client.answers(bank.coordinator).isEmpty)
    #expect(bank.store.commits == commits, "a reader hurries no commit")
    bank.coordinator.queue.commit()
    bank.round()
    let answers = try client.answers(to: number, bank.coordinator)
    #expect(!answers.isEmpty, "the commit answers")
    if question == .ticket, case .ticket(let report)? = answers.first {
      #expect(report.state == .done && report.receipt != nil)
      #expect(report.servedOfService == 1, "a waiting client sees whether the line moves")
    }
    if question == .conflicting { #expect(answers.first?.failure?.code == .keyConflict) }
    if question == .cancelled { #expect(answers.first?.failure?.code == .wrongState) }
  }

  @Test("if the commit was refused an answer reports the contents of the disk", arguments: [false, true])
  func afterARefusal(isReset: Bool) throws {
    let (bank, client) = try served()
    if isReset { client.ask(.reset(day: nil), bank.coordinator) }
    let number = client.ask(.ticket(number: 1, day: nil), bank.coordinator)
    bank.store.fail(.commit, with: .diskFull(detail: "of this test"))
    bank.coordinator.queue.commit()
    bank.round()
    let answers = try client.answers(to: number, bank.coordinator)
    guard case .ticket(let report)? = answers.first else {
      Issue.record("no ticket in \(answers)")
      return
    }
    #expect(report.receipt == nil && report.state == .waiting && report.day == 1, "that is what is on disk")
  }

  @Test("during the intake of a large request, commits between its slices answer questions")
  func duringAnIntake() throws {
    let (bank, client) = try served()
    let other = try TestClient(bank.coordinator)
    client.ask(.enqueue(.deposits(400_000)), bank.coordinator)
    bank.coordinator.context.updateTime()
    bank.coordinator.enqueueHandler.advance()
    #expect(bank.coordinator.queue.isTakingIn)
    // The request started with a transaction of its own, so the receipt before it is on disk.
    bank.serveAll()
    let number = other.ask(.ticket(number: 2, day: nil), bank.coordinator)
    #expect(try other.answers(bank.coordinator).isEmpty)
    bank.coordinator.queue.commit()
    bank.round()
    #expect(bank.coordinator.queue.isTakingIn)
    #expect(try other.answers(to: number, bank.coordinator).count == 1)
  }

  @Test("events of finished customers are reported with the commit, and in their order")
  func events() throws {
    let bank = try TestBank()
    let (client, viewer) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    viewer.ask(.follow, bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(2, client)
    func told() throws -> [AttemptEvent.CustomerEvent] {
      // Subscribers rest after an iteration of theirs.
      bank.coordinator.subscriptions.views.scheduler.due = MonotonicTime(nanoseconds: 0)
      bank.round()
      return try viewer.answers(bank.coordinator).compactMap {
        if case .event(let event) = $0.answer { event.phase } else { nil }
      }
    }
    #expect(try told() == [.started], "an assignment waits for no disk")
    bank.serveAll()
    #expect(try told() == [])
    bank.coordinator.queue.commit()
    #expect(try told() == [.completed, .started])
  }

  @Test("questions beyond the limit are handled later, and all of them are answered")
  func crowd() throws {
    let (bank, client) = try served()
    for _ in 0..<(2 * ClientLimits.openReads) {
      client.ask(.ticket(number: 2, day: nil), bank.coordinator)
    }
    #expect(client.session.channel.isReadingPaused)
    #expect(try client.answers(bank.coordinator).isEmpty)
    bank.coordinator.queue.commit()
    bank.round()
    #expect(try client.answers(bank.coordinator).count == 2 * ClientLimits.openReads)
    #expect(client.session.openReads == 0 && !client.session.channel.isReadingPaused)
    // A client that has left gets no answer, and none is kept for it.
    bank.serveAll()
    client.ask(.ticket(number: 2, day: nil), bank.coordinator)
    bank.coordinator.router.forget(client.session)
    #expect(bank.coordinator.durableReads.isEmpty)
  }

  @Test("a page that cannot be read is reported by its name, and logged")
  func unreadable() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(1, client)
    bank.store.fail(.read, with: .damaged(path: "bank.db", detail: "a page of this test"))
    let number = client.ask(.ticket(number: 1, day: nil), bank.coordinator)
    #expect(try client.answers(to: number, bank.coordinator).first?.failure?.code == .damaged)
    bank.store.fail(.read, with: .damaged(path: "bank.db", detail: "a page of this test"))
    let second = client.ask(.ledger, bank.coordinator)
    #expect(try client.answers(to: second, bank.coordinator).first?.failure?.code == .damaged)
    #expect(bank.log.contains("event=query_failed"))
  }
}
