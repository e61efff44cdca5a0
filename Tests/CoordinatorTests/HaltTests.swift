// A coordinator that is not reliable any more: it reports why, does nothing further, and ends with an exit
// code.

import BankModel
import Configuration
import Glibc
import Posix
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("A coordinator that is cut off")
struct HaltTests {
  @Test("a store that fails permanently ends it in that iteration, and its promises are not sent")
  func failedStore() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(1)
    client.ask(.enqueue(.deposits(3)), bank.coordinator)
    other.ask(.status, bank.coordinator)
    bank.store.fail(.commit, with: .failed(path: "bank.db", detail: "of this test"))
    try bank.coordinator.runIteration()
    #expect(bank.coordinator.context.exitCode == 1 && bank.coordinator.context.isHalted)
    #expect(!client.hasSomethingToRead && !other.hasSomethingToRead)
    // Messages and events have no effect now.
    let commits = bank.store.commits
    other.ask(.reset(day: nil), bank.coordinator)
    bank.coordinator.handle(signal: SIGTERM)
    bank.coordinator.handleOpenerExit()
    #expect(try bank.coordinator.run() == 1)
    #expect(bank.store.commits == commits && !bank.coordinator.context.isEnding)
    #expect(!client.hasSomethingToRead && !other.hasSomethingToRead)
    #expect(bank.log.contains("event=store_failed") && !bank.log.contains("event=stopped_without_drain"))
    bank.store.crash()
    #expect(try bank.store.load(now: WallTime(milliseconds: 1)).dayCounters.issued == 0)
  }

  @Test("what the queue requires after a change that cannot be staged is not done")
  func inTheMiddle() throws {
    let bank = try TestBank()
    let (client, viewer) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    let subscriptions = bank.coordinator.subscriptions
    viewer.ask(.follow, bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(2, client)
    subscriptions.publishEvents(all: true)
    let told = subscriptions.views.feed.encoded
    #expect(told == 1, "the first customer was started")
    bank.store.fail(.stage, with: .failed(path: "bank.db", detail: "of this test"))
    bank.serveAll()
    #expect(bank.coordinator.context.exitCode == 1)
    subscriptions.publishEvents(all: true)
    #expect(subscriptions.views.feed.encoded == told, "no customer is done, and none is assigned")
  }

  @Test("a customer whose payload cannot be read is not assigned without it")
  func unreadablePayload() throws {
    let text = #"{"services": {"mail": {"outside": true}}}"#
    let configuration = try BankConfiguration.decode(bytes: Array(text.utf8), path: "bank.json")
    let bank = try TestBank(configuration: configuration)
    let client = try TestClient(bank.coordinator)
    let queue = bank.coordinator.queue
    let name = try #require(ServiceName("mail"))
    let mail = try #require(bank.store.services[name])
    var sent = 0
    queue.onOutsideCommand = { command, _ in if case .send = command { sent += 1 } }
    var order = EnqueueParameters.deposits(2)
    (order.service, order.amount, order.account, order.payload) = (name, nil, nil, [7])
    _ = client.ask(.enqueue(order), bank.coordinator)
    bank.finishEnqueue()
    #expect(queue.machine.dayCounters.issued == 2)
    queue.process(.workerConnected([mail], number: 1, 1, pid: 1, inFlight: 1))
    queue.commit()
    #expect(sent == 1, "the first customer is assigned")
    bank.store.fail(.read, with: .failed(path: "bank.db", detail: "of this test"))
    queue.process(.workerConnected([mail], number: 2, 2, pid: 2, inFlight: 1))
    queue.commit()
    #expect(bank.coordinator.context.isHalted && sent == 1)
  }

  @Test("one whose database is removed reports it for a while, iteration by iteration, and ends")
  func removedDatabase() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let database = BankHome(bank.home).database
    let file = try FileDescriptor.open(database, [.writeOnly, .create], mode: 0o600)
    try file.close()
    bank.coordinator.home.begin()
    unlink(database)
    while !bank.coordinator.context.isHalted { try bank.coordinator.runIteration() }
    #expect(bank.coordinator.context.exitCode == nil, "it stays to report it")
    let commits = bank.store.commits
    // A list has one answer for all of its parts, and a withdrawal has none of its own.
    let part = ControlCommand.enqueueList(EnqueueList(entries: [], isLast: false))
    for (number, command) in [(1, .status), (2, part), (2, part), (3, .withdraw(2))]
      as [(UInt32, ControlCommand)]
    {
      bank.coordinator.server.onCommand?(client.session, ControlRequest(number: number, command: command))
    }
    try bank.coordinator.runIteration()
    let answers = try client.answers(bank.coordinator)
    #expect(answers.map(\.number) == [1, 2])
    #expect(answers.allSatisfy { $0.answer.failure?.code == .removed })
    bank.coordinator.handle(signal: SIGTERM)
    #expect(try bank.coordinator.run() == 1)
    #expect(bank.store.commits == commits && bank.coordinator.server.sessions.isEmpty)
    #expect(bank.log.contains("event=database_removed") && !bank.log.contains("event=stopping"))
  }

  @Test("of two requests for tickets under one number the first is abandoned")
  func oneNumber() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let requests = bank.coordinator.router.requests
    let all = (0..<64).map { _ in
      requests.open(
        RequestHandle(session: client.session, number: 5), for: .enqueue(known: 0, AlreadyIssuedTickets()))
    }
    for request in all {
      #expect(requests.enqueue(5, of: client.session) == request)
      _ = requests.close(request)
    }
    #expect(requests.enqueue(5, of: client.session) == nil)
  }
}
