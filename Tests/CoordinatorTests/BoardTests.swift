// The board: the contents of a frame, the time at which one is made, and that subscribers never delay the
// bank.

import BankModel
import Posix
import QueueCore
import Testing
import Time
import Transport
import Wire

@testable import Coordinator

@Suite("The board")
struct BoardTests {
  private func frames(_ replies: [ControlReply], of number: UInt32? = nil) -> [BoardFrame] {
    replies.filter { number == nil || $0.number == number }.compactMap {
      if case .board(let frame) = $0.answer { frame } else { nil }
    }
  }

  /// Runs rounds until a frame satisfies the condition; returns the frames until then.
  @discardableResult
  private func rounds(
    _ bank: TestBank, _ client: TestClient, until isDone: (BoardFrame) -> Bool
  ) throws -> [BoardFrame] {
    var seen: [BoardFrame] = []
    let deadline = SystemClock.monotonic() + .seconds(120)
    while SystemClock.monotonic() < deadline {
      bank.coordinator.subscriptions.views.scheduler.due = MonotonicTime(nanoseconds: 0)
      bank.round()
      seen += frames(try client.answers(bank.coordinator))
      if let last = seen.last, isDone(last) { return seen }
      // The next frame is due within the pause, and the loop waits for it.
      _ = try bank.coordinator.context.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
    }
    Issue.record("no frame satisfies it; the last one: \(String(describing: seen.last))")
    return seen
  }

  @Test("every attempt that ends without a receipt is an event, whatever has ended it")
  func attempts() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let queue = bank.coordinator.queue
    bank.coordinator.tellers.listen()
    bank.openWindows(2)
    _ = try bank.enqueue(2, client)
    // A command that was killed is reported by its runner. A process may exit with code 0 in the middle of its work.
    let (first, second) = (Window(service: .deposit, place: 1), Window(service: .deposit, place: 2))
    let (firstStatus, secondStatus) = (queue.machine.numbers(of: first), queue.machine.numbers(of: second))
    let (lease, left) = (try #require(firstStatus?.lease), try #require(secondStatus?.lease))
    queue.process(
      .tellerAnswered(
        first, lease.generation, lease,
        .failed(WorkFailure("SIGKILL", .crash, processEnd: .signal(9)))))
    bank.coordinator.tellerSupervisor.onEvent?(second, left.generation, .ended(.code(0)))
    queue.commit()
    let number = client.ask(.board, bank.coordinator)
    let frame = try #require(frames(try client.answers(bank.coordinator), of: number).first)
    #expect(frame.events.contains { $0.kind == .failed && $0.ticket == lease.ticket }, "\(frame.events)")
    #expect(frame.events.contains { $0.kind == .died && $0.ticket == left.ticket }, "\(frame.events)")
  }

