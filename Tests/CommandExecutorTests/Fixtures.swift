// Fixtures of a window of commands: its orders, its customers, a provider in this process, and the built
// executable with the other end of its channel. Invariant: a wait has an end; all processes with the key of a
// fixture are ended with it, however the test ends. Failure: an error that the test throws.
import BankModel
import CommandRunner
import Glibc
import Logging
import Posix
import PosixFixture
import Teller
import Testing
import Time
import Transport
import Wire

@testable import CommandExecutor

let patience = TimeSpan.seconds(120)

/// The orders of a window whose command is a shell script.
func settings(
  _ script: String = "exit 0", timeout: Int64? = nil, grace: Int64 = 10_000,
  change: (inout CommandSettings) -> Void = { _ in }
) -> TellerSettings {
  var command = CommandSettings(
    words: ["sh", "-c", script], directory: nil, environment: ["PATH=/usr/local/bin:/usr/bin:/bin"],
    timeoutMilliseconds: timeout, graceMilliseconds: grace, limits: CommandSettings.Limits(),
    resultBytes: Int64(TruncatedOutput.longest), outputBytes: 0, outputDirectory: "", meanings: [])
  change(&command)
  return TellerSettings(
    name: "thumbs-1", service: Service(number: 4), generation: 1, workMicroseconds: 0,
    beatMicroseconds: 1_000_000, language: .english, logPath: "", logLimit: 1 << 20, logKeep: 1,
    logsCustomers: true, command: command)
}

func assignment(_ ticket: Int64 = 7, attempt: Int32 = 1, payload: [UInt8]? = nil, key: String = "k")
  -> Assignment
{
  let customer = Customer(
    ticket: ticket, service: Service(number: 4), priority: .regular, amount: 0, account: 0,
    issuedAt: WallTime(milliseconds: 0))
  var assignment = Assignment(
    day: 3, customer: customer, lease: Lease(ticket: ticket, attempt: attempt, generation: 1))
  assignment.order = OrderID(key)
  assignment.payload = payload
  return assignment
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ excerpt: TruncatedOutput) -> String { String(decoding: excerpt.bytes, as: UTF8.self) }

/// A key that no other process of this machine was started with.
func freshKey() -> String { "test-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())" }

/// All live processes that were started with a key, also below this process.
func working(key: String) -> [pid_t] {
  let setting = bytes("BANK_KEY=\(key)")[...]
  return ProcessTable.all().filter { pid in
    guard let file = try? FileDescriptor.open("/proc/\(pid)/environ", .readOnly),
      let all = try? file.readAll()
    else { return false }
    return all.split(separator: 0).contains(setting) && ProcessTable.alive(pid)
  }
}

/// Ends all processes that were started with a key.
func clear(key: String) {
  for pid in working(key: key) { kill(pid, SIGKILL) }
}

/// A provider in this process, which adopts no processes: other tests have children, too.
final class ProviderFixture {
  let loop: EventLoop
  let provider: CommandProvider
  let key = freshKey()
  var answers: [ProvisionResult] = []
  var complaints: [String] = []
  private(set) var isProviding = false

  init(_ settings: TellerSettings, home: String? = nil) throws {
    Signals.ignorePipe()
    loop = try EventLoop()
    var reportError: (String) -> Void = { _ in }
    provider = CommandProvider(loop: loop, home: home) { reportError($0) }
    reportError = { [unowned self] in complaints.append($0) }
    provider.onResult = { [unowned self] _, provisionResult in
      #expect(!isProviding)
      answers.append(provisionResult)
    }
    provider.begin(settings)
  }

  deinit { clear(key: key) }

  /// Assigns a customer, as a worker does it.
  func provide(_ ticket: Int64 = 7, attempt: Int32 = 1, payload: [UInt8]? = nil) {
    isProviding = true
    provider.provide(assignment(ticket, attempt: attempt, payload: payload, key: key))
    provider.finishIteration()
    isProviding = false
  }

  /// Runs the loop until the condition holds.
  func wait(until condition: () throws -> Bool) throws {
    let end = SystemClock.monotonic() + patience
    while try !condition() {
      try #require(SystemClock.monotonic() < end, "nothing has come for two minutes: \(answers)")
      // Conditions outside of this loop are checked again soon.
      let soon = SystemClock.monotonic() + .milliseconds(20)
      try loop.runOnce(until: .earlier(provider.nextDeadline, soon))
      provider.finishIteration()
    }
  }

