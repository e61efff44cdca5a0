// Duration of the interruption after a kill. After the kill of a teller, the interruption ends when the teller's
// customer is started again. After the kill of the coordinator, it ends when the successor has served the first
// customer. The clock starts before kill(2).
import ControlClient
import Glibc
import Posix
import Supervision
import Time
import Wire

extension Bench {
  /// Measures the time until customers are served again after kills of tellers, and after kills of the coordinator.
  func measureRecovery() throws {
    try measureTellerKills("teller killed: its customer is started at its successor", windows: 1)
    try measureTellerKills("teller killed: its customer is started at an idle colleague", windows: 2)
    try measureCoordinatorKills()
  }

  /// Writes a configuration with long work, in which a customer survives many crashes.
  func patientConfiguration() throws -> String {
    try file("patient.json", #"{"work":{"deposit":"1h","loan":"1h"},"max_crashes":1000}"#)
  }

  /// Kills the teller that serves the only customer, again and again, and measures the time until the customer is
  /// started again.
  private func measureTellerKills(_ name: String, windows: Int64) throws {
    let setting = BankSetting(
      deposit: windows, loan: 0, speed: nil, configuration: try patientConfiguration())
    let bank = try BenchBank(self, setting)
    let eventConnection = try bank.connect()
    _ = try eventConnection.send(.follow)
    try bank.enqueue(1, .deposit)
    try awaitEvent(.started, on: eventConnection)
    var figures: [Double] = []
    for _ in 0..<scale.tellerKills {
      let victim = try awaitWorker(of: bank) { $0.state == .serving && $0.pid > 0 }
      // A worker that is killed soon after its start may be replaced only after a pause, so this one runs long enough.
      try rest(RestartPolicy().stableAfter)
      let begin = SystemClock.monotonic()
      kill(victim, SIGKILL)
      try awaitEvent(.started, on: eventConnection)
      figures.append(SystemClock.monotonic().since(begin).inMilliseconds)
    }
    // The customer's work takes long, so the bank is killed instead of closed.
    bank.kill()
    Directory.removeTree(bank.home.path)
    let samples = Samples(figures)
    add("recovery", name, "ms", samples, target: .below(3))
    add("recovery", "  the slowest of a hundred", "ms", Samples(samples.percentile(99)), target: .below(15))
  }

  /// Waits until all workers are ready. Returns the pid of the first wanted one.
  private func awaitWorker(of bank: BenchBank, _ isWanted: (WorkerReport) -> Bool) throws -> pid_t {
    let end = SystemClock.monotonic() + .seconds(30)
    while SystemClock.monotonic() < end {
      let workers = try bank.status().workers
      guard workers.allSatisfy({ $0.state == .serving || $0.state == .idle }) else { continue }
      if let worker = workers.first(where: isWanted) { return worker.pid }
    }
    throw BenchFailure("the bank at \(bank.home.path) did not recover within 30 s")
  }

  /// Waits until a customer is reported as started, interrupted or completed.
  func awaitEvent(_ kind: AttemptEvent.CustomerEvent, on eventConnection: ControlConnection) throws {
    let end = SystemClock.monotonic() + .seconds(30)
    while let reply = try eventConnection.next(until: end) {
      if case .event(let event) = reply.answer, event.phase == kind { return }
    }
    throw ControlError.timedOut(what: "a \(kind) customer")
  }

  /// Kills the coordinator of a bank with waiting customers, and starts the next one.
  private func measureCoordinatorKills() throws {
    let home = newHome()
    var bank = try BenchBank(self, home: home)
    try bank.ask(.pause(nil))
    try bank.enqueue(scale.bulkCustomers)
    try bank.ask(.resume(nil))
    var figures: [Double] = []
    for _ in 0..<scale.coordinatorKills {
      let begin = SystemClock.monotonic()
      bank.kill()
      let successor = try launcher.launch(BenchBank.order(BankSetting(), home: home))
      _ = try successor.connection.send(.follow)
      try awaitEvent(.completed, on: successor.connection)
      figures.append(SystemClock.monotonic().since(begin).inMilliseconds)
      successor.process.kill(SIGKILL)
      _ = successor.process.wait()
      bank = try BenchBank(self, home: home)
    }
    try bank.discard()
    add(
      "recovery", "coordinator killed and started: the first customer is served", "ms", Samples(figures),
      target: .below(250), note: "about \(NumberFormat.grouped(scale.bulkCustomers)) waiting")
  }
}
