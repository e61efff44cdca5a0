// Supervisor of the teller processes: starts one at every open window, passes on its messages, detects every kind of
// exit, and starts the successor.
// Invariant: the exit of a teller is reported exactly once, after its process was reaped and its channel closed. If a
// window without a process is closed, an exit with code 0 is reported for it.

import BankModel
import CommandRunner
import Configuration
import Glibc
import Logbook
import Posix
import Supervision
import Time
import Transport
import Wire

package final class TellerSupervisor {
  package var onEvent: ((Window, Generation, Word) -> Void)?

  /// Text output of a worker program, for the log.
  enum SpokenLine {
    case line([UInt8])
    /// Number of lines dropped because the program wrote too many within a second.
    case omitted(Int64)
  }

  package enum Word {
    case ready(pid: Int32)
    /// Ready report of a worker program, with the number of customers that it takes at once; nil leaves this
    /// number to the configuration of the service.
    case workerReady(pid: Int32, inHand: Int32?)
    /// An answer to a lease, or progress.
    case said(TellerMessage)
    case ended(ProcessEnd)
    /// No teller is started at the window any more: too many exited before or directly after they were ready, or could
    /// not be started.
    case givenUp(lastEnd: Remark)
  }

  /// True after the bank has opened. Before that a failing window is given up early, because a client waits.
  package var hasOpened = false
  /// Returns the orders that a teller receives with its welcome.
  package var orders: ((Window, Generation) -> TellerOrders)?
  private(set) var posts = WindowTable<SupervisedTeller>()
  /// Posts in window order, for periodic work.
  var inOrder: [SupervisedTeller] = []
  /// Last generation at each window, including removed windows. A reopened window continues the count, because
  /// the queue accepts no generation twice.
  var generations: [Window: Generation] = [:]
  /// True if the marker file for commands was written.
  private var hasNotedCommands = false

  /// Argument of every process of this build at a window, so that process lists show the bank of the process.
  let home: String
  let loop: EventLoop
  let log: LogFile
  let programs: WorkerPrograms
  /// Service names by number.
  package var services: ServiceDirectory
  /// Kind of worker of each service.
  var kinds = ServiceKinds()
  /// Program of a window that is served by a configured worker program.
  var workerAt: ((Window) throws(SystemError) -> ChildProcess.Program)?
  /// Called with a line that the worker program at a window has written to its output, outside its channel.
  var onSpeech: ((Window, Generation, _ pid: Int32, SpokenLine) -> Void)?
  /// Terms for a worker program at a window.
  var workerTerms: ((Window) -> WorkerTerms)?
  /// Process trees left by dead runners, to be killed before a new runner starts.
  var clearings: [Window: ProcessTree] = [:]
  let environment: Variables
  /// Marks that identify commands and workers of this bank.
  var lineage: Lineage?
  /// Control groups of commands and workers; nil without support on this machine, and before the first command or
  /// worker.
  var groups: WindowGroups?
  var hasLookedForGroups = false
  /// Processes that attempts under earlier coordinators have left and that could not be killed.
  var leftovers = Leftovers()
  var residents: ResidentWorkers?
  var policy: RestartPolicy { didSet { for post in inOrder { post.history.adopt(policy) } } }
  private var chance: SeededGenerator
  /// Tellers with unflushed messages, flushed at the end of the iteration.
  private var unflushed: [SupervisedTeller] = []

  package init(
    home: String, loop: EventLoop, log: LogFile, programs: WorkerPrograms, services: ServiceDirectory,
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

  // MARK: - Orders from the queue

  /// Opens a window: from now on a teller runs at it, and is replaced when it exits.
  package func open(_ window: Window, at now: Moment) {
    let post = posts[window] ?? add(window)
    post.isWanted = true
    if post.phase == .empty, post.restartAt == nil {
      post.history.forgive()
      post.isGivenUp = false
      start(post, at: now)
    }
  }

  func add(_ window: Window) -> SupervisedTeller {
    let post = SupervisedTeller(window: window, history: RestartHistory(policy: policy, seed: chance.next()))
    posts[window] = post
    inOrder.insert(post, at: inOrder.firstIndex { window < $0.window } ?? inOrder.count)
    return post
  }

  func remove(_ window: Window) {
    groups?.remove(services.name(of: window))
    posts[window] = nil
    inOrder.removeAll { $0.window == window }
  }

  /// Closes a window. The queue dismisses a teller with a customer in flight later; a teller that is not
  /// ready is killed at once.
  package func close(_ window: Window) {
    guard let post = posts[window] else { return }
    post.isWanted = false
    post.restartAt = nil
    switch post.phase {
    case .empty:
      remove(window)
      onEvent?(window, post.generation, .ended(.code(0)))
    case .starting, .welcomed:
      post.phase = .leaving
      post.child?.kill(SIGKILL)
    case .ready, .leaving: break
    }
  }

  /// Asks an idle teller to exit. A teller that is stuck does not react, and is killed after a timeout.
  package func dismiss(_ window: Window, at now: Moment) {
    guard let post = posts[window] else { return }
    post.phase = .leaving
    if !Kernel.makes("waitsForTheDismissed") { post.killAt = now.attended + TellerLimits.leave }
    tell(window, .close)
  }

  /// Sends a message to the teller at a window.
  /// - Parameter canWait: True to send the message together with the next one. Waking a busy teller for an
  ///   acknowledgement alone accounted for a quarter of all sends.
  package func tell(_ window: Window, _ message: WindowMessage, canWait: Bool = false) {
    guard let post = posts[window], let channel = post.channel else { return }
    channel.send(message)
    if !canWait { flushLater(post) }
  }

  /// Kills a teller without progress: SIGABRT first, so that a core dump shows the cause, and SIGKILL soon
  /// after.
  package func abort(_ window: Window, _ generation: Generation, at now: Moment) {
    guard let post = posts[window], post.generation == generation, let child = post.child else { return }
    log.write(event: "stuck", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("child", child.pid)
      $0.field("child_gen", generation)
    }
    abort(post, at: now)
  }

  /// Kills a teller that violated the protocol.
  package func expel(_ window: Window, _ generation: Generation, reason: String, at now: Moment) {
    guard let post = posts[window], post.generation == generation else { return }
    log.write(event: "protocol_violation", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("child", post.pid)
      $0.field("child_gen", generation)
      $0.field("msg", "the teller \(reason)")
    }
    post.phase = .leaving
    if !Kernel.makes("expelsInWords") {
      post.child?.kill(SIGKILL)
      post.killedAt = now.attended
    }
  }

  /// Kills the teller at a window at once.
  package func kill(_ window: Window, reason: String, at now: Moment) {
    guard let post = posts[window], let child = post.child else { return }
    log.write(event: "killing", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("child", child.pid)
      $0.field("child_gen", post.generation)
      $0.field("msg", "the teller \(reason)")
    }
    post.phase = .leaving
    child.kill(SIGKILL)
  }

  // MARK: - Deadlines and the end of an iteration

  package var nextDeadline: MonotonicTime? {
    clearings.values.reduce(nextDeadline(of: inOrder)) { .earlier($0, $1.deadline) }
  }
  package var nextJudgement: MonotonicTime? { nextJudgement(of: inOrder) }

  /// Applies deadlines that have passed. The caller has handled all received messages before.
  package func keepTime(_ now: Moment) {
    let heard = Kernel.makes("blamesTellersForItsOwnPause") ? now.monotonic : now.attended
    if !clearings.isEmpty { goOnClearing(at: now) }
    for post in inOrder {
      restartIfDue(post, at: now)
      if let moment = post.readyBy, moment <= heard {
        post.readyBy = nil
        expel(post.window, post.generation, reason: "was not ready in time", at: now)
      }
      if let due = post.killAt, due <= heard { post.killedAt = heard }
      endOverdue(post, heard: heard)
      nameUndying(post, heard: heard, at: now)
    }
  }

  package func flush() {
    // A channel that closes during its flush can cause messages to other tellers.
    while !unflushed.isEmpty {
      let waiting = unflushed
      unflushed.removeAll(keepingCapacity: true)
      for post in waiting {
        post.isUnflushed = false
        post.channel?.flush()
      }
    }
  }

  /// True if every window has a ready teller with the current orders, and all closed windows are gone. A
  /// window that waits for the end of earlier processes counts as settled.
  package var isSettled: Bool {
    inOrder.allSatisfy { $0.isWanted && ($0.phase == .ready && !$0.isOutdated || $0.holdUp != nil) }
  }

  package func retryGivenUp(at now: Moment) {
    for post in inOrder where post.isGivenUp && post.isWanted { open(post.window, at: now) }
  }

  package var isEmpty: Bool { inOrder.allSatisfy { $0.child == nil } }
  package func closeAll() { for post in inOrder { close(post.window) } }
  package func killAll() { for post in inOrder { post.child?.kill(SIGKILL) } }

  private func flushLater(_ post: SupervisedTeller) {
    guard !post.isUnflushed else { return }
    post.isUnflushed = true
    unflushed.append(post)
  }
}

// MARK: - Process life cycle

/// A teller whose channel has closed is killed. A teller that was asked to exit gets a moment to do so.
extension TellerSupervisor: ProcessSupervisor {
  typealias Incoming = TellerMessage
  typealias Outgoing = WindowMessage
  typealias Post = SupervisedTeller

  /// Number of exits of a teller before it was ready, after which the bank does not open.
  static let openingPatience = 3
  static let limits = ProcessLimits(frame: TellerLimits.frame, unread: TellerLimits.unread)

  func name(of post: SupervisedTeller) -> (key: StaticString, value: String) {
    ("window", services.name(of: post.window))
  }

  func command(for post: SupervisedTeller) -> (program: String, arguments: [String]) {
    let name = services.name(of: post.window)
    let words = [name, String(post.generation), String(CurrentProcess.pid), home]
    guard kinds[post.window.service] == .run else { return (programs[post.window.service], words) }
    guard let mark = lineage?.mark(of: post.window.service) else { return (programs.runner, words) }
    return (programs.runner, words + [mark.description, windowGroups()?.group(of: name)?.path ?? ""])
  }

  func foreignProgram(for post: SupervisedTeller) throws(SystemError) -> ChildProcess.Program? {
    guard kinds[post.window.service] == .worker, let workerAt else { return nil }
    var foreign = try workerAt(post.window)
    foreign.group = windowGroups()?.group(of: services.name(of: post.window), generation: post.generation)
    if let limit = lineage?.mark(of: post.window.service).limit() { foreign.limits.append(limit) }
    return foreign
  }

  func speech(of post: SupervisedTeller) throws(SystemError) -> FileDescriptor {
    post.speech = nil
    // A simulated worker writes to its channel only.
    guard Kernel.isLinux else { return try FileDescriptor.open("/dev/null", .writeOnly) }
    let pipe = try DescriptorPair.pipe()
    let speech = try WorkerSpeech(pipe.first, on: loop)
    let (window, generation) = (post.window, post.generation)
    speech.onLine = { [unowned self, unowned post] in onSpeech?(window, generation, post.lastPid, .line($0)) }
    speech.onOmitted = { [unowned self, unowned post] in
      onSpeech?(window, generation, post.lastPid, .omitted($0))
    }
    post.speech = speech
    return pipe.second
  }

  func lineLimit(for post: SupervisedTeller) -> Int? {
    kinds[post.window.service] == .worker ? LineLimits.worker : nil
  }

  func nextGeneration(at post: SupervisedTeller) -> Generation {
    let last = Kernel.makes("startsGenerationsAnew") ? post.generation : generations[post.window] ?? 0
    generations[post.window] = last + 1
    return last + 1
  }

  func began(_ post: SupervisedTeller, at now: Moment) {
    post.kind = kinds[post.window.service]
    // The marker file is written before the process gets its first customer.
    if post.kind.leavesProcesses, !hasNotedCommands {
      hasNotedCommands = true
      keepCommandsNote()
    }
    post.inHand = nil
    (post.customers, post.residentBytes) = (0, nil)
    post.beats.begin(at: now.monotonic)
    if !Kernel.makes("waitsForTheUnready") { post.readyBy = now.attended + TellerLimits.ready }
  }

  /// Writes the marker file again after it was removed: without it, the next coordinator would not search for
  /// processes left by commands.
  func keepCommandsNote() { if hasNotedCommands { CommandClearing.note(in: BankHome(home), groups) } }

  /// Handles the end of a channel. A teller that dies closes its channel just before its exit is reported, so
  /// this function logs only a teller that broke the channel itself.
  func channelEnded(_ post: SupervisedTeller, _ end: ChannelEnd) {
    switch end {
    case .endOfFile where post.phase == .leaving:
      // The teller was asked to exit and has closed its channel.
      post.killAt = loop.moment().attended + TellerLimits.exit
      return
    case .endOfFile, .closedHere: break
    default:
      write("channel_broken", .warn, about: post) {
        $0.field("child", post.pid)
        $0.field("msg", end.description)
      }
    }
    post.phase = .leaving
    post.child?.kill(SIGKILL)
  }

  func ended(_ post: SupervisedTeller, _ status: ExitStatus) {
    if post.kind.leavesProcesses { groups?.remove(services.name(of: post.window)) }
    let end: ProcessEnd =
      switch status.ending {
      case .code(let code): .code(code)
      case .signal(let signal, _): .signal(signal)
      // Another reaper has collected the exit status: report a failure.
      case .unseen: .code(1)
      }
    post.speech?.finish()
    post.lastEnd = Remark(status, saying: post.speech?.lastWords)
    post.speech = nil
    post.lastExit = end
    (post.killedAt, post.holdUp) = (nil, nil)
    onEvent?(post.window, post.generation, .ended(end))
  }

  func decide(_ post: SupervisedTeller, at now: Moment, couldNotStart: Bool) {
    if couldNotStart { post.lastExit = nil }
    guard post.isWanted else { return remove(post.window) }
    // While the bank opens a client is waiting, so give up early.
    succeed(
      post, at: now,
      isHopeless: !hasOpened && (couldNotStart || post.history.deathsInARow >= Self.openingPatience))
  }

  func gaveUp(_ post: SupervisedTeller) {
    onEvent?(post.window, post.generation, .givenUp(lastEnd: post.lastEnd ?? Remark(quoting: "")))
  }
}
