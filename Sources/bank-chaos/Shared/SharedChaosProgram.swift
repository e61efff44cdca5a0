// A chaos run over several branches that share a bank: the server, the homes, the run, and the comparison at
// the end.
// Invariant: no process of the run is left when it returns, and no file of a scratch home unless a promise
// was broken.
// Errors: CommandError if the run could not be made; a broken promise is exit code 1 and a report.
import BankModel
import BankctlCommands
import ControlClient
import Glibc
import Posix
import Time
import Wire

struct SharedChaosProgram {
  private let session: Session
  private let count: Int
  private let seed: Int64
  private let name: String
  /// Directory of the homes and all other files of the run, except those of a scratch server.
  private let place: String
  private let tool: ChaosTool
  private let plan: SharedPlan
  private let isScratch: Bool
  private let loop: EventLoop

  /// Runs the chaos, shows its report, and removes all files unless a promise was broken.
  static func run(_ session: Session, branches count: Int, seed: Int64) throws(CommandError) -> ProgramExit {
    let place = "/tmp/bank-chaos-\(String(RandomSeed.fromSystem() >> 20, radix: 36))"
    let program = try SharedChaosProgram(session, count, seed, place)
    do throws(SystemError) { try Directory.create(path: place, recursive: false) } catch {
      throw .system(error)
    }
    var keeps = false
    defer { if !keeps { Directory.removeTree(place) } }
    let report = try program.run()
    keeps = !report.account.isClean
    try session.show(
      report.document(session.messages),
      or: report.lines(session.messages, session.output.palette, within: session.columns))
    return report.account.isClean ? .done : .failed
  }

  private init(_ session: Session, _ count: Int, _ seed: Int64, _ place: String) throws(CommandError) {
    (self.session, self.count, self.seed, self.place) = (session, count, seed, place)
    name = "chaos-\(String(RandomSeed.fromSystem() >> 20, radix: 36))"
    tool = ChaosTool(scratch: place)
    isScratch = session.invocation.text("store") == nil
    guard session.invocation.text("home") == nil else { throw .usage(session.messages.chaosHasItsOwnHomes) }
    for option in ["stop", "cut"] where session.invocation.flag(option) {
      throw .usage(session.messages.chaosNotOverBranches(option))
    }
    let faults = try Self.faults(session, isScratch: isScratch)
    plan = SharedPlan(
      seed: UInt64(bitPattern: seed), faults: faults,
      every: session.invocation.duration("interval") ?? .milliseconds(500),
      lasts: session.invocation.duration("for") ?? ChaosRun.Limits().time)
    do throws(SystemError) { loop = try EventLoop() } catch { throw .system(error) }
  }

  /// The faults that the server allows, or those of them that `--targets` names.
  private static func faults(_ session: Session, isScratch: Bool) throws(CommandError) -> [SharedFault] {
    let possible = SharedFault.allCases.filter { isScratch || !$0.needsScratch }
    guard let list = session.invocation.text("targets") else { return possible }
    var chosen: [SharedFault] = []
    for name in list.split(separator: ",", omittingEmptySubsequences: false) {
      let fault = possible.first {
        name == $0.rawValue || name == $0.rawValue + "s" || name == $0.rawValue + "es"
      }
      guard let fault else { throw .usage(session.messages.unknownFault(String(name), possible)) }
      if !chosen.contains(fault) { chosen.append(fault) }
    }
    return chosen
  }

  /// Starts server and branches, runs the chaos, and makes the report.
  private func run() throws(CommandError) -> SharedChaosReport {
    session.note(session.messages.chaosBegins(seed: seed, branches: count))
    let server = try self.server()
    defer { server.remove() }
    let networks = isScratch ? self.networks() : [:]
    var branches: [SharedChaosBranch] = []
    defer { for branch in branches { branch.end() } }
    if isScratch {
      try server.admit(networks.keys.sorted().compactMap { networks[$0] })
      guard server.start() else { throw .failed(session.messages.chaosServerSilent) }
    } else {
      try checkIsEmpty(server)
    }
    do throws(SystemError) {
      for number in 1...count { branches.append(try branch(number, server, networks[number])) }
    } catch { throw .system(error) }
    let start = SystemClock.monotonic()
    let run = try chaos(branches, server)
    var report = SharedChaosReport(
      seed: seed, place: place, branches: count, account: try account(run, server))
    report.counts = run.counts
    report.elapsed = SystemClock.monotonic().since(start)
    report.gaps = run.gaps.mapValues { ChaosTimes($0) }
    report.gaps[.teller] = ChaosTimes(branches.flatMap(\.monitor.reserveTimes))
    report.gaps[.coordinator] = ChaosTimes(branches.flatMap(\.monitor.recoverTimes))
    report.networkRoutes = branches.count { if case .network = $0.route { true } else { false } }
    report.snapshot = run.snapshot.longest
    report.relayRoutes = branches.count { if case .relay = $0.route { true } else { false } }
    if !isScratch, report.account.isClean { _ = server.sql("DROP SCHEMA IF EXISTS bank CASCADE") }
    return report
  }

