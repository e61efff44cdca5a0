// Owns the way of a customer through the bank within one process, for counting the instructions that it takes: the
// real queue, the real store on disk, the real channels and codec, and real tellers at the other ends, without the
// coordinator's spawning and supervising, which a customer does not pay for and valgrind cannot follow.
// It must not measure time. Invariant: the same order to do the same work executes the same instructions but for what
// the C library does by chance; nothing here waits.
// Failure: BenchFailure.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Teller
import Transport
import Wire

/// A coordinator's work and its tellers, in one process and in lockstep.
final class WorkPath {
  /// What is done, each including what stands before it.
  enum Work: String {
    /// Opens the bank.
    case open
    /// Lets customers come one at a time, each committed alone.
    case enqueue
    /// Lets them come in one go.
    case fill
    /// And serves them.
    case serve
  }

  /// With this, a work, a number and a directory this program does that work.
  static let word = "--path"
  private static let tellers: Int32 = 3
  /// Customers whose receipts share a commit: as many as a busy bank gathers.
  private static let gathered = 100
  private static let slice = 1_000

  private let loop: EventLoop
  private let store: SQLiteStore
  private var machine: QueueMachine
  private var effects: [QueueEffect] = []
  private var channels: [Window: MessageChannel<TellerMessage, WindowMessage>] = [:]
  private var crew: [TellerProcess] = []
  private var answered = 0
  private var failure: StoreError?

  private static var now: Moment { SystemClock.moment() }

  init(in directory: String) throws(BenchFailure) {
    loop = try BenchFailure.system { () throws(SystemError) in try EventLoop() }
    do throws(StoreError) {
      store = try SQLiteStore(path: Paths.join(directory, "bank.db"))
      machine = QueueMachine(try store.load(now: Self.now.wall), policy: QueuePolicy(), at: Self.now)
    } catch {
      throw .surprise(error.description)
    }
    happen(.scale(.deposit, windows: Self.tellers))
    for place in 1...Self.tellers {
      try BenchFailure.system { () throws(SystemError) in
        try hire(Window(service: .deposit, place: place), directory)
      }
    }
    // Greeting, orders, readiness.
    for _ in 0..<3 { try exchange() }
    guard machine.numbers(of: .deposit).windows == Self.tellers else { throw .surprise("no teller is ready") }
  }

  private func hire(_ window: Window, _ directory: String) throws(SystemError) {
    let pair = try UnixSocket.pair()
    let channel = try MessageChannel<TellerMessage, WindowMessage>(
      descriptor: pair.first, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 1 << 20)
    channel.onMessage = { [unowned self] in hear($0, from: window, directory) }
    channels[window] = channel
    crew.append(
      try TellerProcess(descriptor: pair.second, loop: try EventLoop(), complain: { _ in }))
  }

  /// Everyone says what there is to say, and hears it.
  private func exchange() throws(BenchFailure) {
    for window in channels.keys.sorted() { channels[window]?.flush() }
    try BenchFailure.system { () throws(SystemError) in
      let past = MonotonicInstant(nanoseconds: 0)
      for teller in crew { try teller.turn(until: past) }
      try loop.runOnce(until: past)
    }
    if let failure { throw .surprise(failure.description) }
  }

  // MARK: - The work

  func perform(_ work: Work, _ count: Int) throws(BenchFailure) {
    let order = CustomerOrder(
      service: .deposit, grade: .regular, amount: 50_000, account: 12, payload: Bench.payload)
    switch work {
    case .open: break
    case .enqueue:
      happen(.pause(1, .deposit))
      for number in 0..<count {
        happen(.enqueue(RequestNumber(number + 2), orders: [order], total: 1, isLast: true))
        commit()
      }
    case .fill, .serve:
      happen(.pause(1, .deposit))
      for begin in stride(from: 0, to: count, by: Self.slice) {
        let orders = Array(repeating: order, count: min(Self.slice, count - begin))
        happen(
          .enqueue(2, orders: orders, total: Int64(count), isLast: begin + Self.slice >= count))
      }
      commit()
      if work == .serve { try serve() }
    }
    if let failure { throw .surprise(failure.description) }
  }

  private func serve() throws(BenchFailure) {
    happen(.resume(3, .deposit))
    while !machine.isIdle {
      try exchange()
      if answered >= Self.gathered || machine.isIdle { commit() }
    }
  }

  private func commit() {
    answered = 0
    do throws(StoreError) { try store.commit(machine.books) } catch { failure = failure ?? error }
    happen(.committed)
  }

  // MARK: - What the coordinator does

  private func happen(_ event: QueueEvent) {
    machine.apply(event, at: Self.now, into: &effects)
    var place = 0
    while place < effects.count {
      perform(effects[place])
      place += 1
    }
    effects.removeAll(keepingCapacity: true)
  }

  private func perform(_ effect: QueueEffect) {
    do throws(StoreError) {
      switch effect {
      case .stage(let change): try store.stage(change)
      case .loadPage(let line, let after, let limit):
        let page = try store.page(of: line, after: after, limit: limit)
        machine.apply(.pageLoaded(line, page), at: Self.now, into: &effects)
      case .assign(let window, let lease, let customer):
        channels[window]?.send(
          .assign(Assignment(day: machine.books.day, customer: customer, lease: lease)))
      case .acknowledge(let window, let lease): channels[window]?.send(.acknowledged(lease))
      default: break
      }
    } catch {
      failure = failure ?? error
    }
  }

  private func hear(_ message: TellerMessage, from window: Window, _ directory: String) {
    switch message {
    case .hello:
      channels[window]?.send(
        .welcome(
          TellerOrders(
            name: window.description, service: window.service, generation: 1, workMicroseconds: 0,
            beatMicroseconds: 1_000_000, language: .english,
            logPath: Paths.join(directory, "\(window.description).log"), logLimit: 0, logKeep: 0,
            logsCustomers: true, stockSocket: nil)))
    case .ready: happen(.tellerReady(window, 1, pid: window.place))
    case .done(let lease):
      answered += 1
      happen(.tellerAnswered(window, 1, lease, .done))
    default: failure = failure ?? .failed(path: directory, detail: "a teller said what it must not say")
    }
  }
}
