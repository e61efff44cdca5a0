// Owns a worker that is a program of its own, in the simulated world: it connects or is started at a window, has several
// customers in hand, works at each for as long as chance says, and answers in any order. Nothing of it is the bank's.
// Invariant: by itself it keeps every rule; it breaks one where the world tells it to. What it finds wrong with what it is told
// is a broken promise: more customers than it takes, the same lease twice, another payload than was given.
import BankModel
import Posix
import Time

final class ForeignWorker: SimulatedProgram {
  /// A customer in its hands.
  private struct Work {
    let order: ForeignOrder
    /// To which coordinator it was connected when it got it.
    let coordinator: Int
    let due: MonotonicTime
    var nextBeat: MonotonicTime
    var isHung = false
    var isAskedBack = false
  }

  private unowned let process: SimulatedProcess
  private unowned let world: Simulation
  /// The window at which it was started; nil where it comes by itself.
  private let window: String?
  private let services: [ServiceName]
  private let inHand: Int32
  private var chance: SeededGenerator
  private let loop: EventLoop
  private var connection: FileDescriptor?
  private var registration: Registration?
  private var speech: ForeignSpeech
  private var unsaid: [UInt8] = []
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 8)
  private var isReady = false
  private var isClosing = false
  private var coordinator = 0
  private var beatPause = TimeSpan.seconds(1)
  private var works: [Work] = []
  /// Whom it had in hand when its connection was lost, and goes on with.
  private var lost: [Work] = []
  private var comesAt: MonotonicTime?
  private var exitCode: Int32?

  init(
    _ process: SimulatedProcess, window: String?, services: [ServiceName], seed: UInt64,
    in world: Simulation
  ) throws(SystemError) {
    (self.process, self.world, self.window, self.services) = (process, world, window, services)
    chance = SeededGenerator(seed: seed)
    inHand = Int32(chance.draw(1...6))
    speech = ForeignSpeech(speaksFrames: chance.draw(0...3) == 0)
    loop = try EventLoop()
    if window != nil {
      try take(FileDescriptor(owning: 3))
    } else {
      comesAt = process.clock
    }
  }

  deinit { buffer.deallocate() }

  // MARK: - Its turns

  func turn() throws(SystemError) -> Int32? {
    if let exitCode { return exitCode }
    try loop.runOnce(until: nextMoment)
    act(at: SystemClock.monotonic())
    return exitCode
  }

  func hear(signal: Int32) { exitCode = 128 + signal }

  private var nextMoment: MonotonicTime? {
    var moment = comesAt
    for work in works where !work.isHung { moment = .earlier(moment, min(work.due, work.nextBeat)) }
    if isReady { for work in lost { moment = .earlier(moment, work.due) } }
    return moment
  }

  private func act(at now: MonotonicTime) {
    if let due = comesAt, due <= now {
      comesAt = nil
      come(at: now)
    }
    guard isReady else { return flush() }
    for work in works where !work.isHung && work.due <= now { answer(work) }
    for place in works.indices where !works[place].isHung && works[place].nextBeat <= now {
      works[place].nextBeat = now + beatPause / 2
      say(.beat(works[place].order.lease, percent: chance.draw(0...1) == 0 ? nil : chance.draw(0...100)))
    }
    if let place = lost.firstIndex(where: { $0.due <= now }) {
      // The answer to a lease of before: the bank must not hear it.
      let work = lost.remove(at: place)
      world.statistics.note(.workerLate)
      say(.done(work.order.lease, result: result(of: work)))
    }
    if isClosing, works.isEmpty, window != nil { exitCode = 0 }
    flush()
  }

  // MARK: - Its connection

  private func come(at now: MonotonicTime) {
    do throws(SystemError) {
      guard
        case .connected(let socket) = try UnixSocket.connect(
          path: StockProgram.home.run + "/worker.sock", nonBlocking: true)
      else { return comesAt = now + .milliseconds(chance.draw(5...400)) }
      try take(socket)
    } catch {
      drop(for: .milliseconds(chance.draw(5...400)))
    }
  }

  private func take(_ socket: consuming FileDescriptor) throws(SystemError) {
    try socket.setNonBlocking(true)
    let number = socket.rawValue
    connection = consume socket
    registration = try loop.register(fd: number, interest: .read) { [unowned self] _ in
      read()
      flush()
    }
    speech = ForeignSpeech(speaksFrames: speech.speaksFrames)
    coordinator = world.coordinator?.number ?? 0
    say(.hello(services: window == nil ? services : nil, inHand: inHand))
    flush()
  }

  private func read() {
    while connection != nil {
      let result: ReadResult
      do throws(SystemError) { result = try connection?.receive(into: buffer) ?? .endOfFile } catch {
        return leave()
      }
      switch result {
      case .wouldBlock: return
      case .endOfFile: return leave()
      case .bytes(let count): speech.append(buffer.prefix(count))
      }
      while connection != nil, let word = speech.next() {
        switch word {
        case .success(let word): hear(word)
        case .failure(let fault):
          return world.violate(.conversation, "a worker cannot understand the bank: \(fault.words)")
        }
      }
    }
  }

  private func leave() {
    guard window == nil else { return exitCode = isClosing ? 0 : 1 }
    drop(for: .milliseconds(chance.draw(1...600)))
  }

  /// Goes away, and comes back after a while.
  private func drop(for pause: TimeSpan) {
    if let registration { loop.deregister(registration) }
    registration = nil
    connection = nil
    unsaid.removeAll()
    (isReady, isClosing) = (false, false)
    // Some go on with what they had begun, and say so when they are back.
    lost = chance.draw(0...1) == 0 && !world.isCalm ? works : []
    works.removeAll()
    comesAt = process.clock + pause
  }

  private func say(_ word: ForeignWord) { unsaid += speech.bytes(of: word) }

  private func flush() {
    while connection != nil, !unsaid.isEmpty {
      do throws(SystemError) {
        switch try connection?.write(unsaid) {
        case .bytes(let count)?: unsaid.removeFirst(count)
        case .wouldBlock?:
          if let registration { try loop.modify(registration, interest: [.read, .write]) }
          return
        case .peerClosed?, nil: return
        }
      } catch {
        return
      }
    }
    if let registration { try? loop.modify(registration, interest: .read) }
  }

  // MARK: - What it hears

  private func hear(_ word: BankWord) {
    switch word {
    case .welcome(let beat):
      beatPause = .milliseconds(max(1, beat))
      isReady = true
      say(.ready)
    case .refused: leave()
    case .close:
      isClosing = true
      release()
    case .recall(let lease):
      guard let place = works.firstIndex(where: { $0.order.lease == lease }) else { return }
      works[place].isAskedBack = true
      guard !works[place].isHung else { return }
      let work = works.remove(at: place)
      // Its answer may be on its way already.
      if chance.draw(0...3) == 0 { say(.done(lease, result: result(of: work))) } else { giveBack(work) }
    case .assign(let order): take(order)
    }
  }

  private func take(_ order: ForeignOrder) {
    let now = process.clock
    if works.count >= Int(inHand) {
      world.violate(
        .doubleLease,
        "a worker that takes \(inHand) holds \(works.count), and is given ticket \(order.lease.ticket)")
    }
    if works.contains(where: { $0.order.lease == order.lease }) {
      world.violate(.doubleLease, "a worker is given ticket \(order.lease.ticket) twice under one lease")
    }
    world.checkOrder(order)
    let plan = world.plan
    let longest =
      plan.foreign.isSlow ? 6_000 * plan.policy.lease.milliseconds : 2 * plan.workMicroseconds + 2_000
    let due = now + .microseconds(chance.draw(0...longest))
    let work = Work(order: order, coordinator: coordinator, due: due, nextBeat: now + beatPause / 2)
    works.append(work)
  }

  private func result(of work: Work) -> String {
    ForeignResult(work.coordinator, day: work.order.day, work.order.lease).text
  }

  private func answer(_ work: Work) {
    works.removeAll { $0.order == work.order }
    let lease = work.order.lease
    guard !work.isAskedBack else { return giveBack(work) }
    switch chance.draw(0...99) {
    case 0..<70: say(.done(lease, result: result(of: work)))
    case 70..<80: say(.done(lease, result: nil))
    case 80..<88: say(.failed(lease, isWorthAnother: true, after: nil))
    case 88..<92: say(.failed(lease, isWorthAnother: true, after: chance.draw(0...300)))
    case 92..<94: say(.failed(lease, isWorthAnother: false, after: nil))
    default: giveBack(work)
    }
  }

  /// Says that it has not begun.
  private func giveBack(_ work: Work) {
    let lease = work.order.lease
    world.foreign.begun.giveBack(TicketName(day: work.order.day, ticket: lease.ticket))
    say(.returned(lease))
  }

  // MARK: - What the world does to it

  /// Goes on with those at whom nothing was done, and gives back whom it was asked for.
  func release() {
    for place in works.indices where works[place].isHung { works[place].isHung = false }
  }

  /// The same from outside; what is late is not said any more.
  func calm() {
    lost.removeAll()
    process.call {
      release()
      act(at: process.clock)
    }
  }

  /// Nothing is done any more at one of its customers.
  func hang() -> Bool {
    guard let place = works.firstIndex(where: { !$0.isHung }) else { return false }
    works[place].isHung = true
    return true
  }

  /// Goes away for a while.
  func goAway(for pause: TimeSpan) { process.call { drop(for: pause) } }

  /// Says bytes as they are.
  func say(raw bytes: [UInt8]) {
    process.call {
      unsaid += bytes
      flush()
    }
  }

  /// Says one thing twice: that somebody's work is done.
  func repeatItself() -> Bool {
    guard isReady, let work = works.first(where: { !$0.isHung }) else { return false }
    process.call {
      for _ in 0...1 { say(.done(work.order.lease, result: result(of: work))) }
      works.removeAll { $0.order == work.order }
      flush()
    }
    return true
  }

  /// Answers for somebody whom it does not hold.
  func lie(about lease: Lease) -> Bool {
    guard isReady else { return false }
    process.call {
      say(.done(lease, result: nil))
      flush()
    }
    return true
  }

  /// The bytes of an answer, for whoever cuts them. It is for nobody: of a frame that lacks its end the next one becomes the end.
  func bytesOfAnAnswer() -> [UInt8] {
    speech.bytes(of: .done(Lease(ticket: 1_000_000, attempt: 1, generation: 1), result: "half"))
  }

  var speaksFrames: Bool { speech.speaksFrames }
  var holdsSomebody: Bool { !works.isEmpty }
}

/// What a foreign worker leaves behind: by whom, for whom and in which attempt the work was done.
struct ForeignResult: Equatable {
  let text: String

  init(_ coordinator: Int, day: BusinessDay, _ lease: Lease) {
    text = "\(coordinator)-\(day)-\(lease.ticket)-\(lease.attempt)-\(lease.generation)"
  }
}
