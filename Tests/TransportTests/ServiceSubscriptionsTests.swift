// Subscribers of a service get a share of its time and memory, however many they are. Events are encoded
// once, one connection has few subscriptions, and a slow client is sent an error. The test has both ends on
// one loop, and the clock by which the share is measured.

import Glibc
import Posix
import Testing
import Time
import Wire

@testable import Transport

@Suite("Subscribers of a service") struct ServiceSubscriptionsTests {
  private typealias Client = MessageChannel<StockServiceMessage, StockMessage>

  /// A service that publishes numbers, and whose clients follow them.
  private final class SubscriptionFixture {
    let loop: EventLoop
    let socket: ServiceSocket<StockRequest, StockResult>
    private(set) var views: ServiceSubscriptions<StockRequest, StockResult>!
    let path: String
    private let directory: String
    /// The clock of the subscribers, and what each reading of it adds.
    var time = MonotonicTime(nanoseconds: 0)
    var step = TimeSpan.zero
    /// The last number published.
    var last: Int64 = 0
    var asked = 0
    var slow = 0

    init() throws {
      var template = Array("/tmp/bank-views-XXXXXX".utf8CString)
      directory = template.withUnsafeMutableBufferPointer {
        mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
      }
      path = directory + "/s"
      loop = try EventLoop()
      socket = ServiceSocket(loop: loop, build: "test")
      views = ServiceSubscriptions(tooSlow: Self.word("too slow")) { [unowned self] in
        time += step
        return time
      }
      views.onSlow = { [unowned self] in slow += 1 }
      views.missed = { [unowned self] place in
        asked += 1
        guard place < last else { return .none }
        let next = min(place + 10, last)
        return .next(Self.word("\(place + 1)-\(next)"), upTo: next)
      }
      socket.onRequest = { [unowned self] session, request in
        guard let view = views.open(socket, session, request.number) else {
          return socket.answer(session, request.number, Self.word("crowded"))
        }
        guard case .follow(let place) = request.command else {
          return views.end(view, with: Self.word("ended"))
        }
        views.begin(view, after: place?.sequence)
      }
      socket.onEnd = { [unowned self] session in views.forget(session) }
      try socket.listen(at: path)
    }

    deinit {
      socket.stopListening()
      rmdir(directory)
    }

    static func word(_ words: String) -> StockResult { .failure(StockFailure(.badRequest, detail: words)) }

    /// The next numbers, of the given length.
    func publish(_ count: Int64 = 1, padding: Int = 0) {
      for _ in 0..<count {
        last += 1
        views.publish(Self.word("\(last)" + String(repeating: " ", count: padding)))
      }
    }

    func runIteration() throws {
      let now = SystemClock.monotonic()
      try loop.runOnce(until: now)
      views.notify(at: max(time, views.nextDeadline ?? time))
      socket.flush()
    }

    func wait(until condition: () throws -> Bool) throws {
      let deadline = SystemClock.monotonic() + .seconds(120)
      while try !condition() {
        try #require(SystemClock.monotonic() < deadline, "it did not happen")
        try runIteration()
      }
    }
  }

  private struct NoConnection: Error {}

  /// A client, and what it received, by the number of its request.
  private final class Viewer {
    let channel: Client
    var told: [UInt32: [String]] = [:]
    var last: [UInt32: String] = [:]

    init(_ hall: SubscriptionFixture) throws {
      guard case .connected(let socket) = try UnixSocket.connect(path: hall.path, nonBlocking: true) else {
        throw NoConnection()
      }
      channel = try Client(
        descriptor: socket, loop: hall.loop, incomingLimit: FrameLimits.control, backlogLimit: 1 << 24)
      channel.onMessage = { [unowned self] message in
        guard case .reply(let reply) = message, case .failure(let failure) = reply.result else { return }
        let words = failure.detail.split(separator: " ").joined(separator: " ")
        if reply.more { told[reply.number, default: []].append(words) } else { last[reply.number] = words }
      }
      channel.send(.hello(Hello(build: "b", role: .client)))
    }

    func follow(_ number: UInt32, from place: Int64? = nil) {
      let place = place.map { StockPosition(ledger: 1, sequence: $0) }
      channel.send(.request(StockRequest(number: number, command: .follow(place))))
      channel.flush()
    }
  }

