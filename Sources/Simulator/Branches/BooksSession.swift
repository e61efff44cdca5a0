// One connection of a branch to the simulated database: the messages in flight in both directions, and which of them
// arrive after the connection breaks.
// Invariant: the messages of one direction arrive in order. A request arrives once or never, and without an answer its
// sender cannot tell which.

#if HAS_POSTGRES
  import Posix
  import Postgres
  import Time

  final class BooksSession: PostgresSession, FarEnd {
    unowned let network: BooksNetwork
    unowned let process: SimulatedProcess
    /// The process while it exists; nil after its exit. Its requests may reach the server later.
    private weak var sender: SimulatedProcess?
    /// Index of the branch of this session.
    let place: Int
    let backend: Int32
    private(set) var descriptor: Int32 = -1
    /// True while the server has a process for this session.
    var isAlive = false
    /// True while the branch reads from this session.
    private(set) var isHeard = true
    /// True after the session was cut: the branch sends and receives nothing more.
    private(set) var isCut = false
    var listens = false
    /// True if the server is a former one, whose standby was promoted.
    var isStale = false
    /// True if requests in flight arrive when the epoch of the branch ends.
    var waitsForTheEnd = false
    private(set) var toServer: [(due: MonotonicTime, segment: [PostgresCall])] = []
    private var toBranch: [(due: MonotonicTime, word: PostgresWord)] = []
    private var lastUp = MonotonicTime(nanoseconds: 0), lastDown = MonotonicTime(nanoseconds: 0)

    init(_ network: BooksNetwork, of process: SimulatedProcess, _ place: Int, backend: Int32) {
      (self.network, self.process, self.place, self.backend) = (network, process, place, backend)
      sender = process
    }

    /// True if the given process has made this session and still exists.
    func isOf(_ process: SimulatedProcess?) -> Bool { process.map { $0 === sender } ?? false }

    func take(_ descriptor: Int32) { self.descriptor = descriptor }

    // MARK: - Seen from the branch

    func send(_ segment: [PostgresCall]) {
      guard process.survives(), !isCut, isHeard else { return }
      lastUp = max(lastUp, process.clock + network.delay(at: place))
      toServer.append((lastUp, segment))
      network.isOnItsWay(self, until: lastUp)
      network.hasSent(self, segment)
    }

    func hear() -> PostgresWord? {
      guard isHeard, !process.isDoomed, let first = toBranch.first, first.due <= process.clock else {
        return nil
      }
      toBranch.removeFirst()
      return first.word
    }

    func close() {
      guard isHeard else { return }
      if process.isAlive, !process.isDoomed { process.release(descriptor, at: process.clock) }
      letGo()
    }

    func isReady(at moment: MonotonicTime) -> Bool { toBranch.first.map { $0.due <= moment } ?? false }
    func nextDue(after moment: MonotonicTime) -> MonotonicTime? {
      toBranch.first.flatMap { $0.due > moment ? $0.due : nil }
    }

    func letGo() {
      isHeard = false
      toBranch.removeAll()
    }

    // MARK: - Seen from the network

    /// Sends a message to the branch. It arrives at the given time, or right after the messages before it.
    func push(_ word: PostgresWord, at moment: MonotonicTime) {
      guard isHeard, !isCut else { return }
      lastDown = max(lastDown, moment)
      toBranch.append((lastDown, word))
      process.host.wake(process, at: lastDown)
    }

    /// Takes the oldest request, which has reached the server.
    func takeArrival() -> [PostgresCall]? {
      guard !toServer.isEmpty else { return nil }
      return toServer.removeFirst().segment
    }

    var nextArrival: MonotonicTime? { toServer.first?.due }

    /// Delays the requests in flight to the server.
    func holdUp(until moment: MonotonicTime) {
      for place in toServer.indices { toServer[place].due = max(toServer[place].due, moment) }
      lastUp = max(lastUp, moment)
    }

    /// Makes the requests in flight to the server arrive at the given time.
    func hurry(to moment: MonotonicTime) {
      for place in toServer.indices { toServer[place].due = moment }
    }

    /// Delays the messages in flight to the branch.
    func holdBack(until moment: MonotonicTime) {
      for place in toBranch.indices { toBranch[place].due = max(toBranch[place].due, moment) }
      lastDown = max(lastDown, moment)
    }

    /// Breaks the session: the first requests in flight may still reach the server, but no message in
    /// flight reaches the branch.
    func cut(keepingRequests kept: Int, noticedAt moment: MonotonicTime) {
      guard !isCut else { return }
      if kept < toServer.count { toServer.removeLast(toServer.count - kept) }
      toBranch.removeAll()
      lastDown = MonotonicTime(nanoseconds: 0)
      push(.lost("the connection was reset"), at: moment)
      isCut = true
    }

    /// The server's process has exited: requests in flight are lost.
    func dropRequests() { toServer.removeAll() }
  }

  extension SimulatedProcess: PostgresPlayer {
    func connect() -> any PostgresSession {
      guard let far = host.connectFar?(self) as? BooksSession else {
        preconditionFailure("no simulated branch connects to a missing server")
      }
      far.take(give(.far(far)))
      return far
    }
  }
#endif
