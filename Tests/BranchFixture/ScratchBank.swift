// Scratch bank: a home of its own and the programs that use it. Nothing of it is left after the test, however the test
// ends. It drives the built programs only. Failure: Trouble, with a snapshot of the bank if there is one.
import Foundation
import Glibc
import Testing

public enum OutputLanguage: String, CaseIterable, Sendable {
  case ko, en
}

public final class ScratchBank {
  private let scratch: String
  public let home: String
  public let processes: ProcessTable
  /// Duration of the last `start`.
  private var startDuration = Duration.zero
  private var programs: [RunningProgram] = []
  /// Cleanup of what a test has set up besides processes and files. It runs after the last process has exited.
  private var fixtures: [() -> Void] = []

  fileprivate init() throws {
    // Short, because the address of a socket has 108 bytes. The name contains the pid of this process: scripts/test
    // uses it to remove what a killed test run has left, and nothing that is in use.
    var template = Array("/tmp/branch-\(getpid())-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw TestFailure("cannot make a directory in /tmp") }
    scratch = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    home = scratch + "/home"
    processes = ProcessTable(branch: scratch)
    for name in ["io", "elsewhere"] { mkdir("\(scratch)/\(name)", 0o700) }
  }

  /// Path of a file of the test.
  public func path(_ name: String) -> String { "\(scratch)/\(name)" }

  /// Writes a file of the test and returns its path.
  public func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// Starts a program and returns at once; the branch ends it if the test does not.
  public func launch(
    _ arguments: [String], program: String = Binaries.bankctl, language: OutputLanguage? = .en,
    environment: [String: String] = [:], input: String = "", inputDescriptor: Int32? = nil
  ) throws -> RunningProgram {
    var variables = [
      "PATH": "/usr/bin:/bin", "HOME": path("elsewhere"), "LANG": "C.UTF-8", "TERM": "dumb",
      "BANK_HOME": home,
      ProcessTable.mark: scratch,
    ]
    if let language { variables["BANK_LANG"] = language.rawValue }
    variables.merge(environment) { $1 }
    let running = try RunningProgram(
      [program] + arguments, environment: variables, files: path("io/\(programs.count)"), input: input,
      inputDescriptor: inputDescriptor)
    programs.append(running)
    return running
  }

  /// Runs bankctl until it exits.
  @discardableResult
  public func run(
    _ arguments: String..., language: OutputLanguage? = .en, environment: [String: String] = [:],
    input: String = "",
    timeout: Duration = .seconds(30), at location: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try launch(arguments, language: language, environment: environment, input: input)
      .finish(within: timeout, at: location)
  }

  /// Runs bankctl, which must succeed, and returns its outcome.
  @discardableResult
  public func runSuccessfully(
    _ arguments: String..., language: OutputLanguage? = .en, input: String = "",
    timeout: Duration = .seconds(30),
    at location: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let outcome = try launch(arguments, language: language, input: input).finish(
      within: timeout, at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    return outcome
  }

  /// Runs bankctl with `--json`, which must succeed, and returns its document.
  @discardableResult
  public func json(
    _ arguments: String..., input: String = "", timeout: Duration = .seconds(30),
    at location: SourceLocation = #_sourceLocation
  ) throws -> JSON {
    let outcome = try launch(arguments + ["--json"], input: input).finish(within: timeout, at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    return try outcome.json()
  }

  /// Runs bankctl with `--json`, which must succeed, and returns its lines.
  public func lines(_ arguments: String..., at location: SourceLocation = #_sourceLocation) throws -> [JSON] {
    let outcome = try launch(arguments + ["--json"]).finish(at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    return try JSON.lines(outcome.out)
  }

  /// Limit for what must not wait for a lease, a stall check or a pause, which take ten seconds. If `start` takes long
  /// on a busy machine, the limit is ten times its duration.
  public var soon: Duration { max(.seconds(4), startDuration * 10) }

  /// Opens the bank with these arguments of `start`.
  @discardableResult
  public func start(
    _ arguments: String..., language: OutputLanguage = .en, at location: SourceLocation = #_sourceLocation
  ) throws -> JSON {
    let began = ContinuousClock.now
    let outcome = try launch(["start", "--json"] + arguments, language: language).finish(at: location)
    startDuration = ContinuousClock.now - began
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    return try outcome.json()
  }

  /// Current status, which must exist. The request is repeated if the coordinator is too busy to greet.
  public func status(at location: SourceLocation = #_sourceLocation) throws -> Status {
    var outcome = try launch(["status", "--json"]).finish(at: location)
    for _ in 1...2 where outcome.code == 75 {
      outcome = try launch(["status", "--json"]).finish(at: location)
    }
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
    return seen(Status(try outcome.json()))
  }

  /// Current status; nil if no coordinator answers, because it was killed a moment ago.
  public func statusIfAnswered() throws -> Status? {
    let outcome = try launch(["status", "--json"]).finish()
    return outcome.code == 0 ? seen(Status(try outcome.json())) : nil
  }

  /// Remembers the processes, so that they are recognised while they exit.
  private func seen(_ status: Status) -> Status {
    let pids = [status.pid] + status.workers.map(\.pid) + [status.guardianPid].compactMap { $0 }
    for pid in pids { _ = processes.isAlive(pid) }
    return status
  }

  /// Waits until a condition holds, polling it.
  ///
  /// - Parameter limit: Longest wait on an idle machine; see ``TimeLimits``.
  public func waitUntil(
    _ what: String, within limit: Duration = .seconds(15), at location: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
  ) throws {
    let deadline = ContinuousClock.now + TimeLimits.scaled(limit)
    while true {
      if try condition() { return }
      guard ContinuousClock.now < deadline else { break }
      Polling.pause(milliseconds: 2)
    }
    throw TestFailure("not true after \(limit): \(what)\n\(diagnostics())", at: location)
  }

  /// Current text of `logs/NAME.log`.
  public func log(_ name: String) -> String {
    String(
      decoding: (try? Data(contentsOf: URL(fileURLWithPath: "\(home)/logs/\(name).log"))) ?? Data(),
      as: UTF8.self)
  }

  /// Registers a cleanup that runs in any case, after the last process has exited and before files are removed.
  public func atClose(_ action: @escaping () -> Void) { fixtures.append(action) }

  /// Snapshot of the branch for a failure report: what a developer needs first.
  public func diagnostics() -> String {
    let status = try? launch(["status"]).finish(within: .seconds(3))
    let names = (try? FileManager.default.contentsOfDirectory(atPath: home + "/logs"))?.sorted() ?? []
    let logs = names.map { name in
      let text = (try? String(contentsOfFile: "\(home)/logs/\(name)", encoding: .utf8)) ?? ""
      return "--- \(name)\n" + text.split(separator: "\n").suffix(12).joined(separator: "\n")
    }
    let alive = processes.all().map { "\($0) \(processes.name($0))" }
    return ([status?.description ?? "(status did not answer)"] + alive + logs).joined(separator: "\n")
  }

  /// Ends all processes of this branch, guardians and coordinators before their children, and removes its files.
  fileprivate func close() {
    programs.forEach { $0.end() }
    let deadline = ContinuousClock.now + .seconds(30)
    var left = processes.all()
    while !left.isEmpty || processes.mayHaveStartingProcess(), ContinuousClock.now < deadline {
      // Stopped first, so that no process starts another one meanwhile. A process that was being started is found by
      // the next iteration.
      for signal in [SIGSTOP, SIGKILL] {
        for pid in left { processes.signal(pid, signal) }
      }
      Polling.pause(milliseconds: 2)
      left = processes.all()
    }
    fixtures.reversed().forEach { $0() }
    if !left.isEmpty { Issue.record("these processes survive SIGKILL: \(left.map(processes.name))") }
    try? FileManager.default.removeItem(atPath: scratch)
  }
}

/// Gives a test a branch and removes it afterwards.
public func withScratchBank(
  within limit: Duration = TimeLimits.wholeTest, _ test: (ScratchBank) throws -> Void
) throws {
  let branch = try ScratchBank()
  let watchdog = Watchdog(
    branch.processes.branch, Test.current.map { "\($0.id)" } ?? "a test without a name", limit: limit)
  defer {
    branch.close()
    if let arguments = watchdog.end() { Issue.record("\(arguments)") }
  }
  do {
    try test(branch)
  } catch let trouble as TestFailure {
    throw trouble
  } catch {
    // A failed expectation has already been recorded; this snapshot belongs to it.
    Issue.record("the branch when the test stopped:\n\(branch.diagnostics())")
    throw error
  }
}