  private static func numbers(_ range: ClosedRange<Int64>) -> [String] { range.map { "\($0)" } }

  @Test("get all events in order, and each event is encoded once for all of them")
  func once() throws {
    let hall = try SubscriptionFixture()
    let viewers = try (0..<50).map { _ in try Viewer(hall) }
    for (place, viewer) in viewers.enumerated() { viewer.follow(UInt32(place * place * 1_000)) }
    try hall.wait { hall.views.count == 50 }
    for round in 1...20 {
      hall.publish(100)
      try hall.wait { viewers.allSatisfy { $0.told.values.first?.count == round * 100 } }
    }
    for (place, viewer) in viewers.enumerated() {
      #expect(viewer.told == [UInt32(place * place * 1_000): Self.numbers(1...2_000)])
    }
    #expect(hall.views.feeds[0].encoded == 2_000)
  }

  @Test("have an eighth of the time, and the last one before the rest is followed by the next one")
  func share() throws {
    let hall = try SubscriptionFixture()
    let viewers = try (0..<50).map { _ in try Viewer(hall) }
    for viewer in viewers { for number in 1...4 { viewer.follow(UInt32(number)) } }
    try hall.wait { hall.views.count == 200 }
    // A reading of the clock is a tenth of a turn.
    hall.step = PublishingPeriods.turn / 10
    hall.publish()
    func told() throws -> Int {
      hall.socket.flush()
      while try hall.loop.runOnce(until: SystemClock.monotonic()) > 0 {}
      return viewers.reduce(0) { $0 + $1.told.values.reduce(0) { $0 + $1.count } }
    }
    var (sum, spent, rounds) = (0, TimeSpan.zero, 0)
    let start = hall.time
    while sum < 200, rounds < 1_000 {
      rounds += 1
      let begin = hall.time
      hall.views.notify(at: begin)
      spent += hall.time.since(begin) - hall.step
      let now = try told()
      #expect(now - sum == 10, "none is left out, and none has a second piece before the others")
      sum = now
      guard let due = hall.views.nextDeadline else { break }
      #expect(due.since(hall.time) >= PublishingPeriods.turn * PublishingPeriods.rest)
      hall.views.notify(at: due - .nanoseconds(1))
      #expect(try told() == sum, "it is not their turn yet")
      hall.time = due
    }
    #expect(sum == 200 && viewers.allSatisfy { $0.told.count == 4 })
    #expect(spent * (1 + PublishingPeriods.rest) <= hall.time.since(start))
    // Even if ever more happens each has its turn.
    for _ in 0..<20 {
      hall.publish()
      hall.time = max(hall.time, hall.views.nextDeadline ?? hall.time)
      hall.views.notify(at: hall.time)
      _ = try told()
    }
    #expect(viewers.allSatisfy { $0.told.values.allSatisfy { $0.count > 1 } })
    hall.step = .zero
    hall.time = max(hall.time, hall.views.nextDeadline ?? hall.time)
    hall.views.notify(at: hall.time)
    _ = try told()
    #expect(viewers.allSatisfy { $0.told.values.allSatisfy { $0 == Self.numbers(1...hall.last) } })
    // When all have seen all events there is no reason to wake up.
    hall.views.notify(at: hall.time)
    #expect(hall.views.nextDeadline == nil)
  }

