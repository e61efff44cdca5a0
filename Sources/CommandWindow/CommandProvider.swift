// Owns the work at a window where a command does it: one command at a time, from a customer's assignment to the answer.
// Invariant: there is an answer only when nothing of the command is left, so that nobody ever works for a customer whom
// somebody else has by then; and when this process ends nothing of it is left either.
// Failure: what has run out on this machine is a reason to try again, and nobody's failure. Where a command's output cannot
// be written to its file, it goes on without: the excerpt says how much stands there, and standard error says why once.
//
// The files `outputDirectory/DAY/TICKET.out` and `.err` begin with the first byte and grow as the command speaks, so they can
// be followed. Each attempt makes them anew, as other files: whoever follows opens them again when the attempt's number or the
// file has changed. When the command is over and its result holds all of a stream, that one's file goes: who has it open still
// reads it to its end, and who comes later finds the whole in the receipt; in the moment between, there is neither, and the
// ticket is still being served. The files of an attempt without a result stay: its last words alone stand in the books.
import BankModel
import CommandRunner
import Glibc
import Posix
import Teller
import Time
import Wire

/// Has a command do the whole work of each customer.
public final class CommandProvider: Provider {
  /// Told what has come of each customer's work.
  public var onProvided: ((Lease, Provision) -> Void)?

  private enum Stage {
    case idle
    /// The command begins in a turn of its own: until a program has begun this process stands still, and what was said of the
    /// customer before has left by then.
    case wanted(Assignment, isFresh: Bool)
    case running(Assignment, CommandOrder, RunningCommand)
    /// It has come to this, which is said with the end of the next turn.
    case decided(Assignment, Provision)
    /// The customer would be tried again, and waits here for the end of processes that this one could not end.
    case heldUp(Assignment, Provision, lookAt: MonotonicTime)
    /// This process ends, and the command before it.
    case ending(RunningCommand, until: MonotonicTime)
    /// What could not be ended in time.
    case givenUp(RunningCommand)
  }

  /// How long this process waits for what it ends before it ends itself. To collect a stubborn tree takes two milliseconds,
  /// and on a machine that is building took half a second at most; who is not gone then waits for a dead disk.
  static let patience = TimeSpan.milliseconds(800)

  /// From one look at processes that could not be ended to the next.
  private static let look = TimeSpan.milliseconds(250)

  /// A command that is over so soon is brief: the next one is expected to be, too, and to cost no more than it must.
  static let briefness = TimeSpan.milliseconds(3)
  /// And one that says no more than half of what a pipe holds.
  private static let fewBytes: Int64 = 32 << 10

  private let loop: EventLoop
  private let home: String?
  private let complain: (String) -> Void
  /// Where the commands begin; this process is not in it.
  private var group: CommandGroup
  private var plan: CommandPlan?
  private let places = ProgramPlaces()
  private var stage = Stage.idle
  private var signals: SignalSource?
  /// Whether all descendants fall to this process, and it has no other children.
  private var adoptsAll = false
  /// Whether a child has ended since its kind was last looked for.
  private var hasLostChildren = false
  /// Processes of earlier customers that could not be ended.
  private var leftBehind: Set<pid_t> = []
  /// Whether the last command was brief.
  public private(set) var isBrief = false
  /// Whether somebody was told that output cannot be written.
  private var hasComplained = false

  /// A provider that waits on this loop.
  ///
  /// - Parameters:
  ///   - home: where commands start that nobody has given a directory; nil for where this process is.
  ///   - group: below it all commands begin, and nobody else; nil where the machine has none for this window.
  ///   - complain: told in one line what whoever looks after the bank should know.
  public init(
    loop: EventLoop, home: String? = nil, group: ControlGroup? = nil,
    complain: @escaping (String) -> Void = {
      _ = try? StandardStreams.write("bank-runner: \($0)\n", to: .error)
    }
  ) {
    (self.loop, self.home, self.group, self.complain) = (loop, home, CommandGroup(below: group), complain)
  }

  /// Has everything that descends from a command and loses its parent fall to this process, wherever it has gone. From now on
  /// every child of this process is the command, or is left by one. Before the first command.
  public func adoptDescendants() throws(SystemError) {
    try Subreaper.become()
    signals = try SignalSource([SIGCHLD], on: loop) { [weak self] _ in self?.hasLostChildren = true }
    adoptsAll = true
  }

