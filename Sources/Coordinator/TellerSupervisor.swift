// Supervisor of the teller processes: starts one at every open window, passes on its messages, detects its exit, and
// starts the successor.
// Invariant: the exit of a teller is reported once, after its process was reaped and its channel closed. If a window
// without a process is closed, an exit with code 0 is reported for it.

import BankModel
import CommandRunner
import Configuration
import Glibc
import Logging
import Posix
import Supervision
import Time
import Transport
import Wire

package final class TellerSupervisor {
  /// Called with each event of a window.
  package var onEvent: ((Window, Generation, WindowEvent) -> Void)?

  /// A line that a worker program wrote, or the number of its dropped lines, for the log.
  enum OutputLine {
    case line([UInt8])
    /// Number of dropped lines.
    case omitted(Int64)
  }

  /// What happened at a window.
  package enum WindowEvent {
    case ready(pid: Int32)
    /// Ready report of a worker program, with the number of customers that it takes at once; nil: as configured.
    case workerReady(pid: Int32, inFlight: Int32?)
    /// An answer to a lease, progress, or a message out of turn.
    case message(TellerMessage)
    case ended(ProcessEnd)
    /// The window was given up: too many tellers exited before or directly after they were ready, or did not start.
    case givenUp(lastExitReason: MessageDetail)
  }

  /// True after the bank has opened. Before that a failing window is given up early, because a client waits.
  package var hasOpened = false
  /// Returns the settings that a teller receives with its welcome.
  package var orders: ((Window, Generation) -> TellerSettings)?
  private(set) var slots = WindowTable<SupervisedTeller>()
  /// Slots in window order, for periodic work.
  var inOrder: [SupervisedTeller] = []
  /// Last generation at each window, including removed windows. A reopened window continues the count, because
  /// the queue accepts no generation twice.
  var generations: [Window: Generation] = [:]
  /// True if the marker file for commands was written.
  private var hasCommandsMarkerFile = false
  /// Argument of every process of this build at a window, so that process lists show the bank of the process.
  let home: String
  let loop: EventLoop
  let log: LogFile
  let programs: ProgramPaths
  /// Service names by number.
  package var services: ServiceDirectory
  var kinds = ServiceKinds()
  /// Returns the configured worker program of a window.
  var workerAt: ((Window) throws(SystemError) -> ChildProcess.Program)?
  /// Called with a line that the worker program at a window has written to its output, outside its channel.
  var onOutput: ((Window, Generation, _ pid: Int32, OutputLine) -> Void)?
  /// Returns the timeouts that apply to a worker program at a window.
  var workerTerms: ((Window) -> WorkerTimeouts)?
  /// Process trees left by dead runners and worker programs, to be killed before a successor starts.
  var processTreesToKill: [Window: ProcessTree] = [:]
  let environment: EnvironmentVariables
  /// Marks that identify commands and workers of this home.
  var processIdentity: HomeProcessIdentity?
  /// Control groups of commands and workers; nil without support on this machine, and before the first of them.
  var groups: WindowControlGroups?
  var hasSearchedControlGroups = false
  /// Processes that attempts under earlier coordinators have left and that could not be killed.
  var leftovers = LeftoverProcesses()
  var inProcessWorkers: InProcessWorkerFactory?
  var policy: RestartPolicy { didSet { for slot in inOrder { slot.history.adopt(policy) } } }
  private var chance: SeededGenerator
  /// Tellers with unflushed messages.
  private var unflushed: [SupervisedTeller] = []

  package init(
    home: String, loop: EventLoop, log: LogFile, programs: ProgramPaths, services: ServiceDirectory,
    policy: RestartPolicy, seed: UInt64
  ) {
    self.home = home
    self.loop = loop
    self.log = log
    self.programs = programs
    self.services = services
    self.policy = policy
    chance = SeededGenerator(seed: seed)
    environment = ServiceNotifier.strip(Environment.all())
  }

  // MARK: - Effects of the queue

  /// Opens a window: from now on a teller runs at it, and is replaced when it exits.
  package func open(_ window: Window, at now: Moment) {
    let slot = slots[window] ?? add(window)
    slot.isWanted = true
    if slot.phase == .empty, slot.restartAt == nil {
      slot.history.clearHistory()
      slot.isGivenUp = false
      start(slot, at: now)
    }
  }

  func add(_ window: Window) -> SupervisedTeller {
    let slot = SupervisedTeller(window: window, history: RestartHistory(policy: policy, seed: chance.next()))
    slots[window] = slot
    inOrder.insert(slot, at: inOrder.firstIndex { window < $0.window } ?? inOrder.count)
    return slot
  }

  /// Removes the slot and the control group of a closed window.
  func remove(_ window: Window) {
    groups?.remove(services.name(of: window))
    slots[window] = nil
    inOrder.removeAll { $0.window == window }
  }

  /// Closes a window. A ready teller stays until it is dismissed or killed; one that is starting is killed.
  package func close(_ window: Window) {
    guard let slot = slots[window] else { return }
    slot.isWanted = false
    slot.restartAt = nil
    switch slot.phase {
    case .empty:
      remove(window)
      onEvent?(window, slot.generation, .ended(.code(0)))
    case .starting, .welcomed:
      slot.phase = .leaving
      slot.child?.kill(SIGKILL)
    case .ready, .leaving: break
    }
  }

  /// Asks an idle teller to exit. A teller that is stuck does not react, and is killed after a timeout.
  package func dismiss(_ window: Window, at now: Moment) {
    guard let slot = slots[window] else { return }
    slot.phase = .leaving
    if !Mutant.waitsForeverForStoppedTeller.isActive {
      slot.killAt = now.listeningTime + TellerLimits.leave
    }
    send(window, .close)
  }

  /// Sends a message to the teller at a window; together with the next message if `canBeDelayed` is true, so that a
  /// busy teller is not woken for an acknowledgement alone.
  package func send(_ window: Window, _ message: MessageToTeller, canBeDelayed: Bool = false) {
    guard let slot = slots[window], let channel = slot.channel else { return }
    channel.send(message)
    if !canBeDelayed { flushLater(slot) }
  }

  /// Kills a teller without progress: SIGABRT first, so that a core dump shows the cause, and then SIGKILL.
  package func abort(_ window: Window, _ generation: Generation, at now: Moment) {
    guard let slot = slots[window], slot.generation == generation, let child = slot.child else { return }
    log.write(event: "stuck", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("child", child.pid)
      $0.field("child_gen", generation)
    }
    abort(slot, at: now)
  }

  /// Kills a teller that violated the protocol.
  package func expel(_ window: Window, _ generation: Generation, reason: String, at now: Moment) {
    guard let slot = slots[window], slot.generation == generation else { return }
    log.write(event: "protocol_violation", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("child", slot.pid)
      $0.field("child_gen", generation)
      $0.field("msg", "the worker \(reason)")
    }
    slot.phase = .leaving
    if !Mutant.doesNotDisconnectViolator.isActive {
      slot.child?.kill(SIGKILL)
      slot.killedAt = now.listeningTime
    }
  }

  /// Kills the teller at a window.
  package func kill(_ window: Window, reason: String, at now: Moment) {
    guard let slot = slots[window], let child = slot.child else { return }
    log.write(event: "killing", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("child", child.pid)
      $0.field("child_gen", slot.generation)
      $0.field("msg", "the worker \(reason)")
    }
    slot.phase = .leaving
    child.kill(SIGKILL)
  }

  // MARK: - Deadlines and the end of an iteration

  package var nextDeadline: MonotonicTime? {
    processTreesToKill.values.reduce(nextDeadline(of: inOrder)) { .earlier($0, $1.deadline) }
  }
  package var nextJudgement: MonotonicTime? { nextSilenceTimeout(of: inOrder) }

  /// Applies deadlines that have passed. Call after the received messages were handled.
  package func runTimers(_ now: Moment) {
    let heard = Mutant.countsOwnStallAgainstTellers.isActive ? now.monotonic : now.listeningTime
    if !processTreesToKill.isEmpty { continueReaping(at: now) }
    for slot in inOrder {
      restartIfDue(slot, at: now)
      if let moment = slot.readyDeadline, moment <= heard {
        slot.readyDeadline = nil
        expel(slot.window, slot.generation, reason: "was not ready in time", at: now)
      }
      if let due = slot.killAt, due <= heard { slot.killedAt = heard }
      enforceDeadlines(slot, heard: heard)
      logUnkillable(slot, heard: heard, at: now)
    }
  }

  /// Sends the messages that were not sent yet.
  package func flush() {
    // A channel that closes during its flush can cause messages to other tellers.
    while !unflushed.isEmpty {
      let waiting = unflushed
      unflushed.removeAll(keepingCapacity: true)
      for slot in waiting {
        slot.isUnflushed = false
        slot.channel?.flush()
      }
    }
  }

  /// True if every window has a ready teller with the current settings, and all closed windows are gone. A
  /// window that waits for the end of earlier processes counts as settled.
  package var isSettled: Bool {
    inOrder.allSatisfy { $0.isWanted && ($0.phase == .ready && !$0.isOutdated || $0.holdUp != nil) }
  }

  /// Starts a teller at each window that was given up, at the request of an operator.
  package func retryGivenUp(at now: Moment) {
    for slot in inOrder where slot.isGivenUp && slot.isWanted { open(slot.window, at: now) }
  }

  /// True if no teller process exists.
  package var isEmpty: Bool { inOrder.allSatisfy { $0.child == nil } }
  /// Closes every window; see ``close(_:)``.
  package func closeAll() { for slot in inOrder { close(slot.window) } }
  /// Kills the processes at all windows.
  package func killAll() { for slot in inOrder { slot.child?.kill(SIGKILL) } }

  /// Registers a teller whose messages are to be flushed.
  private func flushLater(_ slot: SupervisedTeller) {
    guard !slot.isUnflushed else { return }
    slot.isUnflushed = true
    unflushed.append(slot)
  }
}

