// Owns a host in virtual time: the processes on it, the names of their sockets, and the order in which they run.
// It must not know what a process does. Every process is production code that asks a ``SimulatedProcess`` for what it
// would ask Linux for; it runs in turns, and between two of them it sleeps in its event loop.
// Invariant: a seed, and nothing else, decides who runs when, how long bytes are on their way, and where they are cut.
import BankModel
import Glibc
import Posix
import Time

protocol SimulatedProgram: AnyObject {
  /// One turn of its loop; it sleeps in the first wait of the turn, by way of the error that the wait throws. The exit code
  /// when the process has ended.
  func turn() throws(SystemError) -> Int32?
  func hear(signal: Int32)
}

final class SimulatedHost {
  /// The time by which the processes were run. A process that is at work may be ahead of it.
  private(set) var now: MonotonicTime
  /// The calendar's reading when the steady clock stood at zero, in nanoseconds since 1970.
  var calendarOrigin: Int64 = 1_700_000_000_000_000_000
  /// What the calendar says at ``now``.
  var wall: WallTime { WallTime(milliseconds: (calendarOrigin + now.nanoseconds) / 1_000_000) }
  var chance: SeededGenerator
  /// As many bytes may be on their way on a connection or wait to be read; net.core.wmem_default of Linux.
  var streamCapacity = 212_992
  var files = SimulatedFiles()
  var isFullUntil = MonotonicTime(nanoseconds: 0)
  var names: [String: ListeningSocket] = [:]
  /// The names of sockets for datagrams.
  var receivers: [String: DatagramSocket] = [:]
  /// The programs that go on when whoever has started them ends.
  var survivors: Set<String> = []
  /// The programs that are ended by a signal that comes before they have begun.
  var undefended: Set<String> = []
  /// Those that live, and those that nobody has reaped.
  private(set) var processes: [pid_t: SimulatedProcess] = [:]
  /// What a program's path starts; nil for ENOENT.
  var program: ((_ path: String, _ arguments: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)?)?
  /// Connects a process with another machine; nil where there is no other.
  var connectFar: ((SimulatedProcess) -> any FarEnd)?
  /// Told what is written to a connection, before anybody can read it.
  var onWrite: ((SimulatedProcess, StreamEnd, [UInt8]) -> Void)?
  /// Told that a process sends a signal to another one, before it has an effect.
  var onSignal: ((_ sender: SimulatedProcess, _ target: SimulatedProcess, _ signal: CInt) -> Void)?
  var mistake: String?
  var onEnd: ((SimulatedProcess) -> Void)?
  private var agenda = Agenda<pid_t>()
  private var lastProcess: pid_t = 100
  private var lastStream = 0
  /// The process that has run last.
  private(set) var lastRun: pid_t = 0

  init(seed: UInt64, now: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000)) {
    chance = SeededGenerator(seed: seed)
    self.now = now
  }

  /// Starts a process, with files as descriptors 0, 1, 2, …; it begins to run soon.
  @discardableResult
  func start(
    by parent: SimulatedProcess? = nil, files: [OpenFile?] = [], openFiles: Int = 1024,
    at moment: MonotonicTime? = nil, _ make: @escaping (SimulatedProcess) -> (any SimulatedProgram)?
  ) -> SimulatedProcess {
    lastProcess += 1
    let process = SimulatedProcess(
      pid: lastProcess, parent: parent?.pid, host: self, openFiles: openFiles, files: files)
    process.make = make
    processes[process.pid] = process
    wake(process, at: (moment ?? now) + TimeSpan(nanoseconds: chance.draw(400_000...3_000_000)))
    return process
  }

  /// The process runs then, or earlier.
  func wake(_ process: SimulatedProcess, at moment: MonotonicTime) {
    guard process.isAlive else { return }
    let moment = max(moment, process.clock, process.standsUntil ?? moment)
    if let due = process.wakesAt, due <= moment { return }
    process.wakesAt = moment
    agenda.add(process.pid, at: moment)
  }

  var nextMoment: MonotonicTime? { agenda.nextMoment }

  @discardableResult
  func runNext() -> Bool {
    guard let (moment, pid) = agenda.next() else { return false }
    advance(to: moment)
    guard let process = processes[pid], process.isAlive, process.wakesAt == moment else { return true }
    process.wakesAt = nil
    lastRun = pid
    process.run(at: moment)
    return true
  }

  func run(until end: MonotonicTime, _ isEnough: () -> Bool = { false }) {
    while !isEnough(), let next = nextMoment, next <= end { runNext() }
    if !isEnough() { advance(to: end) }
  }

  func advance(to moment: MonotonicTime) { now = max(now, moment) }

  func nextStream() -> Int {
    lastStream += 1
    return lastStream
  }

  /// How long something small takes: bytes on their way, a process that wakes up.
  func delay() -> TimeSpan { TimeSpan(nanoseconds: chance.draw(5_000...120_000)) }

  /// A process has ended: whoever started it learns so, and those whom it has started end with it.
  func ended(_ process: SimulatedProcess, at moment: MonotonicTime) {
    if let parent = process.parent.flatMap({ processes[$0] }) {
      wake(parent, at: moment + delay())
      for case .signals(let queue) in parent.descriptors.values { queue.take(SIGCHLD, at: moment) }
    } else {
      processes[process.pid] = nil
    }
    for other in processes.values.sorted(by: { $0.pid < $1.pid }) where other.pid != process.parent {
      if other.watches(process) { wake(other, at: moment) }
    }
    let heir = heir(of: process)
    for child in processes.values.sorted(by: { $0.pid < $1.pid }) where child.parent == process.pid {
      if child.isAlive, child.outlivesParent {
        child.parent = nil
        continue
      }
      child.parent = heir?.pid
      if !child.isAlive {
        if let heir { heir.hearOfChild(at: moment) } else { processes[child.pid] = nil }
      } else if !child.isForked {
        child.end(.signal(SIGKILL, coreDumped: false), at: moment + delay())
      }
    }
    onEnd?(process)
  }

  /// To whom the children of a process fall: the nearest above it that is a sub-reaper; nil for nobody.
  private func heir(of process: SimulatedProcess) -> SimulatedProcess? {
    var above = process.parent.flatMap { processes[$0] }
    while let present = above {
      if present.isAlive, present.isSubreaper { return present }
      above = present.parent.flatMap { processes[$0] }
    }
    return nil
  }

  func shutDown() {
    (onEnd, onSignal) = (nil, nil)
    for process in processes.values.sorted(by: { $0.pid < $1.pid }) { process.kill() }
    processes.removeAll()
    names.removeAll()
    receivers.removeAll()
  }

  /// Nobody asks for the process any more.
  func forget(_ process: SimulatedProcess) { processes[process.pid] = nil }
}
