// A host in virtual time: its processes, the names of their sockets, and the order in which they run. The bank's
// processes are production code that calls a ``SimulatedProcess`` instead of Linux. A process runs in turns, and sleeps
// in its event loop between them.
// Invariant: the seed alone decides when each process runs, how long bytes are in flight, and where they are cut.
import BankModel
import Glibc
import Posix
import Time

/// The program of a simulated process, which runs in turns.
protocol SimulatedProgram: AnyObject {
  /// Runs one turn of the loop. The first wait of a turn may throw, which puts the process to sleep. Returns
  /// the exit code if the process has ended.
  func runIteration() throws(SystemError) -> Int32?
  /// Handles a signal other than SIGKILL, SIGABRT, SIGSTOP and SIGCONT.
  func handle(signal: Int32)
}

/// A machine in virtual time, with its processes, sockets and files.
final class SimulatedHost {
  /// Time up to which the processes have run. A process that is working may be ahead of it.
  private(set) var now: MonotonicTime
  /// The calendar's time when the monotonic clock was zero, in nanoseconds since 1970.
  var calendarOrigin: Int64 = 1_700_000_000_000_000_000
  /// The calendar's time at ``now``.
  var wall: WallTime { WallTime(milliseconds: (calendarOrigin + now.nanoseconds) / 1_000_000) }
  var chance: SeededGenerator
  /// Maximum number of bytes in one direction of a connection that are in flight or unread; net.core.wmem_default of
  /// Linux.
  var streamCapacity = 212_992
  /// The files of the host, and the time until which writes to them fail.
  var files = SimulatedFiles()
  var diskFullUntil = MonotonicTime(nanoseconds: 0)
  /// Listening sockets by name.
  var names: [String: ListeningSocket] = [:]
  /// Datagram sockets by name.
  var receivers: [String: DatagramSocket] = [:]
  /// Programs that continue after their parent has exited.
  var survivors: Set<String> = []
  /// Programs that any signal kills before they have started.
  var killableBeforeStart: Set<String> = []
  /// Running processes, and those that were not reaped yet.
  private(set) var processes: [pid_t: SimulatedProcess] = [:]
  /// Returns a closure that creates the program at a path; nil for ENOENT.
  var program: ((_ path: String, _ arguments: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)?)?
  /// Connects a process with another machine; nil if there is no other machine.
  var connectRemote: ((SimulatedProcess) -> any RemotePeer)?
  /// Called with the bytes written to a connection, before any process can read them.
  var onWrite: ((SimulatedProcess, StreamEnd, [UInt8]) -> Void)?
  /// Called when a process sends a signal to another, before the signal has an effect.
  var onSignal: ((_ sender: SimulatedProcess, _ target: SimulatedProcess, _ signal: CInt) -> Void)?
  /// The planted bug of this host's history, for those of the kernel; see `MutantKernel.swift`.
  private(set) var plantedBug: PlantedBug?
  #if MUTANTS
    /// The planted bug of the production code that runs on this host; nil for none.
    private(set) var mutant: Mutant?
  #endif
  var onEnd: ((SimulatedProcess) -> Void)?
  private var eventQueue = EventQueue<pid_t>()
  private var lastProcess: pid_t = 100
  private var lastStream = 0
  /// The process that ran last.
  private(set) var lastRun: pid_t = 0

  /// Plants a bug of the kernel or of the production code, by its name. No effect for another name, or for a bug that this
  /// build does not contain.
  func plant(_ name: String?) {
    plantedBug = name.flatMap(PlantedBug.named)
    #if MUTANTS
      mutant = name.flatMap(Mutant.init(rawValue:))
    #endif
  }

  init(seed: UInt64, now: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000)) {
    chance = SeededGenerator(seed: seed)
    self.now = now
  }

  /// Starts a process with these files as its descriptors from 0 on. Its first turn follows after a short delay.
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

  /// Schedules a turn of the process at that time, or when its stall ends, unless an earlier turn is scheduled.
  func wake(_ process: SimulatedProcess, at moment: MonotonicTime) {
    guard process.isAlive else { return }
    let moment = max(moment, process.clock, process.stalledUntil ?? moment)
    if let due = process.nextRunAt, due <= moment { return }
    process.nextRunAt = moment
    eventQueue.add(process.pid, at: moment)
  }

  /// Time of the next turn of a process; nil if every process sleeps without a deadline.
  var nextMoment: MonotonicTime? { eventQueue.nextMoment }

  /// Runs the next turn of a process. Returns false if none is scheduled.
  @discardableResult
  func runNext() -> Bool {
    guard let (moment, pid) = eventQueue.next() else { return false }
    advance(to: moment)
    guard let process = processes[pid], process.isAlive, process.nextRunAt == moment else { return true }
    process.nextRunAt = nil
    lastRun = pid
    process.run(at: moment)
    return true
  }

  /// Runs processes until a time, or until a condition holds.
  func run(until end: MonotonicTime, _ isEnough: () -> Bool = { false }) {
    while !isEnough(), let next = nextMoment, next <= end { runNext() }
    if !isEnough() { advance(to: end) }
  }

  /// Advances the time of the host. No process runs.
  func advance(to moment: MonotonicTime) { now = max(now, moment) }

  /// Returns an unused number for the end of a stream.
  func nextStream() -> Int {
    lastStream += 1
    return lastStream
  }

  /// Draws a short delay, as of bytes in flight or of the wakeup of a process.
  func delay() -> TimeSpan { TimeSpan(nanoseconds: chance.draw(5_000...120_000)) }

  /// Handles the exit of a process: notifies its parent and the holders of a process descriptor. A subreaper inherits
  /// its children. Children that were not forked are killed, except the ``survivors``.
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
        if let heir { heir.notifyChildExit(at: moment) } else { processes[child.pid] = nil }
      } else if !child.isForked {
        child.end(.signal(SIGKILL, coreDumped: false), at: moment + delay())
      }
    }
    onEnd?(process)
  }

  /// The nearest running ancestor that is a subreaper and inherits the children; nil if there is none.
  private func heir(of process: SimulatedProcess) -> SimulatedProcess? {
    var above = process.parent.flatMap { processes[$0] }
    while let present = above {
      if present.isAlive, present.isSubreaper { return present }
      above = present.parent.flatMap { processes[$0] }
    }
    return nil
  }

  /// Kills and removes all processes at the end of a history.
  func shutDown() {
    (onEnd, onSignal) = (nil, nil)
    for process in processes.values.sorted(by: { $0.pid < $1.pid }) { process.kill() }
    processes.removeAll()
    names.removeAll()
    receivers.removeAll()
  }

  /// Removes a process that was reaped.
  func forget(_ process: SimulatedProcess) { processes[process.pid] = nil }
}