// MARK: - Process life cycle

/// A teller whose channel has closed is killed. A teller that was asked to exit gets a moment to do so.
extension TellerSupervisor: ProcessSupervisor {
  typealias Incoming = TellerMessage
  typealias Outgoing = MessageToTeller
  typealias Slot = SupervisedTeller

  /// Number of consecutive exits at a window after which the bank does not open.
  static let openingPatience = 3
  static let limits = ProcessLimits(frame: TellerLimits.frame, unread: TellerLimits.unread)

  func name(of slot: SupervisedTeller) -> (key: StaticString, value: String) {
    ("window", services.name(of: slot.window))
  }

  /// Program of this build at a window (teller, runner or juice station), and its arguments.
  func command(for slot: SupervisedTeller) -> (program: String, arguments: [String]) {
    let name = services.name(of: slot.window)
    let arguments = [name, String(slot.generation), String(CurrentProcess.pid), home]
    guard kinds[slot.window.service] == .run else { return (programs[slot.window.service], arguments) }
    guard let mark = processIdentity?.mark(of: slot.window.service) else {
      return (programs.runner, arguments)
    }
    return (programs.runner, arguments + [mark.description, windowGroups()?.group(of: name)?.path ?? ""])
  }

  /// The configured worker program at a window; nil if a program of this build serves the service.
  func foreignProgram(for slot: SupervisedTeller) throws(SystemError) -> ChildProcess.Program? {
    guard kinds[slot.window.service] == .worker, let workerAt else { return nil }
    var foreign = try workerAt(slot.window)
    foreign.group = windowGroups()?.group(of: services.name(of: slot.window), generation: slot.generation)
    if let limit = processIdentity?.mark(of: slot.window.service).limit() { foreign.limits.append(limit) }
    return foreign
  }

