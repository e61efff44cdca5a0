// One bank under measurement: starts its coordinator as a child of this process, sends requests, and ends it.
// `stop` or `kill` ends the coordinator.
import BankModel
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// Windows and settings of a bank under measurement.
struct BankSetting {
  /// Number of windows for each service.
  var deposit: Int64 = 2
  var loan: Int64 = 1
  var juice: Int64 = 0
  /// Speed of simulated work; `max` for work that takes no time.
  var speed: String? = "max"
  /// Path of the configuration file; nil for the default settings.
  var configuration: String?
  /// Address of the shared database; nil for a bank with a database in its home.
  var store: String?
}

final class BenchBank {
  let home: BankHome
  private let launched: LaunchedBank

  /// Starts a bank, and waits until it is open.
  init(_ bench: Bench, home: BankHome? = nil, _ setting: BankSetting = BankSetting()) throws {
    let home = home ?? bench.newHome()
    self.home = home
    launched = try bench.launcher.launch(Self.order(setting, home: home))
    guard case .status = try ask(.awaitOpen) else {
      throw BenchFailure("the bank at \(home.path) did not open")
    }
  }

  /// The settings with which the bank is started.
  static func order(_ setting: BankSetting, home: BankHome) -> LaunchSettings {
    var order = LaunchSettings(
      .open, home: home, configuration: setting.configuration, deposit: setting.deposit, loan: setting.loan,
      juice: setting.juice, speed: setting.speed)
    order.store = setting.store
    return order
  }

  var pid: pid_t { launched.process.pid }

  /// Sends a request on the bank's own connection. Returns the last part of the answer.
  @discardableResult
  func ask(_ command: ControlCommand) throws -> ControlAnswer {
    try Self.ask(command, on: launched.connection)
  }

  /// Sends a request on a connection, and returns the last part of the answer. Earlier parts are ignored.
  @discardableResult
  static func ask(_ command: ControlCommand, on connection: ControlConnection) throws -> ControlAnswer {
    let number = try connection.send(command)
    while let reply = try connection.next(until: nil) {
      guard reply.number == number, !reply.more else { continue }
      guard case .failure(let failure) = reply.answer else { return reply.answer }
      throw BenchFailure("the bank refused: \(failure.code.name) \(failure.subject) \(failure.detail)")
    }
    throw ControlError.timedOut(what: "a response")
  }

  func status() throws -> StatusReport {
    guard case .status(let report) = try ask(.status) else { throw BenchFailure("no status was sent") }
    return report
  }

  /// Enqueues customers with one request. Returns when they are on disk.
  func enqueue(_ count: Int64, _ service: ServiceName? = nil) throws {
    try ask(.enqueue(Self.order(count, service)))
  }

  /// A request for customers.
  static func order(_ count: Int64, _ service: ServiceName? = nil, itemName: String? = nil)
    -> EnqueueParameters
  {
    EnqueueParameters(
      count: count, service: service, priority: .regular, amount: nil, account: nil, seed: 1, key: nil,
      itemName: itemName)
  }

  /// Opens another connection to the bank.
  func connect() throws -> ControlConnection { try home.connect() }

  /// Ends the bank; waiting customers stay in its database.
  func stop() throws {
    try ask(.stop(StopParameters(now: true, timeoutMilliseconds: nil)))
    _ = launched.awaitExit(until: SystemClock.monotonic() + .seconds(30))
  }

  /// Ends the bank, and removes its home.
  func discard() throws {
    try stop()
    Directory.removeTree(home.path)
  }

  /// Kills the coordinator, and waits until it has exited.
  func kill() {
    launched.process.kill(SIGKILL)
    _ = launched.process.wait()
  }
}
