// Owns one process of the simulated host as its kernel sees it: descriptors, its own time, whether it lives,
// stands still, or is about to be killed. Invariant: its time never goes back. From the moment at which it is
// killed nothing that it still asks for has an effect, however far the code of its turn goes on.
import BankModel
import Glibc
import Posix
import Time

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
  /// What comes from another machine.
  case far(any FarEnd)
}

/// The end of a connection to another machine.
protocol FarEnd: AnyObject {
  func isReady(at moment: MonotonicTime) -> Bool
  func nextDue(after moment: MonotonicTime) -> MonotonicTime?
  /// Nobody on this machine has a descriptor for it any more.
  func letGo()
}

final class ReadyList {
  var members: [CInt: (interest: Interest, token: UInt64)] = [:]
}

final class SimulatedProcess {
  let pid: pid_t
  var parent: pid_t?
  unowned let host: SimulatedHost
  var openFiles: Int
  var descriptors: [CInt: OpenFile] = [:]
  var executable = "/bank/bin/program"
  var environment: Variables = [:]
  /// Whether it goes on when whoever has started it ends: all others have asked for PR_SET_PDEATHSIG.
  var outlivesParent = false
  /// Whoever has started it; its parent may be another by now.
  let starter: pid_t?
  /// Whether those fall to it whose parents have ended below it.
  var isSubreaper = false
  /// Whether it was made by `fork`: nothing ends it with its parent.
  var isForked = false
  /// Whether it is ended by any signal that it has not begun to hear.
  var isUndefended = false
  /// Its process group.
  var group: pid_t
  var make: ((SimulatedProcess) -> (any SimulatedProgram)?)?
  private(set) var body: (any SimulatedProgram)?
  /// Its own time: that of the host when its turn began, and what it has spent since.
  private(set) var clock: MonotonicTime
  /// When it runs next; nil while it sleeps until somebody wakes it.
  var wakesAt: MonotonicTime?
  /// It waits for something that nobody else sees, until then.
  private(set) var standsUntil: MonotonicTime?
  /// SIGSTOP
  private(set) var isStopped = false
  /// Until when it stood still for the last time.
  private(set) var stoodUntil = MonotonicTime(nanoseconds: 0)
  /// What it is ahead of everybody else with until then is work, and no wait.
  private(set) var worksUntil = MonotonicTime(nanoseconds: 0)
  /// How it has ended, and from when on that can be seen.
  private(set) var ending: (status: ExitStatus, at: MonotonicTime)?
  /// It is killed at the call with this number.
  var fuse: Int?
  /// It was killed within the present turn.
  private(set) var isDoomed = false
  private var doom: CInt = SIGKILL
  /// It is beyond hearing: nothing but SIGKILL reaches it.
  private(set) var isStuck = false
  private var isRunning = false
  private var waits = 0

  init(pid: pid_t, parent: pid_t?, host: SimulatedHost, openFiles: Int, files: [OpenFile?]) {
    (self.pid, self.parent, self.host, self.openFiles) = (pid, parent, host, openFiles)
    (clock, starter, group) = (host.now, parent, pid)
    for (number, file) in files.enumerated() { if let file { descriptors[CInt(number)] = file } }
  }

  var isAlive: Bool { ending == nil }

  // MARK: - Running

  func run(at moment: MonotonicTime) {
    guard !isStopped else { return }
    if let until = standsUntil {
      guard until <= moment else { return host.wake(self, at: until) }
      standsUntil = nil
      stoodUntil = moment
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
      do throws(SystemError) { exitCode = try body?.turn() } catch {
        if error.call == "epoll_wait", error.code == EAGAIN { isAsleep = true } else { failure = error }
      }
    }
    isRunning = false
    if isDoomed { return end(.signal(doom, coreDumped: false), at: clock) }
    if failure != nil { exitCode = 1 }
    if let exitCode { return end(.code(exitCode), at: clock) }
    if let moment = isAsleep ? sleepsUntil : clock { host.wake(self, at: moment) }
  }