  @Test(
    "are four on one connection: a fifth is refused, and an end of view or client makes room"
  )
  func limit() throws {
    let hall = try SubscriptionFixture()
    let viewer = try Viewer(hall)
    for number in 1...5 { viewer.follow(UInt32(number)) }
    try hall.wait { viewer.last[5] == "crowded" }
    #expect(hall.views.count == 4)
    // Under a number with a subscription it is the same view, from another place.
    viewer.follow(2, from: 0)
    hall.publish()
    try hall.wait { viewer.told.count == 4 }
    #expect(
      viewer.told.values.allSatisfy { $0.joined() == "1" || $0.joined() == "1-1" } && hall.views.count == 4)
    #expect(viewer.last.count == 1)
    // A question under that number ends it.
    viewer.channel.send(.request(StockRequest(number: 2, command: .querySnapshot)))
    viewer.channel.flush()
    try hall.wait { viewer.last[2] == "ended" }
    viewer.follow(6)
    try hall.wait { hall.views.count == 4 }
    let session = try #require(hall.socket.sessions.values.first)
    #expect(session.openRequests == 4 && session.views == 4)
    let other = try Viewer(hall)
    other.follow(1)
    try hall.wait { hall.views.count == 5 }
    viewer.channel.close()
    try hall.wait { hall.views.count == 1 }
    hall.publish()
    try hall.wait { other.told[1] == ["2"] }
  }

  @Test("that do not read get an error that they were too slow; the others lose nothing")
  func slow() throws {
    let hall = try SubscriptionFixture()
    let (deaf, reader) = (try Viewer(hall), try Viewer(hall))
    deaf.follow(7)
    reader.follow(7)
    try hall.wait { hall.views.count == 2 }
    deaf.channel.pauseReading()
    let session = try #require(hall.socket.sessions.values.min { $0.id < $1.id })
    while hall.views.count == 2, hall.last < 10_000 {
      hall.publish(50, padding: 10_000)
      try hall.wait { reader.told[7]?.count == Int(hall.last) }
      #expect(session.channel.backlog < 256 << 10 + 2 * (ReplayBuffer.pageBytes + 11_000))
      #expect(hall.views.feeds[0].retainedBytes <= ReplayBuffer.limit + ReplayBuffer.pageBytes + 11_000)
    }
    #expect(hall.slow == 1 && hall.last * 10_000 > Int64(ReplayBuffer.limit))
    deaf.channel.resumeReading()
    try hall.wait { deaf.last[7] != nil }
    #expect(deaf.last[7] == "too slow")
    let seen = deaf.told[7] ?? []
    #expect(
      seen == Self.numbers(1...Int64(seen.count)) && seen.count < hall.last, "none is left out in between")
    #expect(reader.told[7] == Self.numbers(1...hall.last) && reader.last.isEmpty)
    // It may start again.
    (deaf.told, deaf.last) = ([:], [:])
    deaf.follow(7)
    try hall.wait { hall.views.count == 2 }
    hall.publish()
    try hall.wait { deaf.told[7] == ["\(hall.last)"] }
    // Events that all have seen are not kept.
    #expect(hall.views.feeds[0].retainedBytes <= ReplayBuffer.pageBytes + 11_000)
  }

  @Test(
    "that come back get what they missed, encoded once for all who missed the same, then news")
  func comeBack() throws {
    let hall = try SubscriptionFixture()
    hall.last = 1_000
    let viewers = try (0..<20).map { _ in try Viewer(hall) }
    for viewer in viewers { viewer.follow(1, from: 0) }
    // They are all there before any of them is served.
    let deadline = SystemClock.monotonic() + .seconds(120)
    while hall.views.count < 20, SystemClock.monotonic() < deadline {
      try hall.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(20))
    }
    hall.publish(3)
    try hall.wait { viewers.allSatisfy { $0.told[1]?.last == "1001-1003" } }
    hall.publish(2)
    try hall.wait { viewers.allSatisfy { $0.told[1]?.last == "1005" } }
    let missed = (0..<100).map { "\($0 * 10 + 1)-\($0 * 10 + 10)" }
    #expect(viewers.allSatisfy { $0.told[1] == missed + ["1001-1003", "1004", "1005"] })
    // One question a page, and one each for the end.
    #expect(hall.asked <= 101 + 20, "\(hall.asked) questions")
  }

  @Test("are served before the service ends, without regard to their share of the time")
  func end() throws {
    let hall = try SubscriptionFixture()
    let viewers = try (0..<20).map { _ in try Viewer(hall) }
    for viewer in viewers { viewer.follow(1) }
    try hall.wait { hall.views.count == 20 }
    hall.step = PublishingPeriods.turn
    hall.publish()
    hall.views.notify(at: hall.time)
    hall.publish(1_000)
    hall.views.flushPending()
    hall.socket.closeAfterFlush()
    try hall.wait { viewers.allSatisfy { !$0.channel.isOpen } }
    #expect(viewers.allSatisfy { $0.told[1] == Self.numbers(1...1_001) })
  }
}
