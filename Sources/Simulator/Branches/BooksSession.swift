// Owns one connection of a branch to the simulated books: what is on its way in either direction, and what is left of it when it
// breaks. It must not know a statement.
// Invariant: the bytes of one direction arrive in order; a request arrives once or never, and whoever has sent it cannot tell.

#if HAS_POSTGRES
  import Posix
  import Postgres
  import Time

  final class BooksSession: PostgresSession, FarEnd {
    unowned let network: BooksNetwork
    unowned let process: SimulatedProcess
    /// The same process as long as it exists: what it has sent may come to the server when it is gone.
    private weak var sender: SimulatedProcess?
    /// The branch from which it comes, by its place in the world.
    let place: Int
    let backend: Int32
    private(set) var descriptor: Int32 = -1
    /// Whether the server has a process for it: from when it was made until that has ended.
    var isAlive = false
    /// Whether somebody at the branch hears it.
    private(set) var isHeard = true
    /// Whether it was cut: nothing goes from the branch to the server any more, or back.
    private(set) var isCut = false
    var listens = false
    /// Whether it is at a server from which another one has taken over.
    var isStale = false
    /// Whether what is on its way to the server comes there when the epoch of its branch ends.
    var waitsForTheEnd = false
    private(set) var toServer: [(due: MonotonicTime, segment: [PostgresCall])] = []
    private var toBranch: [(due: MonotonicTime, word: PostgresWord)] = []
    private var lastUp = MonotonicTime(nanoseconds: 0), lastDown = MonotonicTime(nanoseconds: 0)

    init(_ network: BooksNetwork, of process: SimulatedProcess, _ place: Int, backend: Int32) {
      (self.network, self.process, self.place, self.backend) = (network, process, place, backend)
      sender = process
    }

    /// Whether a process that exists has made it.
    func isOf(_ process: SimulatedProcess?) -> Bool { process.map { $0 === sender } ?? false }

    func take(_ descriptor: Int32) { self.descriptor = descriptor }

    // MARK: - As the branch sees it

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

    // MARK: - As the network sees it

    /// Something comes to the branch.
    func push(_ word: PostgresWord, at moment: MonotonicTime) {
      guard isHeard, !isCut else { return }
      lastDown = max(lastDown, moment)
      toBranch.append((lastDown, word))
      process.host.wake(process, at: lastDown)
    }

    /// The oldest request comes to the server.
    func takeArrival() -> [PostgresCall]? {
      guard !toServer.isEmpty else { return nil }
      return toServer.removeFirst().segment
    }

    var nextArrival: MonotonicTime? { toServer.first?.due }

    /// What is on its way to the server comes later.
    func holdUp(until moment: MonotonicTime) {
      for place in toServer.indices { toServer[place].due = max(toServer[place].due, moment) }
      lastUp = max(lastUp, moment)
    }

    /// What is on its way to the server comes now.
    func hurry(to moment: MonotonicTime) {
      for place in toServer.indices { toServer[place].due = moment }
    }

    /// What is on its way to the branch comes later.
    func holdBack(until moment: MonotonicTime) {
      for place in toBranch.indices { toBranch[place].due = max(toBranch[place].due, moment) }
      lastDown = max(lastDown, moment)
    }

    /// It breaks. What is on its way to the server may still come there, and of what is on its way to the branch nothing does.
    func cut(keepingRequests kept: Int, noticedAt moment: MonotonicTime) {
      guard !isCut else { return }
      if kept < toServer.count { toServer.removeLast(toServer.count - kept) }
      toBranch.removeAll()
      lastDown = MonotonicTime(nanoseconds: 0)
      push(.lost("the connection was reset"), at: moment)
      isCut = true
    }

    /// The server's process ends, and what has not come to it never will.
    func dropRequests() { toServer.removeAll() }
  }

  extension SimulatedProcess: PostgresPlayer {
    func connect() -> any PostgresSession {
      guard let far = host.connectFar?(self) as? BooksSession else {
        preconditionFailure("no simulated branch connects to a server that is not there")
      }
      far.take(give(.far(far)))
      return far
    }
  }
#endif
