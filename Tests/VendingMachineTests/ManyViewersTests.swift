// Many viewers of the vending machine, on both of its sockets; and a viewer that was too slow, on a socket
// that plays the machine.

import BankModel
import Posix
import Testing
import Transport
import VendingClient
import Wire

@Suite("Viewers of the vending machine", .serialized)
struct ManyViewersTests {
  /// The contents that a viewer has received.
  private final class Viewer {
    let client: VendingClient
    var seen: VendingSnapshot?
    var pictures = 0

    init(_ client: VendingClient) {
      self.client = client
      client.follow { [unowned self] notice in
        switch notice {
        case .snapshot(let picture): (seen, pictures) = (picture, pictures + 1)
        case .news(let news): seen?.apply(news)
        case .refused(let failure): Issue.record("\(failure)")
        }
      }
    }
  }

  @Test("see the same as a single view, each side its own, also those who come meanwhile")
  func same() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    var (customers, managers): ([Viewer], [Viewer]) = ([], [])
    func wait(until condition: () -> Bool) throws {
      try fixture.wait {
        for viewer in customers + managers { viewer.client.finishIteration() }
        return condition()
      }
    }
    for round in 1...4 {
      for _ in 0..<5 { customers.append(Viewer(fixture.customer())) }
      for _ in 0..<2 { managers.append(Viewer(fixture.manager())) }
      // Some are there before, and some come while it happens.
      if round % 2 == 0 { try wait { (customers + managers).allSatisfy { $0.seen != nil } } }
      _ = try fixture.add("top", 3)
      _ = try fixture.call(.insert(6_000))
      for _ in 0..<3 { _ = try fixture.call(.buy(ItemID("top"))) }
      if round == 3 { _ = try fixture.call(.giveChange) }
    }
    let present = try fixture.picture()
    guard case .snapshot(let whole) = try fixture.call(.stock) else {
      Issue.record("no snapshot")
      return
    }
    try wait { customers.allSatisfy { $0.seen == present } && managers.allSatisfy { $0.seen == whole } }
    #expect((customers + managers).allSatisfy { $0.pictures == 1 })
    #expect(present.recent.count == 12 && present.products.allSatisfy { $0.lots == nil })
  }

  @Test("are four on one connection at most")
  func limit() throws {
    let fixture = try VendingFixture()
    try fixture.start()
    _ = try fixture.picture()
    let path = VendingClient.customersSocket(inHome: fixture.home)
    guard case .connected(let socket) = try UnixSocket.connect(path: path, nonBlocking: true) else {
      Issue.record("there is no listener")
      return
    }
    let channel = try MessageChannel<VendingServiceMessage, VendingMessage>(
      descriptor: socket, loop: fixture.loop, incomingLimit: FrameLimits.control, backlogLimit: 1 << 20)
    var answers: [UInt32: VendingFailure.Code?] = [:]
    channel.onMessage = {
      if case .reply(let reply) = $0 { answers[reply.number] = .some(reply.result.failure?.code) }
    }
    channel.send(.hello(Hello(build: "b", role: .client)))
    for number in UInt32(1)...5 { channel.send(.request(VendingRequest(number: number, command: .follow))) }
    channel.flush()
    try fixture.wait { answers.count == 5 }
    #expect(answers == [1: nil, 2: nil, 3: nil, 4: nil, 5: .crowded])
  }

  @Test("that were too slow get a new snapshot, and nothing else")
  func slow() throws {
    let fixture = try VendingFixture()
    try Directory.create(path: Paths.join(fixture.home, "run"))
    let path = VendingClient.customersSocket(inHome: fixture.home)
    let socket = ServiceSocket<VendingRequest, VendingResult>(loop: fixture.loop)
    var follows = 0
    socket.onRequest = { session, request in
      follows += 1
      let picture = VendingSnapshot(
        sequence: Int64(follows), balance: 0, availableBalance: 0, today: day, products: [], sales: [],
        recent: [])
      socket.answer(session, request.number, .snapshot(picture), more: true)
      guard follows < 3 else { return }
      socket.answer(session, request.number, .failure(VendingFailure(.slowConsumer)))
    }
    try socket.listen(at: path)
    let viewer = Viewer(fixture.customer())
    try fixture.wait {
      viewer.client.finishIteration()
      socket.flush()
      return viewer.pictures == 3
    }
    #expect(follows == 3 && viewer.seen?.sequence == 3)
    viewer.client.close()
    socket.stopListening()
  }

  private let day: DayNumber = 20_000
}
