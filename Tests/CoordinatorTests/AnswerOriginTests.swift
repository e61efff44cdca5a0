// Answers whose origin may be ahead of the disk: the coordinator stops instead of sending one that quotes the store,
// with a store of its own and in a shared bank.

import Testing
import Wire

@testable import Coordinator

@Suite("Origin of an answer")
struct AnswerOriginTests {
  /// Sends the answer that a request for two customers gets.
  private static func sendEnqueued(from origin: AnswerOrigin, shared: Bool, inReply: Bool = false) throws {
    let bank = try TestBank(sharing: shared ? ScriptedStore() : nil)
    let client = try TestClient(bank.coordinator)
    let report = EnqueuedReport(day: 1, first: 1, last: 2, count: 2)
    let send = { bank.coordinator.server.answer(client.session, 1, .enqueued(report), from: origin) }
    if inReply { bank.coordinator.queue.sendReply(send) } else { send() }
    #expect(try client.answers(bank.coordinator).count == 1)
  }

  @Test("tickets from memory are not sent, with an own store or a shared one")
  func memory() async {
    await #expect(processExitsWith: .failure) { try Self.sendEnqueued(from: .memory, shared: false) }
    await #expect(processExitsWith: .failure) { try Self.sendEnqueued(from: .memory, shared: true) }
  }

  @Test("the result of a commit is sent only while the store's reply is handled")
  func commit() async throws {
    await #expect(processExitsWith: .failure) { try Self.sendEnqueued(from: .commit, shared: false) }
    await #expect(processExitsWith: .failure) { try Self.sendEnqueued(from: .commit, shared: true) }
    for shared in [false, true] { try Self.sendEnqueued(from: .commit, shared: shared, inReply: true) }
  }

  @Test("only a shared bank has a reader process")
  func reader() async throws {
    await #expect(processExitsWith: .failure) { try Self.sendEnqueued(from: .reader, shared: false) }
    try Self.sendEnqueued(from: .reader, shared: true)
  }

  @Test("a read of the store is sent while nothing is staged")
  func read() throws {
    for shared in [false, true] { try Self.sendEnqueued(from: .read, shared: shared) }
  }

  @Test("an answer to a request within a reply belongs to the same commit")
  func nested() throws {
    let bank = try TestBank()
    bank.coordinator.queue.sendReply {
      bank.coordinator.queue.sendReply {}
      #expect(bank.coordinator.queue.isReplying)
    }
    #expect(!bank.coordinator.queue.isReplying)
  }
}
