// One process of the simulated host as its kernel sees it: its descriptors, its own clock, and its state:
// running, stalled, or about to be killed.
// Invariant: its clock never goes back. After a kill no further call has an effect, although the code of the turn
// continues.
import BankModel
import Glibc
import Posix
import Time

/// What a descriptor refers to.
enum OpenFile {
  /// /dev/null
  case nothing
  case file(OpenedFile)
  case epoll(ReadyList)
  case unconnected(nonBlocking: Bool)
  case stream(StreamEnd)
  case listener(ListeningSocket)
  case datagrams(DatagramSocket)
  case process(SimulatedProcess)
  case signals(SignalQueue)
  /// A connection to another machine.
  case remote(any RemotePeer)
}

/// This machine's end of a connection to another machine.
protocol RemotePeer: AnyObject {
  /// True if something can be read.
  func isReady(at moment: MonotonicTime) -> Bool
  /// Time of the next arrival after this one; nil if none is in flight.
  func nextDue(after moment: MonotonicTime) -> MonotonicTime?
  /// Handles that the last descriptor on this machine was closed.
  func closeLocally()
}

/// The descriptors that are registered with an epoll descriptor, with their interests and tokens.
final class ReadyList {
  var members: [CInt: (interest: Interest, token: UInt64)] = [:]
}

/// A process: the system calls of the simulated kernel are its methods.
final class SimulatedProcess {
  let pid: pid_t
  var parent: pid_t?
  unowned let host: SimulatedHost
  /// Maximum number of open descriptors. A fault lowers it.
  var openFiles: Int
  var descriptors: [CInt: OpenFile] = [:]
  var executable = "/bank/bin/program"
  /// True if another process has sent SIGABRT to this one.
  var wasAborted = false
  var environment: EnvironmentVariables = [:]
  /// True if the process continues after its parent has exited: all others have requested PR_SET_PDEATHSIG, except
  /// forked ones.
  var outlivesParent = false
  /// The process that started this one. The current parent may be another process.
  let starter: pid_t?
  /// True if the process inherits the children of its exited descendants.
  var isSubreaper = false
  /// True if the process was made by `fork`. It is then not killed with its parent.
  var isForked = false
  /// True if any signal kills the process before it has started.
  var isKillableBeforeStart = false
  var group: pid_t
  /// Makes the program when the process starts to run; nil afterwards.
  var make: ((SimulatedProcess) -> (any SimulatedProgram)?)?
  /// The program; nil before the process starts to run, and after its exit.
  private(set) var body: (any SimulatedProgram)?
  /// Clock of the process: the host's time when its turn started, plus the time that it has spent since.
  private(set) var clock: MonotonicTime
  /// Time of the next turn; nil while the process sleeps without a deadline.
  var nextRunAt: MonotonicTime?
  /// Time until which the process is stalled although it was not stopped by a signal.
  private(set) var stalledUntil: MonotonicTime?
  /// True while the process is stopped by SIGSTOP, or hangs.
  private(set) var isStopped = false
  private(set) var lastStallEnd = MonotonicTime(nanoseconds: 0)
  /// Time until which the lead over the other clocks is computation, and not a wait for the disk.
  private(set) var worksUntil = MonotonicTime(nanoseconds: 0)
  /// Exit status, and the time from which other processes can see it.
  private(set) var ending: (status: ExitStatus, at: MonotonicTime)?
  /// Number of further calls that succeed; the process is killed at the next one.
  var callsUntilKill: Int?
  /// True if the process was killed during a turn or at a call. It exits at the end of its turn.
  private(set) var isMarkedForTermination = false
  /// The signal that ends the process at the end of the current turn.
  private var pendingSignal: CInt = SIGKILL
  /// True if no signal but SIGKILL has an effect.
  private(set) var isStuck = false
  /// True during a turn.
  private var isRunning = false
  /// Number of waits in the current turn.
  private var waits = 0

  init(pid: pid_t, parent: pid_t?, host: SimulatedHost, openFiles: Int, files: [OpenFile?]) {
    (self.pid, self.parent, self.host, self.openFiles) = (pid, parent, host, openFiles)
    (clock, starter, group) = (host.now, parent, pid)
    for (number, file) in files.enumerated() { if let file { descriptors[CInt(number)] = file } }
  }

  var isAlive: Bool { ending == nil }

  // MARK: - Running

  /// Runs one turn: until the program sleeps, exits, fails or is killed.
  func run(at moment: MonotonicTime) {
    guard !isStopped else { return }
    if let until = stalledUntil {
      guard until <= moment else { return host.wake(self, at: until) }
      stalledUntil = nil
      lastStallEnd = moment
    }
    clock = max(clock, moment)
    waits = 0
    isRunning = true
    var exitCode: Int32?
    var isAsleep = false
    var failure: SystemError?
    begin()
    Kernel.run(on: self) {
      guard body != nil else { return exitCode = 1 }
      do throws(SystemError) { exitCode = try body?.runIteration() } catch {
        if error.call == "epoll_wait", error.code == EAGAIN { isAsleep = true } else { failure = error }
      }
    }
    isRunning = false
    if isMarkedForTermination { return end(.signal(pendingSignal, coreDumped: false), at: clock) }
    if failure != nil { exitCode = 1 }
    if let exitCode { return end(.code(exitCode), at: clock) }
    if let moment = isAsleep ? sleepsUntil : clock { host.wake(self, at: moment) }
  }

