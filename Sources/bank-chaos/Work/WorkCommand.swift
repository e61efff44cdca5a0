// The command of a chaos run: it reads its payload, may start a process that outlives it in a session of its own, and
// succeeds, fails, defers the customer, is killed by a signal or hangs.
// Invariant: the command locks its key before it records its start, and its descendants inherit the lock. The next
// attempt can therefore detect any remaining process of the attempt before it.
// Errors: exit code 70, which no simulated behaviour uses.
import Glibc
import Posix

struct WorkCommand {
  let mark: String
  let workLog: WorkLog
  /// Longer than a run waits for a command, in milliseconds.
  private static let maxRunTime: Int32 = 600_000

  /// Does the work for the customer in the environment. Returns the exit code.
  func run() -> Int32 {
    guard let key = Environment.value("BANK_KEY"),
      let day = Environment.value("BANK_DAY").flatMap({ Int64($0) }),
      let number = Environment.value("BANK_TICKET").flatMap({ Int64($0) }),
      let attempt = Environment.value("BANK_ATTEMPT").flatMap({ Int32($0) }), let payload = Self.payload()
    else { return WorkMode.softwareErrorCode }
    let work = WorkAttempt(
      workLog: workLog, mode: .command, key: key, ticket: ChaosTicket(day: day, number: number),
      number: attempt, payload: payload)
    do throws(SystemError) {
      guard let lock = try workLog.lock(key) else {
        _ = work.note(.overlap)
        return WorkMode.softwareErrorCode
      }
      guard work.note(.begin) else { return WorkMode.softwareErrorCode }
      let behaviour = WorkerBehaviour(payload, attempt: attempt)
      if behaviour.ignoresTerm { signal(SIGTERM, SIG_IGN) }
      if behaviour.descendant != .none {
        try startDescendant(
          generations: behaviour.descendant == .daemon ? 1 : 0, of: [key, String(day), String(number)],
          holding: try lock.share(), keepsPipe: behaviour.keepsPipe,
          environment: behaviour.clearsEnvironment ? [:] : Environment.all())
      }
      return withExtendedLifetime(lock) {
        WorkMode.pause(behaviour.milliseconds)
        return finish(work, behaviour)
      }
    } catch {
      return WorkMode.softwareErrorCode
    }
  }

  /// Ends the command as its behaviour requires. Returns the exit code.
  private func finish(_ work: WorkAttempt, _ behaviour: WorkerBehaviour) -> Int32 {
    switch behaviour.end {
    case .well:
      let output = FileDescriptor(owning: STDOUT_FILENO)
      guard (try? output.writeAll(WorkerBehaviour.result(of: work.payload))) != nil, work.note(.end) else {
        return WorkMode.softwareErrorCode
      }
      return 0
    case .later: return 75
    case .fails: return 1
    case .crashes:
      kill(getpid(), SIGKILL)
      return WorkMode.softwareErrorCode
    case .hangs:
      WorkMode.pause(Self.maxRunTime)
      return 0
    }
  }

  /// Runs a descendant that outlives its command. The last of its generations ignores SIGTERM, and exits by itself
  /// only after `maxRunTime`.
  ///
  /// - Parameters:
  ///   - generations: number of intermediate processes that exit, before the last one stays.
  ///   - customer: key, day and ticket, as arguments, because the environment may be empty.
  func runDescendant(generations: Int, of customer: [String]) -> Int32 {
    signal(SIGTERM, SIG_IGN)
    guard generations > 0 else {
      WorkMode.pause(Self.maxRunTime)
      return 0
    }
    do throws(SystemError) {
      try startDescendant(
        generations: generations - 1, of: customer, holding: FileDescriptor(owning: 3), keepsPipe: true,
        environment: Environment.all())
      return 0
    } catch {
      return WorkMode.softwareErrorCode
    }
  }

  /// Starts a process in a session of its own, which inherits the lock of the key.
  private func startDescendant(
    generations: Int, of customer: [String], holding lock: consuming FileDescriptor, keepsPipe: Bool,
    environment: EnvironmentVariables
  ) throws(SystemError) {
    let words = [WorkMode.descendant.rawValue, mark, workLog.directory, String(generations)] + customer
    _ = try ChildProcess.spawn(
      executable: try Paths.executable(), arguments: words, environment: environment, channel: lock,
      standardOutput: keepsPipe ? .inherit : .null, standardError: keepsPipe ? .inherit : .null,
      newSession: true)
  }

  /// Reads standard input to its end; nil if that fails.
  private static func payload() -> [UInt8]? {
    let input = FileDescriptor(owning: STDIN_FILENO)
    return try? input.readAll(limit: 2 << 20)
  }
}
