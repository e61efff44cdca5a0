// One connection of a branch to the simulated database: the messages in flight in both directions, and which of them
// arrive after the connection breaks.
// Invariant: the messages of one direction arrive in order. A request arrives once or never, and without an answer its
// sender cannot tell which.

#if HAS_POSTGRES
  import Posix
  import Postgres
  import Time

  /// A connection of a branch to the simulated database.
  final class DatabaseSession: SimulatedPostgresSession, RemotePeer {
    unowned let network: DatabaseNetwork
    unowned let process: SimulatedProcess
    /// The process while it exists; nil after its exit. Its requests may reach the server later.
    private weak var sender: SimulatedProcess?
    let index: Int
    /// Identifier of the server's process for this session.
    let backend: Int32
    private(set) var descriptor: Int32 = -1
    /// True while the server has a process for this session.
    var isAlive = false
    /// True while the branch reads from this session.
    private(set) var isRead = true
    /// True after the session was cut: the branch sends nothing more, and receives only the report of the loss.
    private(set) var isCut = false
    var listens = false
    /// True if the server is a former one, whose standby was promoted.
    var isStale = false
    /// True if requests in flight arrive when the epoch of the branch ends.
    var waitsForEpochEnd = false
    private(set) var toServer: [(due: MonotonicTime, segment: [PostgresCall])] = []
    private var toBranch: [(due: MonotonicTime, word: SimulatedServerMessage)] = []
    /// Arrival times of the last messages to the server and to the branch, so that later ones do not arrive before
    /// them.
    private var lastUp = MonotonicTime(nanoseconds: 0), lastDown = MonotonicTime(nanoseconds: 0)

    init(_ network: DatabaseNetwork, of process: SimulatedProcess, _ index: Int, backend: Int32) {
      (self.network, self.process, self.index, self.backend) = (network, process, index, backend)
      sender = process
    }

    /// True if the given process has made this session and still exists.
    func isOf(_ process: SimulatedProcess?) -> Bool { process.map { $0 === sender } ?? false }

    /// Stores the descriptor under which the branch's process has this session open.
    func take(_ descriptor: Int32) { self.descriptor = descriptor }

    // MARK: - Seen from the branch

    /// Sends the statements of one transaction to the server.
    func send(_ segment: [PostgresCall]) {
      guard process.survives(), !isCut, isRead else { return }
      lastUp = max(lastUp, process.clock + network.delay(at: index))
      toServer.append((lastUp, segment))
      network.scheduleArrival(self, until: lastUp)
      network.hasSent(self, segment)
    }

    /// Returns the next message that has reached the branch; nil if there is none.
    func receive() -> SimulatedServerMessage? {
      guard isRead, !process.isMarkedForTermination, let first = toBranch.first, first.due <= process.clock
      else {
        return nil
      }
      toBranch.removeFirst()
      return first.word
    }

    /// Closes the session from the branch, with its descriptor.
    func close() {
      guard isRead else { return }
      if process.isAlive, !process.isMarkedForTermination { process.release(descriptor, at: process.clock) }
      closeLocally()
    }

    /// True if a message has reached the branch by this time.
    func isReady(at moment: MonotonicTime) -> Bool { toBranch.first.map { $0.due <= moment } ?? false }
    /// Arrival time of the next message, if that is after this time.
    func nextDue(after moment: MonotonicTime) -> MonotonicTime? {
      toBranch.first.flatMap { $0.due > moment ? $0.due : nil }
    }

    /// Drops all messages to the branch, because its process has closed the session.
    func closeLocally() {
      isRead = false
      toBranch.removeAll()
    }

    // MARK: - Seen from the network

    /// Sends a message to the branch. It arrives at the given time, or after the messages before it.
    func push(_ word: SimulatedServerMessage, at moment: MonotonicTime) {
      guard isRead, !isCut else { return }
      lastDown = max(lastDown, moment)
      toBranch.append((lastDown, word))
      process.host.wake(process, at: lastDown)
    }

    /// Removes and returns the oldest request, which has reached the server.
    func dequeueArrival() -> [PostgresCall]? {
      guard !toServer.isEmpty else { return nil }
      return toServer.removeFirst().segment
    }

    /// Time at which the oldest request in flight reaches the server; nil if none is in flight.
    var nextArrival: MonotonicTime? { toServer.first?.due }

    func delayRequests(until moment: MonotonicTime) {
      for index in toServer.indices { toServer[index].due = max(toServer[index].due, moment) }
      lastUp = max(lastUp, moment)
    }

    /// Makes the requests in flight to the server arrive at the given time.
    func expedite(to moment: MonotonicTime) {
      for index in toServer.indices { toServer[index].due = moment }
    }

    func delayReplies(until moment: MonotonicTime) {
      for index in toBranch.indices { toBranch[index].due = max(toBranch[index].due, moment) }
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

    /// Removes the requests in flight, because the server's process for this session has exited.
    func dropRequests() { toServer.removeAll() }
  }

  extension SimulatedProcess: SimulatedPostgres {
    func connect() -> any SimulatedPostgresSession {
      guard let remote = host.connectRemote?(self) as? DatabaseSession else {
        preconditionFailure("no simulated branch connects to a missing server")
      }
      remote.take(give(.remote(remote)))
      return remote
    }
  }
#endif