  /// Advances the process's clock by a time in which it receives nothing.
  func spend(_ span: TimeSpan) { clock = clock + span }

  /// Spends time during which other processes see this one as running on the processor.
  func work(_ span: TimeSpan) {
    spend(span)
    worksUntil = clock
  }

  /// Makes the program, unless that was done, and returns it.
  @discardableResult
  func begin() -> (any SimulatedProgram)? {
    Kernel.run(on: self) {
      guard let make else { return }
      self.make = nil
      body = make(self)
    }
    return body
  }

  /// Runs code in the process outside its turns, such as the handling of a user's input, and wakes the process
  /// afterwards.
  @discardableResult
  func call<Result>(_ body: () -> Result) -> Result {
    clock = max(clock, host.now)
    defer { host.wake(self, at: clock) }
    return Kernel.run(on: self, body)
  }

  /// Stops the process as SIGSTOP does, until `resume`.
  func stop() { isStopped = true }
  /// Stops the process until SIGKILL ends it.
  func hangForever() { (isStopped, isStuck) = (true, true) }

  /// Lets a stopped process continue, unless it hangs forever.
  func resume() {
    guard isStopped, !isStuck else { return }
    isStopped = false
    lastStallEnd = host.now
    host.wake(self, at: host.now)
  }

  func isStalled(at moment: MonotonicTime) -> Bool { isStopped || stalledUntil.map { $0 > moment } ?? false }

  /// True if the process waits for work: it is not stalled, its clock is not ahead of the host's time, and the given
  /// time is not far ahead.
  func isIdle(at moment: MonotonicTime) -> Bool {
    isAlive && !isStalled(at: host.now) && clock <= host.now && moment <= host.now + .milliseconds(1)
  }

  var streams: [StreamEnd] {
    descriptors.sorted { $0.key < $1.key }.compactMap {
      if case .stream(let end) = $0.value { end } else { nil }
    }
  }

  /// The streams that were connected by a socket's name, without the channel between a process and its
  /// parent.
  var connections: [StreamEnd] { streams.filter { $0.isServerSide || $0.peer?.isServerSide == true } }

  /// Lowers the limit of descriptors to the number of open ones, or to up to `missing` less.
  func exhaustDescriptors(byAtMost missing: Int) {
    openFiles = max(0, descriptors.count - Int(host.chance.draw(0...Int64(missing))))
  }

  /// Restores the limit of descriptors, and lets a stopped process continue.
  func restoreDescriptors() {
    openFiles = 1_024
    resume()
  }

  /// Lets the process do nothing until a time.
  func stall(until moment: MonotonicTime) {
    stalledUntil = max(stalledUntil ?? moment, moment)
    host.wake(self, at: moment)
  }

  /// Kills the process, at once or at the end of its current turn. A stuck process is killed only by SIGKILL.
  func kill(by signal: CInt = SIGKILL) {
    guard isAlive, signal == SIGKILL || !isStuck else { return }
    guard isRunning else { return end(.signal(signal, coreDumped: false), at: max(host.now, clock)) }
    if !isMarkedForTermination { pendingSignal = signal }
    isMarkedForTermination = true
  }

  /// Records the exit of the process, and closes its descriptors. Bytes that it has not written are lost.
  func end(_ how: ExitStatus.Termination, at moment: MonotonicTime) {
    guard isAlive else { return }
    ending = (ExitStatus(ending: how, maxResidentBytes: 0), moment + host.delay())
    nextRunAt = nil
    for number in descriptors.keys.sorted() { release(number, at: moment) }
    host.ended(self, at: ending?.at ?? moment)
    // Release the program without any further effect: its descriptors are closed already. No other reference to it may
    // exist at this point.
    Kernel.run(on: self) { (body, make) = (nil, nil) }
  }

  /// Passes a signal to the program. A stopped process does not receive it.
  func handle(signal: Int32) {
    guard isAlive, !isStopped else { return }
    if body == nil, isKillableBeforeStart { return kill(by: signal) }
    Kernel.run(on: self) { body?.handle(signal: signal) }
    host.wake(self, at: max(host.now, clock))
  }

  // MARK: - Sleeping

  private var deadline: MonotonicTime?

  /// Time of the next event that wakes the process; nil if no event is scheduled.
  private var sleepsUntil: MonotonicTime? {
    var earliest = deadline
    for number in registered() {
      guard let due = nextDue(of: number) else { continue }
      earliest = min(earliest ?? due, due)
    }
    return earliest
  }

  /// The descriptors that are registered with any epoll descriptor.
  private func registered() -> Set<CInt> {
    var numbers: Set<CInt> = []
    for case .epoll(let list) in descriptors.values { numbers.formUnion(list.members.keys) }
    return numbers
  }