  /// The answer for a customer.
  func answer(_ ticket: Int64 = 7, attempt: Int32 = 1, payload: [UInt8]? = nil) throws -> ProvisionResult {
    answers = []
    provide(ticket, attempt: attempt, payload: payload)
    try wait { !answers.isEmpty }
    return try #require(answers.count == 1 ? answers.first : nil)
  }

  /// The result of a served customer.
  func result(payload: [UInt8]? = nil) throws -> WorkResult {
    let answer = try answer(payload: payload)
    guard case .worked(let result) = answer else {
      Issue.record("\(answer)")
      return WorkResult(duration: .zero)
    }
    return result
  }

  /// The reason why a customer is not served.
  func failure(payload: [UInt8]? = nil) throws -> WorkFailure {
    let answer = try answer(payload: payload)
    guard case .failed(let failure) = answer else {
      Issue.record("\(answer)")
      return WorkFailure("")
    }
    return failure
  }
}

/// The answer for one customer of a script.
func served(
  _ script: String, payload: [UInt8]? = nil, change: (inout CommandSettings) -> Void = { _ in }
) throws -> WorkResult { try ProviderFixture(settings(script, change: change)).result(payload: payload) }

/// The reason why the customer of a script is not served.
func refused(
  _ script: String, payload: [UInt8]? = nil, change: (inout CommandSettings) -> Void = { _ in }
) throws -> WorkFailure { try ProviderFixture(settings(script, change: change)).failure(payload: payload) }

/// The built executable as a child, and the coordinator's end of its channel.
final class SpawnedRunner {
  let loop: EventLoop
  let child: ChildProcess
  let key = freshKey()
  let directory: String
  private let coordinator: MessageChannel<TellerMessage, MessageToTeller>
  private(set) var heard: [TellerMessage] = []
  private(set) var hasHungUp = false

  init() throws {
    let pair = try UnixSocket.pair()
    loop = try EventLoop()
    directory = "/tmp/command-window-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
    try Directory.create(path: directory)
    child = try ChildProcess.spawn(
      executable: Paths.join(Paths.directory(of: try Paths.executable()), "bank-runner"),
      arguments: ["thumbs-1", "1", "\(CurrentProcess.pid)", directory],
      environment: ["PATH": "/usr/bin:/bin", "BANK_HOME": directory, "SECRET": "s"], channel: pair.second,
      standardError: .append(path: Paths.join(directory, "stderr")))
    coordinator = try MessageChannel(
      descriptor: pair.first, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 4 << 20)
    coordinator.onMessage = { [unowned self] in heard.append($0) }
    coordinator.onEnd = { [unowned self] _ in hasHungUp = true }
  }

  deinit {
    child.end()
    clear(key: key)
    Directory.removeTree(directory)
  }

  func say(_ message: MessageToTeller) {
    coordinator.send(message)
    coordinator.flush()
  }

  func hangUp() { coordinator.close() }

  func assign(_ ticket: Int64 = 7, payload: [UInt8]? = nil) {
    say(.assign(assignment(ticket, payload: payload, key: key)))
  }

  /// Runs the loop until the condition holds.
  func wait(until condition: () throws -> Bool) throws {
    let end = SystemClock.monotonic() + patience
    while try !condition() {
      let said = (try? complaints()) ?? ""
      try #require(
        SystemClock.monotonic() < end, "nothing has come for two minutes: \(heard), \(said)")
      try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(10))
    }
  }

  func welcome(_ settings: TellerSettings) throws {
    say(.welcome(settings))
    try wait { heard.contains(.ready) }
  }

  /// The last message, if it is an answer.
  var answer: TellerMessage? {
    switch heard.last {
    case .worked, .failed, .returned: heard.last
    default: nil
    }
  }

  func complaints() throws -> String { try contents(of: Paths.join(directory, "stderr")) }

  /// Live processes that were started with the key of this fixture.
  var working: [pid_t] { CommandExecutorTests.working(key: key) }

  /// Its end, waited for no longer than for anything else.
  func ending() throws -> Posix.ExitStatus.Termination {
    try wait { child.reap() != nil }
    return try #require(child.exitStatus).ending
  }
}