  /// The window was welcomed: from now on it knows what is run.
  public func begin(_ orders: TellerOrders) {
    guard let command = orders.command else { return }
    plan = CommandPlan(
      command, service: orders.serviceName, home: home, own: Environment.all(), places: places)
    guard command.outputBytes > 0, !command.outputDirectory.isEmpty else { return }
    do throws(SystemError) { try Directory.create(path: command.outputDirectory, recursive: false) } catch {
      complainOnce("what commands say is kept in no file: \(error)")
    }
  }

  /// The command of this customer begins with the end of the next turn.
  public func provide(_ assignment: Assignment) {
    switch stage {
    case .idle, .wanted, .decided: stage = .wanted(assignment, isFresh: true)
    case .running, .heldUp, .ending, .givenUp:
      preconditionFailure("one customer at a time, and none after the end")
    }
  }

  /// When ``endTurn()`` has something to do by itself.
  public var nextDeadline: MonotonicTime? {
    switch stage {
    case .idle, .givenUp: nil
    case .wanted, .decided: loop.wokeAt
    case .heldUp(_, _, let lookAt): lookAt
    case .running(_, _, let command): command.deadline
    case .ending(let command, let until): MonotonicTime.earlier(command.deadline, until)
    }
  }

  /// Begins what is wanted, goes on with what runs, and says what has come of it.
  public func endTurn() {
    switch stage {
    case .idle: collect()
    case .givenUp: break
    case .wanted(let assignment, isFresh: true) where !isBrief: stage = .wanted(assignment, isFresh: false)
    case .wanted(let assignment, _): start(assignment)
    case .running(let assignment, let order, let command):
      if let outcome = command.turn(at: SystemClock.monotonic()) {
        if command.hasEndedGroup { group.leave() }
        finish(assignment, order, outcome)
      } else if !command.isUnattended {
        hearOfChildren()
        if hasLostChildren, adoptsAll { command.collect() }
        hasLostChildren = false
      }
    case .decided(let assignment, let provision):
      stage = .idle
      onProvided?(assignment.lease, provision)
    case .heldUp(let assignment, let provision, _): wait(assignment, provision)
    case .ending(let command, let until):
      let now = SystemClock.monotonic()
      if command.turn(at: now) != nil { stage = .idle } else if until <= now { stage = .givenUp(command) }
    }
  }

  /// Ends the command: SIGTERM to its group, after its grace SIGKILL to all that descends from it.
  public func abandon() {
    switch stage {
    case .wanted(let assignment, _), .decided(let assignment, .later): stage = .decided(assignment, .returned)
    case .running where Kernel.makes("cancelsInWords"): break
    case .running(_, _, let command): command.cancel(at: SystemClock.monotonic())
    case .heldUp(let assignment, let provision, _): stage = .decided(assignment, provision)
    case .idle, .decided, .ending, .givenUp: break
    }
  }

  /// Ends the command with all that descends from it by SIGKILL.
  public func end() {
    switch stage {
    case .running(_, _, let command):
      let now = SystemClock.monotonic()
      command.end(at: now)
      stage = .ending(command, until: now + Self.patience)
    case .idle, .wanted, .decided, .heldUp: stage = .idle
    case .ending, .givenUp: break
    }
  }

  /// Whether nothing is left, or what is left cannot be ended.
  public var hasEnded: Bool { if case .ending = stage { false } else { true } }

  // MARK: One command