  /// Time at which a descriptor becomes ready; nil if that is not scheduled.
  private func nextDue(of number: CInt) -> MonotonicTime? {
    switch descriptors[number] {
    case .stream(let end)?: end.nextDue.flatMap { $0 > clock ? $0 : nil }
    case .listener(let socket)?: socket.waiting.first.flatMap { $0.due > clock ? $0.due : nil }
    case .process(let child)?: child.ending.flatMap { $0.at > clock ? $0.at : nil }
    case .datagrams(let socket)?: socket.waiting.first.flatMap { $0.due > clock ? $0.due : nil }
    case .signals(let queue)?: queue.nextDue(after: clock)
    case .remote(let end)?: end.nextDue(after: clock)
    default: nil
    }
  }

  /// The tokens of the descriptors that are ready now; nil if the process must sleep. Only the first wait of a turn can
  /// sleep. A later wait only advances the clock.
  func pollReady(_ list: ReadyList, atMost limit: Int, until deadline: MonotonicTime?) -> [(
    UInt64, Readiness
  )]? {
    var found: [(UInt64, Readiness)] = []
    for (number, member) in list.members.sorted(by: { $0.key < $1.key }) {
      let ready = readiness(of: number).intersection(
        Readiness(rawValue: member.interest.rawValue | Self.alwaysReported))
      if !ready.isEmpty { found.append((member.token, ready)) }
    }
    found.shuffle(using: &host.chance)
    if !found.isEmpty || isMarkedForTermination { return Array(found.prefix(limit)) }
    if let deadline, deadline <= clock { return [] }
    waits += 1
    if waits == 1 {
      self.deadline = deadline
      return nil
    }
    guard let deadline else { preconditionFailure("a simulated process waits forever within one iteration") }
    clock = deadline
    return []
  }

  /// Prevents further sleep in this turn: a wait returns the ready descriptors, or only advances the clock. A turn that
  /// has slept runs again from its start, which must not happen to work that is done once, such as an exit.
  func disableSleep() { waits = max(waits, 1) }

  private static let alwaysReported = Readiness.hangUp.rawValue | Readiness.error.rawValue

  /// What can be done with a descriptor now.
  private func readiness(of number: CInt) -> Readiness {
    switch descriptors[number] {
    case .stream(let end)?: end.readiness(at: clock, on: host)
    case .listener(let socket)?: socket.waiting.first.map { $0.due <= clock } ?? false ? .read : []
    case .process(let child)?: child.ending.map { $0.at <= clock } ?? false ? .read : []
    case .datagrams(let socket)?: socket.readiness(at: clock)
    case .signals(let queue)?: queue.isReady(at: clock) ? .read : []
    case .remote(let end)?: end.isReady(at: clock) ? .read : []
    default: []
    }
  }

  // MARK: - Descriptors

  /// Adds a descriptor with the lowest free number from `lowest` on. Returns -1 if the process has too many.
  func give(_ file: OpenFile, atLeast lowest: CInt = 3) -> CInt {
    guard descriptors.count < openFiles else { return fail(EMFILE) }
    var number = lowest
    while descriptors[number] != nil { number += 1 }
    descriptors[number] = file
    return number
  }

  /// Returns the inherited descriptor of this number, which the caller then owns; nil if there is none.
  func inherited(_ number: CInt) -> FileDescriptor? {
    descriptors[number] == nil ? nil : FileDescriptor(owning: number)
  }

  /// Closes a descriptor; the last one of a stream closes the stream.
  func release(_ number: CInt, at moment: MonotonicTime) {
    guard let file = descriptors.removeValue(forKey: number) else { return }
    for case .epoll(let list) in descriptors.values { list.members[number] = nil }
    switch file {
    case .stream(let end):
      end.references -= 1
      if end.references == 0 { end.close(at: moment, on: host) }
    case .listener(let socket):
      socket.closedAt = moment
      for (_, end) in socket.waiting { end.close(at: moment, on: host) }
      socket.waiting = []
    case .datagrams(let socket): socket.closedAt = moment
    case .remote(let end): end.closeLocally()
    default: break
    }
  }

  /// True if the process has a descriptor for another process.
  func watches(_ other: SimulatedProcess) -> Bool {
    descriptors.values.contains { if case .process(let held) = $0 { held === other } else { false } }
  }

  /// Sets `errno` and returns -1.
  func fail<Number: SignedInteger>(_ code: CInt) -> Number {
    errno = code
    return -1
  }

  /// Sets `errno` and returns nil.
  func none<Answer>(_ code: CInt) -> Answer? {
    errno = code
    return nil
  }

  /// Counts a call, at which the process may be killed. Returns false if the process is killed.
  func survives() -> Bool {
    guard !isMarkedForTermination else { return false }
    clock = clock + TimeSpan(nanoseconds: 400)
    guard let left = callsUntilKill else { return true }
    callsUntilKill = left - 1
    if left <= 0 { isMarkedForTermination = true }
    return !isMarkedForTermination
  }
}
