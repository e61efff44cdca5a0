// System calls of the simulated kernel.
// Invariant: results are modelled on those of Linux, as far as the bank's calls need. Calls of a process that was
// killed in this turn have no effect.
import Glibc
import Posix
import Time

extension SimulatedProcess: SystemCalls {
  #if MUTANTS
    var mutant: Mutant? { host.mutant }
  #endif
  var monotonic: MonotonicTime { clock }
  var wall: WallTime { WallTime(milliseconds: (host.calendarOrigin + clock.nanoseconds) / 1_000_000) }
  /// Returns a random number from the generator of the host.
  func random() -> UInt64 { host.chance.next() }

  func close(_ descriptor: CInt) -> CInt {
    // The descriptors of an exited process were closed at its exit.
    guard isAlive, !isMarkedForTermination else { return 0 }
    guard descriptors[descriptor] != nil else { return fail(EBADF) }
    release(descriptor, at: clock)
    return 0
  }

  /// Reads from a file, a connection, a pipe or a datagram socket. `read(2)`
  func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard survives() else { return fail(EAGAIN) }
    switch descriptors[descriptor] {
    case .nothing?: return 0
    case .file(let file)?: return read(file, buffer)
    case .stream(let end)?:
      let wasFull = end.unreadBytes >= host.streamCapacity
      guard let count = end.read(into: buffer, at: clock) else {
        return end.isAtEnd(at: clock) ? 0 : fail(EAGAIN)
      }
      // A writer that waited for space in the socket can continue.
      if wasFull, let sender = end.peer?.owner { host.wake(sender, at: clock + host.delay()) }
      return count
    case .datagrams(let socket)?: return socket.read(into: buffer, at: clock) ?? fail(EAGAIN)
    default: return fail(EBADF)
    }
  }

  /// Writes to a file, a connection or a pipe. `write(2)`
  func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    guard survives() else { return bytes.count }
    switch descriptors[descriptor] {
    case .nothing?: return bytes.count
    case .file(let file)?: return write(file, bytes)
    // Standard error that was not redirected is discarded.
    case nil where descriptor == STDERR_FILENO: return bytes.count
    case .stream(let end)?:
      guard !end.isPeerReadClosed(at: clock) else { return fail(EPIPE) }
      // If the process is far ahead of the others, they may have read more by that time: assume that there is space.
      let isAhead = clock > host.now + .milliseconds(100)
      let count = isAhead ? bytes.count : min(bytes.count, end.room(on: host))
      guard count > 0 || bytes.isEmpty else { return mutantDropsBytes(on: end) ? bytes.count : fail(EAGAIN) }
      let taken = Array(bytes.prefix(count))
      host.onWrite?(self, end, taken)
      end.send(taken, at: clock, on: host)
      return mutantDropsBytes(on: end) ? bytes.count : count
    default: return fail(EBADF)
    }
  }

  func setNonBlocking(_ descriptor: CInt, _ nonBlocking: Bool) -> CInt {
    descriptors[descriptor] == nil ? fail(EBADF) : 0
  }

  /// Makes another descriptor for the same file. `fcntl(2)`
  func duplicate(_ descriptor: CInt, atLeast lowest: CInt) -> CInt {
    guard let file = descriptors[descriptor] else { return fail(EBADF) }
    let number = give(file, atLeast: lowest)
    if number >= 0, case .stream(let end) = file { end.references += 1 }
    return number
  }

  var openFileLimit: UInt64 { UInt64(openFiles) }
  func makeEpoll() -> CInt { give(.epoll(ReadyList())) }

  /// The members of an epoll descriptor; nil for any other descriptor.
  private func list(_ epoll: CInt) -> ReadyList? {
    if case .epoll(let list)? = descriptors[epoll] { list } else { nil }
  }

  /// Registers a descriptor with an epoll descriptor. `epoll_ctl(2)`
  func add(_ descriptor: CInt, to epoll: CInt, interest: Interest, token: UInt64) -> CInt {
    guard let list = list(epoll), descriptors[descriptor] != nil else { return fail(EBADF) }
    guard list.members[descriptor] == nil else { return fail(EEXIST) }
    switch descriptors[descriptor] {
    case .file?, .nothing?: return fail(EPERM)
    default: break
    }
    list.members[descriptor] = (interest, token)
    if case .stream(let end)? = descriptors[descriptor] { end.owner = self }
    return 0
  }

  /// Changes the interest in a registered descriptor. `epoll_ctl(2)`
  func modify(_ descriptor: CInt, in epoll: CInt, interest: Interest, token: UInt64) -> CInt {
    guard let list = list(epoll) else { return isMarkedForTermination ? 0 : fail(EBADF) }
    guard list.members[descriptor] != nil else { return fail(ENOENT) }
    if mutantIgnoresListener(descriptor) { return 0 }
    list.members[descriptor] = (interest, token)
    return 0
  }

  /// Ends the registration of a descriptor. `epoll_ctl(2)`
  func remove(_ descriptor: CInt, from epoll: CInt) -> CInt {
    guard let list = list(epoll) else { return fail(EBADF) }
    return list.members.removeValue(forKey: descriptor) == nil ? fail(ENOENT) : 0
  }

  /// Waits for ready descriptors, and returns their tokens; nil if the process must sleep first. `epoll_wait(2)`
  func ready(in epoll: CInt, atMost limit: Int, until deadline: MonotonicTime?) -> [(UInt64, Readiness)]? {
    guard survives(), let list = list(epoll) else { return [] }
    return pollReady(list, atMost: limit, until: deadline)
  }

  /// Spends some time, as if other processes had run.
  func yieldProcessor() { spend(TimeSpan(nanoseconds: 25_000)) }
  func makeSocket(nonBlocking: Bool) -> CInt { give(.unconnected(nonBlocking: nonBlocking)) }

  /// Makes a socket accept connections under a name.
  func listen(_ socket: CInt, at path: String, backlog: CInt, mode: mode_t) -> CInt {
    guard survives() else { return 0 }
    guard case .unconnected? = descriptors[socket] else { return fail(EINVAL) }
    guard host.names[path] == nil, host.receivers[path] == nil, host.files[path] == nil else {
      return fail(EADDRINUSE)
    }
    if let code = host.files.objection(to: path) { return fail(code) }
    let made = ListeningSocket(owner: self, backlog: Int(backlog), at: clock)
    host.names[path] = made
    descriptors[socket] = .listener(made)
    return 0
  }

  /// Connects a socket with the listening socket of this name.
  func connect(_ socket: CInt, to path: String) -> CInt {
    guard survives() else { return fail(ECONNREFUSED) }
    if case .datagrams? = descriptors[socket] { return connectDatagrams(to: path) }
    guard case .unconnected? = descriptors[socket] else { return fail(EISCONN) }
    guard let listener = host.names[path] else { return fail(ENOENT) }
    guard listener.isOpen(at: clock), let owner = listener.owner else { return fail(ECONNREFUSED) }
    guard listener.waiting.count <= listener.backlog else { return fail(EAGAIN) }
    let mine = StreamEnd(host.nextStream(), owner: self, creator: pid)
    let theirs = StreamEnd(host.nextStream(), owner: nil, creator: owner.pid, isServerSide: true)
    StreamEnd.pair(mine, theirs)
    descriptors[socket] = .stream(mine)
    let due = clock + host.delay()
    // The listening process may be ahead in time, and may have exited already. It accepts no later connection.
    if let end = listener.closedAt {
      theirs.close(at: end, on: host)
      return 0
    }
    listener.waiting.append((due, theirs))
    host.wake(owner, at: due)
    return 0
  }

  /// Accepts the next connection, and returns its descriptor. `accept(2)`
  func accept(_ socket: CInt) -> CInt {
    guard survives() else { return fail(EAGAIN) }
    guard case .listener(let listener)? = descriptors[socket] else { return fail(EINVAL) }
    // As on Linux, which allocates the descriptor before it looks for a connection.
    guard descriptors.count < openFiles else {
      listener.hasFailed = true
      return fail(EMFILE)
    }
    guard let first = listener.waiting.first, first.due <= clock else { return fail(EAGAIN) }
    listener.waiting.removeFirst()
    first.end.owner = self
    return give(.stream(first.end))
  }

  /// Makes two connected sockets. `socketpair(2)`
  func makePair(nonBlocking: Bool) -> (CInt, CInt)? { makeEnds(isPipe: false) }

  /// Makes two descriptors that are the ends of one stream.
  func makeEnds(isPipe: Bool) -> (CInt, CInt)? {
    let ends = (
      StreamEnd(host.nextStream(), owner: self, creator: pid, isPipe: isPipe),
      StreamEnd(host.nextStream(), owner: self, creator: pid, isPipe: isPipe)
    )
    StreamEnd.pair(ends.0, ends.1)
    let first = give(.stream(ends.0))
    guard first >= 0 else { return nil }
    let second = give(.stream(ends.1))
    guard second >= 0 else {
      release(first, at: clock)
      return none(EMFILE)
    }
    return (first, second)
  }

  /// Returns the process at the other end of a connection, as in SO_PEERCRED.
  func peer(of socket: CInt) -> UnixSocket.Peer? {
    guard case .stream(let end)? = descriptors[socket] else { return none(ENOTSOCK) }
    return UnixSocket.Peer(uid: effectiveUser, gid: 0, pid: end.peer?.creator ?? end.creator)
  }

  func shutdownWriting(_ socket: CInt) -> CInt { shutdown(socket) { $0.shut(at: clock, on: host) } }
  func shutdownReading(_ socket: CInt) -> CInt {
    shutdown(socket) { $0.stopReceiving(at: clock, on: host) }
  }

  /// Ends one direction of a connection: `body` does that at the process's end of it.
  private func shutdown(_ socket: CInt, _ body: (StreamEnd) -> Void) -> CInt {
    guard survives() else { return 0 }
    guard case .stream(let end)? = descriptors[socket] else { return fail(ENOTSOCK) }
    body(end)
    return 0
  }

  var processID: pid_t { pid }
  var parentID: pid_t { parent ?? 1 }
  var effectiveUser: uid_t { 1000 }

  /// Starts a program as a child. Returns its process id, or -1 with `errno`.
  func spawn(
    _ path: String, arguments: [String], environment: [String], descriptors sources: [CInt],
    leadsSession: Bool
  ) -> pid_t {
    guard isAlive, survives() else { return fail(EAGAIN) }
    let arguments = mutantArguments(arguments, of: path)
    guard let make = host.program?(path, Array(arguments.dropFirst())) else { return fail(ENOENT) }
    let files = sources.map { descriptors[$0] }
    for case .stream(let end)? in files { end.references += 1 }
    let child = host.start(by: self, files: files, at: clock, make)
    child.executable = path
    if !leadsSession { child.group = group }
    child.isKillableBeforeStart = host.killableBeforeStart.contains(Paths.lastPart(of: path))
    child.outlivesParent = host.survivors.contains(Paths.lastPart(of: path))
    for entry in environment {
      let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { child.environment[String(parts[0])] = String(parts[1]) }
    }
    mutateEnvironment(of: child)
    return child.pid
  }

  /// Opens a process descriptor. `pidfd_open(2)`
  func openProcess(_ pid: pid_t) -> CInt {
    guard let process = host.processes[pid] else { return fail(ESRCH) }
    return give(.process(process))
  }

  /// Sends a signal to a process, or to a group if the number is negative. `kill(2)`
  func signal(_ pid: pid_t, _ signal: CInt) -> CInt {
    guard isAlive, survives() else { return 0 }
    if pid < 0 { return self.signal(group: -pid, signal) }
    guard let process = host.processes[pid] else { return fail(ESRCH) }
    if mutantOmits(signal, to: process) { return 0 }
    if process.isAlive { host.onSignal?(self, process, signal) }
    switch signal {
    case SIGKILL, SIGABRT: process.kill(by: signal)
    case SIGSTOP: process.stop()
    case SIGCONT: process.resume()
    default: process.handle(signal: signal)
    }
    return 0
  }

  /// Returns the exit status of a child that has exited, and removes the child. `waitpid(2)`
  func reap(_ pid: pid_t, waiting: Bool) -> ExitStatus? {
    // A process that has exited has no children.
    let unknownExit = ExitStatus(ending: .unknown, maxResidentBytes: 0)
    guard isAlive else { return unknownExit }
    guard let child = host.processes[pid], child.parent == self.pid, let ending = child.ending else {
      return waiting ? unknownExit : nil
    }
    if waiting { spend(ending.at > clock ? ending.at.since(clock) : .zero) }
    guard ending.at <= clock else { return nil }
    host.forget(child)
    return mutantStatus(ending.status, of: child)
  }

  /// Returns what a process is doing, as in `/proc/PID/stat`; nil if there is no such process.
  func activity(of pid: pid_t) -> ProcessTable.Activity? {
    guard let process = host.processes[pid] else { return nil }
    return ProcessTable.Activity(
      state: !process.isAlive
        ? .ended
        : process.isStalled(at: clock)
          ? .stopped
          // A process ahead of this one is computing, or waits for its disk.
          : process.clock <= clock ? .sleeping : process.worksUntil > clock ? .running : .waitingForDisk,
      processorTicks: UInt64(min(clock, process.worksUntil).nanoseconds / 10_000_000), hasTerminal: false)
  }
}