  /// Write end of a new pipe for the output of a worker program, whose lines are written to the window's log.
  func workerOutput(of slot: SupervisedTeller) throws(SystemError) -> FileDescriptor {
    slot.workerOutput = nil
    // A simulated worker writes to its channel only.
    guard Kernel.isLinux else { return try FileDescriptor.open("/dev/null", .writeOnly) }
    let pipe = try DescriptorPair.pipe()
    let workerOutput = try WorkerOutputReader(pipe.first, on: loop)
    let (window, generation) = (slot.window, slot.generation)
    workerOutput.onLine = { [unowned self, unowned slot] in
      onOutput?(window, generation, slot.lastPid, .line($0))
    }
    workerOutput.onOmitted = { [unowned self, unowned slot] in
      onOutput?(window, generation, slot.lastPid, .omitted($0))
    }
    slot.workerOutput = workerOutput
    return pipe.second
  }

  /// Longest line of a worker program; nil for a program of this build, which sends no lines.
  func lineLimit(for slot: SupervisedTeller) -> Int? {
    kinds[slot.window.service] == .worker ? LineLimits.worker : nil
  }

  /// Generation of the next process at a window: the last one plus 1, also if the window was closed in between.
  func nextGeneration(at slot: SupervisedTeller) -> Generation {
    let last = Mutant.resetsGenerations.isActive ? slot.generation : generations[slot.window] ?? 0
    generations[slot.window] = last + 1
    return last + 1
  }

