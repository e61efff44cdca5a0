// One branch of a chaos run over several: its home, its processes, its connection to the server, and the
// customers at its windows.
// Invariant: `bankctl` opens the branch, as a user would, without blocking the run.
// Errors: if the branch cannot be opened, another attempt follows, until the run ends.
import ControlClient
import Glibc
import Posix
import Time

final class SharedChaosBranch {
  /// How a branch reaches the server, so that it can be cut off: directly, through a network of its own, or through a
  /// relay.
  enum Route {
    case direct
    case network(ChaosNetwork)
    case relay(ChaosRelayProcess)
  }

  let number: Int
  let bank: ChaosBank
  let monitor: ChaosMonitor
  let route: Route
  /// Application name of its sessions at the server.
  let application: String
  /// Customers whose start was reported, without a completion.
  private(set) var servingCustomers: Set<ChaosTicket> = []
  /// Called for each start (false) and each completion (true).
  var onEvent: (ChaosTicket, Bool) -> Void = { _, _ in }
  /// Address of the database, as the branch uses it.
  private let address: String
  private let speed: String
  private let mark: String
  /// The running `bankctl start`; nil if there is none.
  private var opening: ChildProcess?
  /// Time at which the branch is to be opened; nil if it is open, is being opened, or recovers by itself.
  private var openAt: MonotonicTime?
  /// Time at which the branch is reconnected; nil if it is not cut off.
  private(set) var reconnectAt: MonotonicTime?

  init(
    _ number: Int, _ home: BankHome, mark: String, route: Route, address: String, application: String,
    speed: String,
    on loop: EventLoop
  ) {
    (self.number, self.route, self.address, self.application, self.speed) = (
      number, route, address, application, speed
    )
    self.mark = mark
    bank = ChaosBank(home, mark: mark)
    monitor = ChaosMonitor(home, on: loop)
    openAt = SystemClock.monotonic()
    monitor.onStarted = { [unowned self] in
      servingCustomers.insert($0)
      onEvent($0, false)
    }
    monitor.onCompleted = { [unowned self] in
      servingCustomers.remove($0)
      onEvent($0, true)
    }
  }

  /// True if the branch was closed by a fault, is being opened, is cut off, or its coordinator is stopped.
  var isInTrouble: Bool {
    openAt != nil || opening != nil || reconnectAt != nil || bank.isStopped(.coordinator)
  }

  /// True if the branch is in no trouble, and its coordinator answers and has reported a ready teller at every window.
  var isHealthy: Bool {
    guard !isInTrouble, let snapshot = monitor.snapshot else { return false }
    return snapshot.state == .open && monitor.opened == snapshot.pid
  }

  /// Runs the monitor, and continues, reconnects or opens the branch if its time has come.
  func runIteration(_ now: MonotonicTime) {
    monitor.runIteration(now)
    bank.resume(now)
    if let reconnectAt, now >= reconnectAt { reconnect() }
    if let child = opening, let status = child.reap() {
      opening = nil
      // Exit code 5 is a refusal: the branch is already open.
      if !status.isSuccess, status.ending != .code(5) { openAt = now + .milliseconds(500) }
    }
    if let openAt, now >= openAt, opening == nil { open() }
  }

  /// Starts the branch with `bankctl start`, without waiting for it.
  private func open() {
    openAt = nil
    guard let own = try? Paths.executable() else { return }
    let program = Paths.join(Paths.directory(of: own), "bankctl")
    var commandPrefix = [
      program, "--home", bank.home.path, "start", "--store", address, "--speed", speed, "--deposit", "2",
      "--loan",
      "1", "--juice", "0",
    ]
    if case .network(let network) = route { commandPrefix = network.commandPrefix + commandPrefix }
    var environment = Environment.all()
    // The user's own settings of a bank must not affect this bank.
    for name in ["BANK_HOME", "BANK_CONFIG", "BANK_CONFIG_DEFAULT", "BANK_STORE"] { environment[name] = nil }
    environment[ChaosBank.variable] = mark
    opening = try? ChildProcess.spawn(
      executable: ChaosTool.find(commandPrefix[0]) ?? commandPrefix[0],
      arguments: Array(commandPrefix.dropFirst()),
      environment: environment,
      standardOutput: .null, standardError: .append(path: bank.home.path + ".opening"), newSession: true)
  }

  // MARK: - Faults

  /// Kills all processes of the branch, which is opened again at the given time.
  func kill(until moment: MonotonicTime) {
    opening?.end()
    opening = nil
    bank.end()
    servingCustomers = []
    openAt = moment
  }

  /// Returns the customers at the windows of the branch, and forgets them.
  func takeAtWindows() -> Set<ChaosTicket> {
    defer { servingCustomers = [] }
    return servingCustomers
  }

  /// Cuts the branch off from the server until the given time. Returns false if that is not possible.
  func cut(until moment: MonotonicTime) -> Bool {
    switch route {
    case .direct: return false
    case .network(let network): guard network.cut() else { return false }
    case .relay(let relay): relay.cut()
    }
    reconnectAt = moment
    return true
  }

  /// Restores the connection to the server, if the branch was cut off.
  func reconnect() {
    guard reconnectAt != nil else { return }
    reconnectAt = nil
    switch route {
    case .direct: break
    case .network(let network): network.reconnect()
    case .relay(let relay): relay.reconnect()
    }
  }

  /// Ends the processes of the branch and its network or relay.
  func end() {
    opening?.end()
    bank.end()
    switch route {
    case .direct: break
    case .network(let network): network.remove()
    case .relay(let relay): relay.end()
    }
  }
}