  private func start(_ assignment: Assignment) {
    guard let plan else {
      return stage = .decided(assignment, .failed(WorkFailure("the orders name no command", .pause)))
    }
    if !leftBehind.isEmpty { leftBehind.formIntersection(Subreaper.children()) }
    let (adoptsAll, leftBehind) = (adoptsAll, leftBehind)
    do throws(CommandPlan.Unserved) {
      var order = try plan.order(for: assignment, at: SystemClock.wall())
      order.program.group = group.forNext()
      do throws(SystemError) {
        let started = try RunningCommand.start(
          order, on: loop, at: SystemClock.monotonic(), unattended: isBrief ? Self.briefness : .zero
        ) { adoptsAll && !leftBehind.contains($0) }
        switch started {
        case .success(let command):
          stage = .running(assignment, order, command)
          if command.isUnattended { signals?.pause() } else { hearOfChildren() }
        // What was found a moment ago may be gone, and be somewhere else: it is looked for once more.
        case .failure where places.forget(): start(assignment)
        case .failure(let refusal):
          stage = .decided(assignment, .failed(plan.judgement.failure(of: refusal)))
        }
      } catch  where error.call == ControlGroup.call {
        // Somebody has removed it. The tree of a command is ended without one, too.
        complain("commands begin in no group of their own: \(error)")
        group = CommandGroup(below: nil)
        start(assignment)
      } catch {
        // Nothing has begun: the runner may ask again within the same attempt.
        stage = .decided(assignment, .later("the command cannot be started now: \(error)"))
      }
    } catch {
      stage = .decided(assignment, .failed(error.failure))
    }
  }

  private func finish(_ assignment: Assignment, _ order: CommandOrder, _ outcome: CommandOutcome) {
    guard let plan else { preconditionFailure("nothing runs without a plan") }
    stage = .idle
    // They were all collected with the command, but for these.
    hasLostChildren = false
    leftBehind.formUnion(outcome.leftBehind)
    if !leftBehind.isEmpty { hearOfChildren() }
    isBrief =
      leftBehind.isEmpty && outcome.duration < Self.briefness
      && outcome.output.length + outcome.errors.length <= Self.fewBytes
    let provision = plan.provision(of: outcome, for: assignment)
    if case .worked(let result) = provision {
      clear(order.output, outcome.output, result.output)
      clear(order.errors, outcome.errors, result.errors)
    }
    if let failure = outcome.output.fileFailure ?? outcome.errors.fileFailure {
      complainOnce("what the command of ticket \(assignment.ticket) said is not whole: \(failure)")
    } else if outcome.output.lengthOfFile > 0 || outcome.errors.lengthOfFile > 0 {
      hasComplained = false
    }
    guard !outcome.leftBehind.isEmpty else {
      onProvided?(assignment.lease, provision)
      return
    }
    let pids = outcome.leftBehind.map(String.init).joined(separator: ", ")
    complain("processes of the command of ticket \(assignment.ticket) cannot be ended: \(pids)")
    // What is done is done, and what was recalled is looked for by the next coordinator. A customer who would be tried again
    // here is not, while anything of this attempt lives.
    var isOver = outcome.interruption == .cancel
    if case .worked = provision { isOver = true }
    if isOver { onProvided?(assignment.lease, provision) } else { wait(assignment, provision) }
  }

  /// Answers for a customer once nothing of the attempt is left.
  private func wait(_ assignment: Assignment, _ provision: Provision) {
    for pid in Subreaper.children() where leftBehind.contains(pid) {
      _ = try? ChildProcess.adopted(pid)?.reap()
    }
    leftBehind.formIntersection(Subreaper.children())
    guard leftBehind.isEmpty else {
      return stage = .heldUp(assignment, provision, lookAt: SystemClock.monotonic() + Self.look)
    }
    stage = .idle
    onProvided?(assignment.lease, provision)
  }

  /// Removes the file of a stream that the result holds as a whole, or of which there is nothing in the file.
  private func clear(_ bounds: OutputCapture.Bounds, _ stream: CapturedOutput, _ excerpt: Excerpt) {
    guard excerpt.filed == 0, stream.lengthOfFile > 0 || stream.fileFailure != nil, let file = bounds.file
    else { return }
    _ = try? Directory.unlink(file)
  }

  /// From now on it is told when a child ends. Where that cannot be had now it is asked for again in the next turn.
  private func hearOfChildren() { try? signals?.resume() }

  /// Collects those who could not be ended with their command, and have ended since.
  private func collect() {
    guard hasLostChildren else { return }
    hasLostChildren = false
    guard adoptsAll else { return }
    for pid in Subreaper.children() { _ = try? ChildProcess.adopted(pid)?.reap() }
  }

  private func complainOnce(_ words: String) {
    guard !hasComplained else { return }
    hasComplained = true
    complain(words)
  }
}
