// A viewer of the stock that was too slow, on a socket that plays the service; and the number of views that
// the built service has on one connection.

import BankModel
import Posix
import StockClient
import Testing
import Transport
import Wire

@Suite("A viewer of the stock", .serialized)
struct SlowViewerTests {
  @Test(
    "that was too slow continues from where it was, and its user sees only the stock's changes")
  func again() throws {
    let fixture = try StockFixture()
    try Directory.create(path: Paths.directory(of: fixture.socket))
    let socket = ServiceSocket<StockRequest, StockResult>(loop: fixture.loop)
    var places: [StockPosition?] = []
    socket.onRequest = { session, request in
      guard case .follow(let place) = request.command else { return }
      places.append(place)
      let picture = StockSnapshot(ledger: 1, sequence: Int64(places.count * 10), items: [])
      socket.answer(session, request.number, .snapshot(picture), more: true)
      guard places.count < 3 else { return }
      socket.answer(session, request.number, .failure(StockFailure(.slowConsumer)))
    }
    try socket.listen(at: fixture.socket)
    let client = fixture.client()
    var news: [StockUpdate] = []
    client.follow { news.append($0) }
    try fixture.wait {
      client.finishIteration()
      socket.flush()
      return news.count == 3
    }
    #expect(places == [nil, StockPosition(ledger: 1, sequence: 10), StockPosition(ledger: 1, sequence: 20)])
    #expect(news == [10, 20, 30].map { .snapshot(StockSnapshot(ledger: 1, sequence: $0, items: [])) })
    client.close()
    socket.stopListening()
  }

  @Test(
    "is one of four on a connection at most; many on many see every change, also late ones")
  func many() throws {
    let fixture = try StockFixture()
    try fixture.start()
    try fixture.wait { fixture.log.contains("event=ready") }
    final class Viewer {
      let channel: MessageChannel<StockServiceMessage, StockMessage>
      var seen: [UInt32: Int64] = [:]
      var gaps = 0
      var crowded: [UInt32] = []

      init(_ fixture: StockFixture, _ numbers: [UInt32]) throws {
        let descriptor = try #require(try fixture.connected())
        channel = try MessageChannel(
          descriptor: FileDescriptor(owning: descriptor), loop: fixture.loop,
          incomingLimit: FrameLimits.control,
          backlogLimit: 1 << 20)
        channel.onMessage = { [unowned self] in if case .reply(let reply) = $0 { handle(reply) } }
        channel.send(.hello(Hello(build: "b", role: .client)))
        for number in numbers {
          channel.send(.request(StockRequest(number: number, command: .follow(nil))))
        }
        channel.flush()
      }

      private func handle(_ reply: StockReply) {
        switch reply.result {
        case .snapshot(let picture): seen[reply.number] = picture.sequence
        case .changes(let changes):
          for change in changes {
            if change.sequence != seen[reply.number, default: 0] + 1 { gaps += 1 }
            seen[reply.number] = change.sequence
          }
        case .failure(let failure) where failure.code == .crowded && !reply.more: crowded.append(reply.number)
        default: gaps += 1
        }
      }
    }
    var viewers = [try Viewer(fixture, [1, 2, 3, 4, 5])]
    try fixture.wait { viewers[0].crowded == [5] }
    for round in 0..<10 {
      for _ in 0..<4 { viewers.append(try Viewer(fixture, [1, 70_000])) }
      for number in 0..<5 { _ = try fixture.take([("kiwi", 1)], as: "\(round)-\(number)") }
      _ = try fixture.call(.set(ItemAmount(ItemID("kiwi"), 60)))
    }
    guard case .snapshot(let present) = try fixture.call(.querySnapshot) else {
      Issue.record("no snapshot")
      return
    }
    try fixture.wait { viewers.allSatisfy { $0.seen.values.allSatisfy { $0 == present.sequence } } }
    #expect(viewers.map(\.gaps).reduce(0, +) == 0)
    #expect(viewers[0].seen.count == 4 && viewers.dropFirst().allSatisfy { $0.seen.count == 2 })
  }
}

extension StockFixture {
  /// A connection to the service, non-blocking, that the caller closes.
  fileprivate func connected() throws -> CInt? {
    guard case .connected(let socket) = try UnixSocket.connect(path: socket, nonBlocking: true) else {
      return nil
    }
    return socket.take()
  }
}