  @Test("a frame shows counts, the first waiting, those being served, the windows, and recent events")
  func picture() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(2)
    _ = try bank.enqueue(300, client)
    bank.serveAll()
    bank.coordinator.queue.commit()
    let number = client.ask(.board, bank.coordinator)
    let frame = try #require(frames(try client.answers(bank.coordinator), of: number).first)
    #expect(frame.day == 1 && frame.state == .open && frame.coordinator.pid == CurrentProcess.pid)
    #expect(frame.counts == BoardCounts(issued: 300, waiting: 296, serving: 2, served: 2))
    #expect(frame.waiting.map(\.ticket) == Array(5...204))
    #expect(frame.waiting.allSatisfy { $0.service == .deposit && $0.priority == .regular })
    #expect(frame.hidden == BoardOmittedRows(waiting: 96))
    #expect(
      frame.serving.map(\.ticket) == [3, 4] && frame.serving.map(\.window) == ["deposit-1", "deposit-2"])
    #expect(frame.serving.allSatisfy { $0.attempt == 1 && $0.since <= frame.time })
    #expect(frame.windows.map(\.window) == ["deposit-1", "deposit-2"])
    #expect(frame.windows.map(\.tickets) == [[3], [4]] && frame.windows.map(\.served) == [1, 1])
    let deposit = try #require(frame.services.first { $0.service == .deposit })
    #expect(deposit.waiting == [BoardGrade(priority: .regular, count: 296)])
    #expect(deposit.waitingTotal == 296 && deposit.windows == 2 && deposit.serving == 2)
    let kinds = frame.events.map(\.kind)
    #expect(kinds.contains(.issued) && kinds.contains(.started) && kinds.contains(.served), "\(frame.events)")
    #expect(frame.events.map(\.sequence) == Array(1...Int64(frame.events.count)))
    let issued = frame.events.first { $0.kind == .issued }
    #expect(issued?.ticket == 1 && issued?.last == 300)
    #expect(frame.isBusinessTimeRunning)
  }

  @Test("a new subscriber gets what was served before, and the others do not get it again")
  func history() throws {
    let bank = try TestBank()
    let (client, other) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    bank.openWindows(2)
    _ = try bank.enqueue(10, client)
    bank.serveAll()
    bank.serveAll()
    bank.coordinator.queue.commit()
    bank.round()
    for viewer in [client, other] {
      let number = viewer.ask(.board, bank.coordinator)
      let frame = try #require(frames(try viewer.answers(bank.coordinator), of: number).first)
      let history = try #require(frame.history)
      #expect(history.served.count == frame.services.count && history.since <= frame.time)
      for (service, parts) in zip(frame.services, history.served) {
        #expect(
          parts.reduce(0, +) == service.served && service.served == (service.service == .deposit ? 4 : 0))
      }
    }
    bank.serveAll()
    let seen = try rounds(bank, client) { $0.counts.served == 6 }
    #expect(seen.allSatisfy { $0.history == nil })
    #expect(seen.last?.services.first { $0.service == .deposit }?.served == 6)
  }

  @Test("customers and receipts that are not on disk are not shown")
  func kept() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    _ = try bank.enqueue(3, client)
    let number = client.ask(.board, bank.coordinator)
    _ = try client.answers(to: number, bank.coordinator)
    bank.serveAll()
    client.ask(.enqueue(.deposits(5)), bank.coordinator)
    bank.coordinator.enqueueHandler.advance()
    let before = bank.coordinator.boardSnapshots.frame()
    #expect(!before.events.contains { $0.kind == .served } && before.counts.issued == 3)
    #expect(before.waiting.map(\.ticket) == [3])
    bank.coordinator.queue.commit()
    let after = bank.coordinator.boardSnapshots.frame()
    #expect(after.events.contains { $0.kind == .served && $0.ticket == 1 && $0.window == "deposit-1" })
    #expect(after.waiting.map(\.ticket) == [3, 4, 5, 6, 7, 8])
  }

  @Test(
    "no frame is made without subscribers, nor for subscribers if nothing happens")
  func idle() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(3, client)
    #expect(bank.coordinator.board.nextDeadline == nil)
    client.ask(.board, bank.coordinator)
    _ = try client.answers(bank.coordinator)
    // The rate of the last second runs out, and is shown as zero.
    let seen = try rounds(bank, client) { $0.rates.issuedSecond == 0 }
    #expect(seen.last?.rates.issuedTenSeconds ?? 0 > 0)
    let due = try #require(bank.coordinator.board.nextDeadline, "the other rates are to run out")
    #expect(
      due > bank.coordinator.context.now.monotonic + .milliseconds(200), "it does not wake without need")
    bank.coordinator.router.forget(client.session)
    bank.round()
    #expect(bank.coordinator.board.nextDeadline == nil && !bank.coordinator.subscriptions.events.isWatched)
  }

  @Test("a bank at full speed is shown half as often, and a calm one at the former rate again")
  func fullSpeed() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(2)
    _ = try bank.enqueue(400, client)
    client.ask(.board, bank.coordinator)
    try rounds(bank, client) { $0.counts.issued == 400 }
    #expect(bank.coordinator.board.pause == BoardFeed.pause)
    while bank.coordinator.queue.machine.dayCounters.served < BoardFeed.fullSpeed + 2 { bank.serveAll() }
    try rounds(bank, client) { $0.counts.served > BoardFeed.fullSpeed }
    #expect(bank.coordinator.board.pause == BoardFeed.pauseAtFullSpeed)
    let served = bank.coordinator.queue.machine.dayCounters.served
    bank.serveAll()
    try rounds(bank, client) { $0.counts.served > served }
    #expect(bank.coordinator.board.pause == BoardFeed.pause)
  }

  @Test(
    "a rate that runs out right after a frame waits for the next one without waking the loop"
  )
  func awake() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(3, client)
    client.ask(.board, bank.coordinator)
    _ = try client.answers(bank.coordinator)
    let end = try #require(
      bank.coordinator.boardSnapshots.throughput.nextUpdate(after: SystemClock.monotonic()))
    // Changes happen until shortly before the rate of the last second runs out, and not afterwards.
    while SystemClock.monotonic() < end + .milliseconds(40) {
      if SystemClock.monotonic() < end - .milliseconds(30) { bank.coordinator.subscriptions.changed = true }
      bank.round()
      let now = bank.coordinator.context.now.monotonic
      let due = try #require(bank.coordinator.board.nextDeadline)
      #expect(due > now, "otherwise the loop would run again at once")
      guard due > now else { return }
      _ = try client.answers(bank.coordinator)
      _ = try bank.coordinator.context.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(3))
    }
  }

  @Test("a slow reader has at most one frame waiting, and gets the newest one")
  func slow() throws {
    let bank = try TestBank()
    let (deaf, reader) = (try TestClient(bank.coordinator), try TestClient(bank.coordinator))
    _ = try bank.enqueue(200, reader)
    deaf.ask(.board, bank.coordinator)
    reader.ask(.board, bank.coordinator)
    var frame = try #require(frames(try reader.answers(bank.coordinator)).first)
    let length = try AnswerTail.bytes(of: .board(frame)).count + 64
    /// An iteration of the bank in which it may write to subscribers.
    func paint() {
      bank.coordinator.subscriptions.views.scheduler.due = MonotonicTime(nanoseconds: 0)
      bank.round()
    }
    func show(_ day: Int64) {
      frame.day = day
      bank.coordinator.subscriptions.views.show(frame)
      paint()
    }
    let own = frame.day
    let newest = own + 2_000
    var read: [Int64] = []
    for day in own + 1...newest {
      show(day)
      #expect(deaf.session.channel.backlog <= length)
      read += frames(try reader.answers(bank.coordinator)).map(\.day)
    }
    // A round writes to viewers for a bounded time: on a busy machine the last frame may come with a later
    // one. The bank may also show its own board after it, which is the newest one then.
    let deadline = SystemClock.monotonic() + .seconds(120)
    func hasNewest(_ days: [Int64]) -> Bool { days.count > 1 && (days.last == newest || days.last == own) }
    while !hasNewest(read), SystemClock.monotonic() < deadline {
      paint()
      read += frames(try reader.answers(bank.coordinator)).map(\.day)
    }
    #expect(hasNewest(read))
    var days: [Int64] = []
    while !hasNewest(days) || days.last != read.last, SystemClock.monotonic() < deadline {
      days += frames(try deaf.answers(bank.coordinator)).map(\.day)
      read += frames(try reader.answers(bank.coordinator)).map(\.day)
      _ = try bank.coordinator.context.loop.spin(for: .zero)
      paint()
    }
    #expect(hasNewest(days) && days.last == read.last && days.count < 2_000)
  }

  @Test("a withdrawn board gets no more frames, and its number is free")
  func withdrawn() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    let number = client.ask(.board, bank.coordinator)
    client.ask(.withdraw(number), bank.coordinator)
    let answers = try client.answers(bank.coordinator).filter { $0.number == number }
    #expect(answers.map(\.more) == [true, false] && answers.last?.answer.failure?.code == .withdrawn)
    #expect(bank.coordinator.subscriptions.views.scheduler.all.isEmpty && client.session.requesters == 0)
  }

  @Test("only the intended process is ended")
  func endings() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    bank.openWindows(1)
    let none = client.ask(.killWorker(window: "loan-9", generation: 1, pid: 1), bank.coordinator)
    #expect(try client.answers(to: none, bank.coordinator).first?.failure?.code == .noSuchWindow)
    let other = client.ask(.killWorker(window: "deposit-1", generation: 7, pid: 1), bank.coordinator)
    let failure = try client.answers(to: other, bank.coordinator).first?.failure
    #expect(failure?.code == .processChanged && failure?.subject == "deposit-1 0 0")
  }

  @Test("an event keeps its day when the next day has begun")
  func days() throws {
    let bank = try TestBank()
    let client = try TestClient(bank.coordinator)
    _ = try bank.enqueue(3, client)
    client.ask(.reset(day: 1), bank.coordinator)
    bank.coordinator.queue.commit()
    _ = try bank.enqueue(2, client)
    let number = client.ask(.board, bank.coordinator)
    let frame = try #require(frames(try client.answers(bank.coordinator), of: number).first)
    let issued = frame.events.filter { $0.kind == .issued }
    #expect(frame.day == 2 && issued.map(\.day) == [1, 2], "\(frame.events)")
  }

  @Test("of many priorities the first are counted separately, and the others together")
  func grades() {
    let all = (0..<11).map { (priority: Priority(UInt32($0)), count: Int64($0 + 1)) }
    let grades = BoardSnapshots.grades(all)
    #expect(grades.count == 9 && grades.prefix(8).map(\.count) == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(grades.last == BoardGrade(priority: nil, count: 9 + 10 + 11))
    #expect(BoardSnapshots.grades(Array(all.prefix(8))).allSatisfy { $0.priority != nil })
  }
}