  // MARK: - Resources

  /// The existing server of `--store`, or a new scratch server.
  private func server() throws(CommandError) -> ChaosServer {
    if let address = session.invocation.text("store") { return ChaosServer(at: address, tool) }
    return try ChaosServer(scratch: tool, session)
  }

  /// Refuses a database that already contains a bank.
  private func checkIsEmpty(_ server: ChaosServer) throws(CommandError) {
    guard let found = server.sql("SELECT to_regnamespace('bank') IS NULL") else {
      throw .failed(session.messages.chaosServerSilent)
    }
    guard found == "t" else { throw .commandFailure(as: .wrongState, session.messages.chaosNeedsNoBank) }
  }

  /// Makes a network for every second branch, if this process can. The other branches of a scratch server use a
  /// relay.
  private func networks() -> [Int: ChaosNetwork] {
    var networks: [Int: ChaosNetwork] = [:]
    let run = UInt8(truncatingIfNeeded: CurrentProcess.pid)
    for number in stride(from: 1, through: count, by: 2) {
      networks[number] = ChaosNetwork((run, UInt8(number)), tool)
    }
    return networks
  }

  /// Makes a branch, with its home and its route to the server.
  private func branch(
    _ number: Int, _ server: ChaosServer, _ network: ChaosNetwork?
  ) throws(SystemError) -> SharedChaosBranch {
    let home = BankHome(path: Paths.join(place, "\(number)"))
    try Directory.create(path: home.path, recursive: false)
    let application = "\(name)-\(number)"
    var route = SharedChaosBranch.Route.direct
    var address = isScratch ? "" : server.givenAddress(application: application)
    if let network {
      (route, address) = (.network(network), server.address(on: network, application: application))
    } else if isScratch {
      let relay = try ChaosRelayProcess(Paths.join(place, "way-\(number)"), to: server, mark: name)
      var chance = SeededGenerator(seed: UInt64(bitPattern: seed) &+ UInt64(number))
      relay.delay(.milliseconds(chance.draw(0...10)))
      (route, address) = (.relay(relay), server.address(through: relay.directory, application: application))
    }
    return SharedChaosBranch(
      number, home, mark: application, route: route, address: address, application: application,
      speed: session.invocation.speed("speed")?.description ?? "50", on: loop)
  }

  // MARK: - The run and its comparison

  /// Injects faults until a limit is reached, while clients add customers.
  private func chaos(_ branches: [SharedChaosBranch], _ server: ChaosServer) throws(CommandError)
    -> SharedChaosRun
  {
    var limits = ChaosRun.Limits()
    if let time = session.invocation.duration("for") { limits.time = time }
    if let count = session.invocation.integer("max-kills") { limits.kills = count }
    if let count = session.invocation.integer("customers") { limits.customers = count }
    let traffic = ChaosTraffic(
      branches.map(\.bank.home), on: loop, seed: UInt64(bitPattern: seed), name: name, limit: limits.customers
    )
    let meter = ProgressMeter(messages: session.messages)
    do throws(SystemError) {
      let run = try SharedChaosRun(branches, server, on: loop, plan: plan, traffic: traffic, limits: limits)
      defer { run.snapshot.end() }
      try run.run {
        meter.update(
          session.messages.chaosProgress(run.counts, acknowledged: traffic.ledger.acknowledged),
          done: run.completions, total: 0)
      }
      meter.finish()
      return run
    } catch { throw .system(error) }
  }

  /// Closes the bank, and compares what it has stored with what the clients received.
  private func account(_ run: SharedChaosRun, _ server: ChaosServer) throws(CommandError) -> ChaosCheckResult
  {
    var evidence = ChaosCheckResult.Evidence()
    evidence.isOrdered = false
    evidence.ledger = run.traffic.ledger
    evidence.recovered = run.recovered
    var inner = session
    inner.home = run.branches[0].bank.home
    var closing = ChaosShutdown(inner)
    closing.closesWholeBank = true
    if run.recovered {
      try closing.drain {}
      evidence.orphans = stragglers(run.branches).map { ($0.pid, $0.window ?? $0.kind.rawValue) }
    }
    for branch in run.branches { branch.bank.end() }
    evidence.receipts = try closing.receipts(after: 0)
    evidence.audit =
      try closing.audit()
      + run.traffic.refusals.map {
        MessageDetail(quoting: session.messages.sentence($0, home: inner.home.path))
      }
    return ChaosCheckResult(evidence)
  }

  /// Waits for a limited time until the processes of the closed branches have exited, and returns those that have
  /// not.
  ///
  /// A branch detects by itself that the bank has closed.
  private func stragglers(_ branches: [SharedChaosBranch]) -> [ChaosProcess] {
    let deadline = SystemClock.monotonic() + .seconds(30)
    while true {
      let left = branches.flatMap { $0.bank.census() }
      if left.isEmpty || SystemClock.monotonic() >= deadline { return left }
      Pause.momentarily()
    }
  }
}