  /// Resets the counters of a started process, and sets the time by which it must be ready.
  func began(_ slot: SupervisedTeller, at now: Moment) {
    slot.kind = kinds[slot.window.service]
    // The marker file is written before the process gets its first customer.
    if slot.kind.mayLeaveProcesses, !hasCommandsMarkerFile {
      hasCommandsMarkerFile = true
      restoreCommandsMarkerFile()
    }
    slot.inFlight = nil
    (slot.customers, slot.residentBytes) = (0, nil)
    slot.beats.begin(at: now.monotonic)
    if !Mutant.waitsForeverForUnreadyTeller.isActive {
      slot.readyDeadline = now.listeningTime + TellerLimits.ready
    }
  }

  /// Writes the marker file, or restores it: without it the next coordinator might not search for processes left over.
  func restoreCommandsMarkerFile() {
    if hasCommandsMarkerFile { OrphanReaper.note(in: BankHome(home), groups) }
  }

  /// Handles the end of a channel. An end of file is not logged, because a teller that dies closes its channel, too.
  func channelEnded(_ slot: SupervisedTeller, _ end: CloseReason) {
    switch end {
    case .endOfFile where slot.phase == .leaving:
      // The teller was asked to exit and has closed its channel.
      slot.killAt = loop.moment().listeningTime + TellerLimits.exit
      return
    case .endOfFile, .closedLocally: break
    default:
      write("channel_broken", .warn, about: slot) {
        $0.field("child", slot.pid)
        $0.field("msg", end.description)
      }
    }
    slot.phase = .leaving
    slot.child?.kill(SIGKILL)
  }

  /// Records and reports the exit of a process.
  func ended(_ slot: SupervisedTeller, _ status: ExitStatus) {
    if slot.kind.mayLeaveProcesses { groups?.remove(services.name(of: slot.window)) }
    let end: ProcessEnd =
      switch status.ending {
      case .code(let code): .code(code)
      case .signal(let signal, _): .signal(signal)
      // Another reaper has collected the exit status: report a failure.
      case .unknown: .code(1)
      }
    slot.workerOutput?.finish()
    slot.lastExitReason = MessageDetail(status, output: slot.workerOutput?.lastOutputText)
    slot.workerOutput = nil
    slot.lastExit = end
    (slot.killedAt, slot.holdUp) = (nil, nil)
    onEvent?(slot.window, slot.generation, .ended(end))
  }

  /// Starts a successor or gives up the window. A closed window is removed.
  func decide(_ slot: SupervisedTeller, at now: Moment, couldNotStart: Bool) {
    if couldNotStart { slot.lastExit = nil }
    guard slot.isWanted else { return remove(slot.window) }
    // While the bank opens a client is waiting, so give up early.
    startSuccessor(
      slot, at: now,
      shouldGiveUp: !hasOpened && (couldNotStart || slot.history.consecutiveDeaths >= Self.openingPatience))
  }

  /// Reports that no teller is started at this window any more, and why the last one exited.
  func gaveUp(_ slot: SupervisedTeller) {
    onEvent?(
      slot.window, slot.generation,
      .givenUp(lastExitReason: slot.lastExitReason ?? MessageDetail(quoting: "")))
  }
}