  /// The process asks for this much time, for something in which it hears nobody.
  func spend(_ span: TimeSpan) { clock = clock + span }

  /// The same for a work that takes a processor.
  func work(_ span: TimeSpan) {
    spend(span)
    worksUntil = clock
  }

  @discardableResult
  func begin() -> (any SimulatedProgram)? {
    Kernel.run(on: self) {
      guard let make else { return }
      self.make = nil
      body = make(self)
    }
    return body
  }

  /// Has the process do something besides its turns, as when a person types something, and lets it go on from there.
  @discardableResult
  func call<Result>(_ body: () -> Result) -> Result {
    clock = max(clock, host.now)
    defer { host.wake(self, at: clock) }
    return Kernel.run(on: self, body)
  }

  func stop() { isStopped = true }
  func getStuck() { (isStopped, isStuck) = (true, true) }

  func goOn() {
    guard isStopped, !isStuck else { return }
    isStopped = false
    stoodUntil = host.now
    host.wake(self, at: host.now)
  }

  /// Whether it does nothing at a moment, and not because there is nothing to do.
  func standsStill(at moment: MonotonicTime) -> Bool { isStopped || standsUntil.map { $0 > moment } ?? false }

  /// Whether it sleeps because there is nothing to do, by a moment at which everybody else has run as far.
  func isIdle(at moment: MonotonicTime) -> Bool {
    isAlive && !standsStill(at: host.now) && clock <= host.now && moment <= host.now + .milliseconds(1)
  }

  var streams: [StreamEnd] {
    descriptors.sorted { $0.key < $1.key }.compactMap {
      if case .stream(let end) = $0.value { end } else { nil }
    }
  }

  /// Those of them that were made by way of a name: nothing comes between a process and whoever has started it.
  var connections: [StreamEnd] { streams.filter { $0.isServers || $0.peer?.isServers == true } }

  func starve(byAtMost missing: Int) {
    openFiles = max(0, descriptors.count - Int(host.chance.draw(0...Int64(missing))))
  }

  func relieve() {
    openFiles = 1_024
    goOn()
  }

  func stand(until moment: MonotonicTime) {
    standsUntil = max(standsUntil ?? moment, moment)
    host.wake(self, at: moment)
  }

  /// It is killed, at once or within the turn that it is in.
  func kill(by signal: CInt = SIGKILL) {
    guard isAlive, signal == SIGKILL || !isStuck else { return }
    guard isRunning else { return end(.signal(signal, coreDumped: false), at: max(host.now, clock)) }
    if !isDoomed { doom = signal }
    isDoomed = true
  }

  /// It has ended: what it had not sent is gone with it.
  func end(_ how: ExitStatus.Ending, at moment: MonotonicTime) {
    guard isAlive else { return }
    ending = (ExitStatus(ending: how, maxResidentBytes: 0), moment + host.delay())
    wakesAt = nil
    for number in descriptors.keys.sorted() { release(number, at: moment) }
    host.ended(self, at: ending?.at ?? moment)
    // What the process was made of goes without a word: its descriptors are gone already. Nobody else may hold it by now.
    Kernel.run(on: self) { (body, make) = (nil, nil) }
  }

  func hear(signal: Int32) {
    guard isAlive, !isStopped else { return }
    if body == nil, isUndefended { return kill(by: signal) }
    Kernel.run(on: self) { body?.hear(signal: signal) }
    host.wake(self, at: max(host.now, clock))
  }

  // MARK: - Sleeping

  private var deadline: MonotonicTime?

  /// When something comes by itself for which it was put to sleep.
  private var sleepsUntil: MonotonicTime? {
    var earliest = deadline
    for number in registered() {
      guard let due = nextDue(of: number) else { continue }
      earliest = min(earliest ?? due, due)
    }
    return earliest
  }

  private func registered() -> Set<CInt> {
    var numbers: Set<CInt> = []
    for case .epoll(let list) in descriptors.values { numbers.formUnion(list.members.keys) }
    return numbers
  }

