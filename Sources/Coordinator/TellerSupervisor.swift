// Owns the teller processes: starting one behind every window that shall be open, hearing what they say, noticing
// every way in which they end, and starting their successors. It knows no queue: what it hears it passes on.
// Invariant: a teller that has ended is reported exactly once, after its process was reaped and its channel closed.

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

  /// What is to be logged of the text of a worker program.
  enum SpokenLine {
    case line([UInt8])
    /// So many lines were left out, because the program wrote too many in a second.
    case omitted(Int64)
  }

  package enum Word {
    case ready(pid: Int32)
    /// The same of a worker that is no teller, and takes so many customers at once; nil where it leaves that to the service.
    case workerReady(pid: Int32, inHand: Int32?)
    /// The teller has answered a lease, or made progress.
    case said(TellerMessage)
    case ended(ProcessEnd)
    /// The window is no longer tried: too many tellers died before they were ready.
    case givenUp(lastEnd: Remark)
  }

  /// Whether the bank has opened. Until then a window that does not open is given up soon: somebody is waiting.
  package var hasOpened = false
  /// What a teller is told when it comes: everything but its name and generation.
  package var orders: ((Window, Generation) -> TellerOrders)?
  private(set) var posts = WindowTable<SupervisedTeller>()
  /// The same in the order of the windows: everybody is looked after in it.
  var inOrder: [SupervisedTeller] = []
  /// The last generation at each window, also where there is none any more: a window that is opened again goes on
  /// with it, because the queue hears no generation that it has heard before.
  var generations: [Window: Generation] = [:]
  /// Whether the home says that a command may have been started.
  private var hasNotedCommands = false

  /// Stands in the command line of each teller, so that it can be seen whose it is.
  let home: String
  let loop: EventLoop
  let log: LogFile
  let programs: WorkerPrograms
  /// What the services are called.
  package var services: ServiceDirectory
  /// Who serves the customers of which service.
  var kinds = ServiceKinds()
  /// The program that stands behind a window, where it is none of this build.
  var workerAt: ((Window) throws(SystemError) -> ChildProcess.Program)?
  /// Called with a line that the worker program at a window has written beside its channel.
  var onSpeech: ((Window, Generation, _ pid: Int32, SpokenLine) -> Void)?
  /// On what terms it works.
  var workerTerms: ((Window) -> WorkerTerms)?
  /// What runners that have ended have left behind is ended before they are succeeded.
  var clearings: [Window: ProcessTree] = [:]
  let environment: Variables
  /// What commands and workers are recognized by.
  var lineage: Lineage?
  /// Where commands and workers are; nil where this machine has no groups for them, and before the first of them.
  var groups: WindowGroups?
  var hasLookedForGroups = false
  /// What is left of former attempts.
  var leftovers = Leftovers()
  var residents: ResidentWorkers?
  var policy: RestartPolicy { didSet { for post in inOrder { post.history.adopt(policy) } } }
  private var chance: SeededGenerator
  /// Posts to whose tellers something is to be written at the end of the turn.
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

  /// A teller shall stand at this window from now on.
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

  /// No teller shall stand at this window any more. One with a customer in hand is dismissed later, by the queue;
  /// one that is not at work ends at once.
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

  /// The teller at this window has free hands and shall go. It does so at once, unless it stands still.
  package func dismiss(_ window: Window, at now: Moment) {
    guard let post = posts[window] else { return }
    post.phase = .leaving
    if !Kernel.makes("waitsForTheDismissed") { post.killAt = now.attended + TellerLimits.leave }
    tell(window, .close)
  }

  /// Sends a message to the teller at a window.
  /// - Parameter canWait: The message leaves with the next one. An acknowledgement to a teller at work is no reason to
  /// wake it: on its own it was a quarter of everything that was sent.
  package func tell(_ window: Window, _ message: WindowMessage, canWait: Bool = false) {
    guard let post = posts[window], let channel = post.channel else { return }
    channel.send(message)
    if !canWait { flushLater(post) }
  }

  /// Ends a teller that makes no progress: SIGABRT, so that a core may tell why, and SIGKILL soon after.
  package func abort(_ window: Window, _ generation: Generation, at now: Moment) {
    guard let post = posts[window], post.generation == generation, let child = post.child else { return }
    log.write(event: "stuck", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("pid", child.pid)
      $0.field("gen", generation)
    }
    abort(post, at: now)
  }

  /// Ends a teller that broke the rules of the conversation.
  package func expel(_ window: Window, _ generation: Generation, reason: String, at now: Moment) {
    guard let post = posts[window], post.generation == generation else { return }
    log.write(event: "rogue", level: .warn, at: now) {
      $0.field("window", services.name(of: window))
      $0.field("pid", post.pid)
      $0.field("gen", generation)
      $0.field("msg", "the teller \(reason)")
    }
    post.phase = .leaving
    if !Kernel.makes("expelsInWords") {
      post.child?.kill(SIGKILL)
      post.killedAt = now.attended
    }
  }

  /// Ends the teller at a window at once, whatever it is doing.
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

  // MARK: - Time and the end of a turn

  package var nextDeadline: MonotonicTime? {
    clearings.values.reduce(nextDeadline(of: inOrder)) { .earlier($0, $1.deadline) }
  }
  package var nextJudgement: MonotonicTime? { nextJudgement(of: inOrder) }

  /// Does what is due. Everything that was said has been heard before.
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
    // A channel that ends while it is flushed can make others speak.
    while !unflushed.isEmpty {
      let waiting = unflushed
      unflushed.removeAll(keepingCapacity: true)
      for post in waiting {
        post.isUnflushed = false
        post.channel?.flush()
      }
    }
  }

  /// Whether the windows are as they shall be: every one has a teller at work who knows the present orders, and
  /// those that were to be closed are gone. A window that waits for the end of former processes is as it can be.
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

// MARK: - The life of a process

/// A teller without a channel is of no use to anybody.
extension TellerSupervisor: ProcessSupervisor {
  typealias Incoming = TellerMessage
  typealias Outgoing = WindowMessage
  typealias Post = SupervisedTeller

  /// Deaths before being ready after which the bank does not open.
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
    // A simulated worker writes to its channel alone.
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
    // Nobody is handed out before this is written: it has no customer yet.
    if post.kind.leavesProcesses, !hasNotedCommands {
      hasNotedCommands = true
      keepCommandsNote()
    }
    post.inHand = nil
    (post.customers, post.residentBytes) = (0, nil)
    post.beats.begin(at: now.monotonic)
    if !Kernel.makes("waitsForTheUnready") { post.readyBy = now.attended + TellerLimits.ready }
  }

  /// Writes the note again after it was lost: without it the next coordinator would not look for what commands have left.
  func keepCommandsNote() { if hasNotedCommands { CommandClearing.note(in: BankHome(home), groups) } }

  /// A teller that dies closes its channel just before its process is reported as ended, so only those who broke the
  /// channel themselves are named here.
  func channelEnded(_ post: SupervisedTeller, _ end: ChannelEnd) {
    switch end {
    case .endOfFile where post.phase == .leaving:
      // It was told to go and is going.
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
      // A process that somebody else has reaped: what is certain is that it did not end as it should.
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
    // While the bank opens somebody is waiting.
    succeed(
      post, at: now,
      isHopeless: !hasOpened && (couldNotStart || post.history.deathsInARow >= Self.openingPatience))
  }

  func gaveUp(_ post: SupervisedTeller) {
    onEvent?(post.window, post.generation, .givenUp(lastEnd: post.lastEnd ?? Remark(quoting: "")))
  }
}
