// The command of a chaos run: it reads its payload, may start a process that outlives it in a session of its own, and
// succeeds, fails, is killed by a signal or hangs.
// Invariant: it locks its key before it records its start, and its descendants inherit the lock. The next attempt can
// therefore detect any remaining process of this one.
// Errors: exit code 70, which no simulated behaviour uses.
import Glibc
import Posix

struct WorkCommand {
  let mark: String
  let witness: WorkWitness
  /// Longer than any run waits for a command, in milliseconds.
  private static let forever: Int32 = 600_000

  func run() -> Int32 {
    guard let key = Environment.value("BANK_KEY"),
      let day = Environment.value("BANK_DAY").flatMap({ Int64($0) }),
      let number = Environment.value("BANK_TICKET").flatMap({ Int64($0) }),
      let attempt = Environment.value("BANK_ATTEMPT").flatMap({ Int32($0) }), let payload = Self.payload()
    else { return WorkMode.broken }
    let work = WorkAttempt(
      witness: witness, mode: .command, key: key, ticket: ChaosTicket(day: day, number: number),
      number: attempt, payload: payload)
    do throws(SystemError) {
      guard let lock = try witness.lock(key) else {
        _ = work.note(.overlap)
        return WorkMode.broken
      }
      guard work.note(.begin) else { return WorkMode.broken }
      let conduct = WorkConduct(payload, attempt: attempt)
      if conduct.ignoresTerm { signal(SIGTERM, SIG_IGN) }
      if conduct.descendant != .none {
        try leaveBehind(
          generations: conduct.descendant == .daemon ? 1 : 0, of: [key, String(day), String(number)],
          holding: try lock.share(), keepsPipe: conduct.keepsPipe,
          environment: conduct.clearsEnvironment ? [:] : Environment.all())
      }
      return withExtendedLifetime(lock) {
        WorkMode.pause(conduct.milliseconds)
        return finish(work, conduct)
      }
    } catch {
      return WorkMode.broken
    }
  }

  private func finish(_ work: WorkAttempt, _ conduct: WorkConduct) -> Int32 {
    switch conduct.end {
    case .well:
      let output = FileDescriptor(owning: STDOUT_FILENO)
      guard (try? output.writeAll(WorkConduct.result(of: work.payload))) != nil, work.note(.end) else {
        return WorkMode.broken
      }
      return 0
    case .later: return 75
    case .fails: return 1
    case .crashes:
      kill(getpid(), SIGKILL)
      return WorkMode.broken
    case .hangs:
      WorkMode.pause(Self.forever)
      return 0
    }
  }

  /// Runs a descendant that outlives its command. The last of its generations ignores SIGTERM, and exits by itself only
  /// after ten minutes.
  ///
  /// - Parameters:
  ///   - generations: number of intermediate processes that exit, before the last one stays.
  ///   - customer: key, day and ticket, as arguments, because the environment may be empty.
  func outlive(generations: Int, of customer: [String]) -> Int32 {
    signal(SIGTERM, SIG_IGN)
    guard generations > 0 else {
      WorkMode.pause(Self.forever)
      return 0
    }
    do throws(SystemError) {
      try leaveBehind(
        generations: generations - 1, of: customer, holding: FileDescriptor(owning: 3), keepsPipe: true,
        environment: Environment.all())
      return 0
    } catch {
      return WorkMode.broken
    }
  }

  private func leaveBehind(
    generations: Int, of customer: [String], holding lock: consuming FileDescriptor, keepsPipe: Bool,
    environment: Variables
  ) throws(SystemError) {
    let words = [WorkMode.descendant.rawValue, mark, witness.directory, String(generations)] + customer
    _ = try ChildProcess.spawn(
      executable: try Paths.executable(), arguments: words, environment: environment, channel: lock,
      standardOutput: keepsPipe ? .inherit : .null, standardError: keepsPipe ? .inherit : .null,
      newSession: true)
  }

  private static func payload() -> [UInt8]? {
    let input = FileDescriptor(owning: STDIN_FILENO)
    return try? input.readAll(limit: 2 << 20)
  }
}