  private func nextDue(of number: CInt) -> MonotonicTime? {
    switch descriptors[number] {
    case .stream(let end)?: end.nextDue.flatMap { $0 > clock ? $0 : nil }
    case .listener(let socket)?: socket.waiting.first.flatMap { $0.due > clock ? $0.due : nil }
    case .process(let child)?: child.ending.flatMap { $0.at > clock ? $0.at : nil }
    case .datagrams(let socket)?: socket.waiting.first.flatMap { $0.due > clock ? $0.due : nil }
    case .signals(let queue)?: queue.nextDue(after: clock)
    case .far(let end)?: end.nextDue(after: clock)
    default: nil
    }
  }

  /// What is ready now; nil where the process is to sleep. Only the first wait of a turn can sleep: a later one is a
  /// process that waits for nothing but time.
  func look(_ list: ReadyList, atMost limit: Int, until deadline: MonotonicTime?) -> [(UInt64, Readiness)]? {
    var found: [(UInt64, Readiness)] = []
    for (number, member) in list.members.sorted(by: { $0.key < $1.key }) {
      let ready = readiness(of: number).intersection(
        Readiness(rawValue: member.interest.rawValue | Self.unasked))
      if !ready.isEmpty { found.append((member.token, ready)) }
    }
    found.shuffle(using: &host.chance)
    if !found.isEmpty || isDoomed { return Array(found.prefix(limit)) }
    if let deadline, deadline <= clock { return [] }
    waits += 1
    if waits == 1 {
      self.deadline = deadline
      return nil
    }
    guard let deadline else { preconditionFailure("a simulated process waits for ever within its turn") }
    clock = deadline
    return []
  }

  /// What follows in this turn hears whoever has spoken, and where nobody has it only takes time: a turn that has slept is
  /// begun anew, and what is done once, as an end, must not be.
  func stayAwake() { waits = max(waits, 1) }

  private static let unasked = Readiness.hangUp.rawValue | Readiness.error.rawValue

  private func readiness(of number: CInt) -> Readiness {
    switch descriptors[number] {
    case .stream(let end)?: end.readiness(at: clock, on: host)
    case .listener(let socket)?: socket.waiting.first.map { $0.due <= clock } ?? false ? .read : []
    case .process(let child)?: child.ending.map { $0.at <= clock } ?? false ? .read : []
    case .datagrams(let socket)?: socket.readiness(at: clock)
    case .signals(let queue)?: queue.isReady(at: clock) ? .read : []
    case .far(let end)?: end.isReady(at: clock) ? .read : []
    default: []
    }
  }

  // MARK: - Descriptors

  func give(_ file: OpenFile, atLeast lowest: CInt = 3) -> CInt {
    guard descriptors.count < openFiles else { return fail(EMFILE) }
    var number = lowest
    while descriptors[number] != nil { number += 1 }
    descriptors[number] = file
    return number
  }

  /// What it was started with as this descriptor, for the program to own.
  func inherited(_ number: CInt) -> FileDescriptor? {
    descriptors[number] == nil ? nil : FileDescriptor(owning: number)
  }

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
    case .far(let end): end.letGo()
    default: break
    }
  }

  /// Whether it has a descriptor for another process.
  func watches(_ other: SimulatedProcess) -> Bool {
    descriptors.values.contains { if case .process(let held) = $0 { held === other } else { false } }
  }

  func fail<Number: SignedInteger>(_ code: CInt) -> Number {
    errno = code
    return -1
  }

  func none<Answer>(_ code: CInt) -> Answer? {
    errno = code
    return nil
  }

  /// A step at which the process may be killed; false where it was.
  func survives() -> Bool {
    guard !isDoomed else { return false }
    clock = clock + TimeSpan(nanoseconds: 400)
    guard let left = fuse else { return true }
    fuse = left - 1
    if left <= 0 { isDoomed = true }
    return !isDoomed
  }
}
