// The chaos run: kills the bank's processes at random times while clients add customers, and checks the promises
// against the answers that the clients have received.
// Invariant: no process of the run is left when it returns, and no file of a scratch home unless a promise was broken
// or the run failed after the bank had opened.
// Errors: CommandError if the run could not be made; a broken promise is exit code 1 and a report.
import BankModel
import BankctlCommands
import ControlClient
import Glibc
import Posix
import JSONOutput
import StockClient
import Time
import VendingClient
import Wire

enum ChaosProgram {
  /// Runs the chaos, shows its report, and removes a scratch home if every promise was kept.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    if let branches = session.invocation.integer("branches") {
      return try SharedChaosProgram.run(session, branches: Int(branches), seed: chosenSeed(session))
    }
    guard session.invocation.text("store") == nil else { throw .usage(session.messages.chaosWantsBranches) }
    // Report errors of the command line before a home exists.
    var rules = try rules(session)
    let seed = chosenSeed(session)
    // Only a home named on the command line is the user's own.
    let isScratch = session.invocation.text("home") == nil
    let home = isScratch ? try scratchHome() : session.home
    var inner = session
    inner.home = home
    let name = "chaos-\(String(RandomSeed.fromSystem(), radix: 36))"
    let bank = ChaosBank(home, mark: name)
    var (hasBegun, isClean) = (false, false)
    // A home without faults contains no evidence.
    defer { if isScratch, isClean || !hasBegun { Directory.removeTree(home.path) } }
    defer { bank.end() }
    let services = try isScratch ? services(home, mark: name) : nil
    defer { services?.end() }
    if services != nil, session.invocation.text("targets") == nil { rules.targets = ChaosTarget.allCases }
    let order = try launchOrder(inner, services, seed: seed)
    try bank.open(inner, order)
    let hasPage = isScratch ? try openPage(inner) : false
    rules.targets = try existing(rules.targets, hasPage: hasPage, inner)
    hasBegun = true
    let report = try chaos(inner, bank, order, rules, services, hasPage: hasPage, seed: seed, name: name)
    bank.end()
    isClean = report.account.isClean
    try session.show(
      report.document(session.messages),
      or: report.lines(session.messages, session.output.palette, within: session.columns))
    return isClean ? .done : .failed
  }

  /// The seed of the command line, or a random one.
  private static func chosenSeed(_ session: Session) -> Int64 {
    session.invocation.integer("seed") ?? Int64(RandomSeed.fromSystem() >> 33)
  }

  /// Maximum number of customers in flight at each teller of a scratch bank with an odd seed.
  private static let oddSeedPrefetch: Int64 = 4

  /// True if the tellers of a scratch bank hold several customers, which an odd seed selects.
  private static func prefetches(_ seed: Int64) -> Bool { seed % 2 != 0 }

  /// The kinds of faults and their mean pause, as the command line selects them.
  private static func rules(_ session: Session) throws(CommandError) -> ChaosRules {
    var rules = ChaosRules(stops: session.invocation.flag("stop"), cuts: session.invocation.flag("cut"))
    if let list = session.invocation.text("targets") { rules.targets = try targets(list, session.messages) }
    if let interval = session.invocation.duration("interval") { rules.every = interval }
    return rules
  }

  /// Prepares the services of commands and workers in a scratch home.
  private static func services(_ home: BankHome, mark: String) throws(CommandError) -> ChaosServices {
    do throws(SystemError) { return try ChaosServices(home, mark: mark) } catch { throw .system(error) }
  }

  /// Writes the configuration of a scratch bank.
  private static func configuration(
    of services: ChaosServices, seed: Int64, in home: BankHome
  ) throws(CommandError) -> String {
    let path = Paths.join(home.path, "bank.json")
    do throws(SystemError) {
      let file = try FileDescriptor.open(path, [.writeOnly, .create])
      try file.writeAll(Array(services.configuration(prefetch: prefetches(seed) ? oddSeedPrefetch : 1).utf8))
    } catch {
      throw .system(error)
    }
    return path
  }

  /// The settings with which the bank is opened.
  private static func launchOrder(
    _ session: Session, _ services: ChaosServices?, seed: Int64
  ) throws(CommandError) -> LaunchSettings {
    let file: String? =
      if let services {
        try configuration(of: services, seed: seed, in: session.home)
      } else {
        try session.environment.configuration(flag: nil, home: session.home)
      }
    return LaunchSettings(
      .open, home: session.home, configuration: file,
      language: session.messages.language.code, deposit: session.invocation.integer("deposit"),
      loan: session.invocation.integer("loan"), juice: session.invocation.integer("juice"),
      speed: session.invocation.speed("speed")?.description ?? "50")
  }

  /// Runs the chaos, closes the bank, and compares what it has stored with what the clients received.
  private static func chaos(
    _ session: Session, _ bank: ChaosBank, _ order: LaunchSettings, _ rules: ChaosRules,
    _ services: ChaosServices?, hasPage: Bool, seed: Int64, name: String
  ) throws(CommandError) -> ChaosReport {
    session.note(session.messages.chaosBegins(seed: seed, home: session.home.path))
    var closing = ChaosShutdown(session)
    let isScratch = services != nil
    let before = try isScratch ? 0 : baseline(session, closing)
    let start = SystemClock.monotonic()
    let (run, work) = try makeRun(session, bank, rules, services, hasPage: hasPage, seed: seed, name: name)
    let meter = ProgressMeter(messages: session.messages)
    do throws(SystemError) {
      try run.run {
        meter.update(
          session.messages.chaosProgress(run.kills, acknowledged: run.traffic.ledger.acknowledged),
          done: run.monitor.completions, total: 0)
      }
    } catch {
      throw .system(error)
    }
    meter.finish()
    let elapsed = SystemClock.monotonic().since(start)
    // Open a bank that did not recover once more, to drain it and to read its database.
    if !run.recovered {
      bank.end()
      try bank.open(session, order)
    }
    var evidence = ChaosCheckResult.Evidence()
    var silence: [MessageDetail] = []
    try closing.drain {
      do throws(StockClientError) {
        evidence.shelves.after = try run.stockLoad.finish()
      } catch {
        silence = [
          MessageDetail(
            quoting: session.messages.chaosStockSilent(session.messages.localizedDetail(error.messageDetail)))
        ]
      }
      do throws(VendingClientError) {
        try run.vendingLoad.finish()
      } catch {
        silence.append(
          MessageDetail(
            quoting: session.messages.chaosMachineSilent(
              session.messages.localizedDetail(error.messageDetail))))
      }
    }
    let closedAt = SystemClock.monotonic()
    if let work {
      do throws(SystemError) { evidence.work = try work.evidence(closedAt: closedAt) } catch {
        throw .system(error)
      }
    }
    evidence.shelves.take(run.stockLoad)
    evidence.ledger = run.traffic.ledger
    evidence.killTimes = run.killTimes
    evidence.windows = run.monitor.windows
    // All outside workers together may have this number of customers in flight.
    evidence.windows[ChaosServices.outside] = ChaosServices.maxOutsideInFlight
    // The prefetch of a user's own bank is unknown here.
    evidence.inFlight = !isScratch ? Int64(Limits.customersPerWorker) : prefetches(seed) ? oddSeedPrefetch : 1
    evidence.recovered = run.recovered
    evidence.latePages = run.page?.late ?? 0
    let late = stragglers(bank)
    evidence.orphans = (run.orphans + late).map { ($0.pid, $0.window ?? $0.kind.rawValue) }
    evidence.receipts = try closing.receipts(after: before)
    try closing.queryKeys(of: &evidence.receipts)
    evidence.audit =
      try closing.audit() + silence + run.stockLoad.refusals + run.vendingLoad.problems
      + run.traffic.refusals.map {
        MessageDetail(quoting: session.messages.sentence($0, home: session.home.path))
      }
    return ChaosReport(
      seed: seed, home: session.home.path, account: ChaosCheckResult(evidence), kills: run.kills,
      stops: run.stops, cuts: run.traffic.cuts, requeued: closing.requeued,
      deliveries: run.stockLoad.deliveries,
      purchases: run.vendingLoad.purchases, changesWatched: run.stockLoad.changesSeen, elapsed: elapsed,
      reserve: ChaosTimes(run.monitor.reserveTimes), recover: ChaosTimes(run.monitor.recoverTimes),
      page: ChaosTimes(run.page?.times ?? []), pageEvents: run.page?.events ?? 0)
  }

  /// Starts the web page of a scratch bank on any free port; false if this build has none.
  private static func openPage(_ session: Session) throws(CommandError) -> Bool {
    let launcher: BankLauncher
    do throws(ControlError) { launcher = try BankLauncher.find() } catch { throw .control(error) }
    let program = Paths.join(Paths.directory(of: launcher.program), "bank-web")
    guard (try? FileMetadata.inspect(program))?.isFile == true else { return false }
    _ = try CoordinatorClient.reopen(session).status(.web(WebServerSettings(port: 0)))
    return true
  }

  /// Makes the run with its limits and clients, and the work for commands and workers of a scratch bank.
  private static func makeRun(
    _ session: Session, _ bank: ChaosBank, _ rules: ChaosRules, _ services: ChaosServices?, hasPage: Bool,
    seed: Int64, name: String
  ) throws(CommandError) -> (ChaosRun, ChaosWork?) {
    var limits = ChaosRun.Limits()
    if let time = session.invocation.duration("for") { limits.time = time }
    if let count = session.invocation.integer("max-kills") { limits.kills = count }
    if let count = session.invocation.integer("customers") { limits.customers = count }
    let bits = UInt64(bitPattern: seed)
    let stations =
      try CoordinatorClient.reopen(session).status(.status).services.first { $0.service == .juice }?.windows
      ?? 0
    let loop: EventLoop
    do throws(SystemError) { loop = try EventLoop() } catch { throw .system(error) }
    let stockLoad: ChaosStockLoad
    do throws(StockClientError) {
      stockLoad = try ChaosStockLoad(bank.home, on: loop, seed: bits, name: name)
    } catch {
      throw session.refusal(error)
    }
    let vendingLoad: ChaosVendingLoad
    do throws(VendingClientError) {
      vendingLoad = try ChaosVendingLoad(bank.home, on: loop, seed: bits, name: name)
    } catch {
      throw session.refusal(error)
    }
    let work = services.map {
      ChaosWork($0, ChaosCancellations(bank.home, on: loop, seed: bits), ChaosLeakDetector(mark: name))
    }
    do throws(SystemError) {
      let run = try ChaosRun(
        bank, on: loop, plan: ChaosPlan(seed: bits, rules: rules), stockLoad: stockLoad,
        vendingLoad: vendingLoad,
        work: work, page: hasPage ? ChaosPage(bank.home, on: loop) : nil, hasStation: stations > 0,
        seed: bits, name: name, limits: limits)
      return (run, work)
    } catch {
      throw .system(error)
    }
  }

  /// Sequence number of the last existing receipt; 0 if there is none. A home with unfinished customers or dead letters
  /// is refused.
  private static func baseline(_ session: Session, _ closing: ChaosShutdown) throws(CommandError) -> Int64 {
    let queue = try CoordinatorClient.reopen(session).status(.status).queue
    guard queue.waiting + queue.delayed + queue.serving + queue.dead == 0 else {
      throw .commandFailure(as: .wrongState, session.messages.chaosNeedsIdle)
    }
    return try closing.receipts(after: 0).map(\.sequence).max() ?? 0
  }

  /// Waits for some seconds until the processes of the closed bank have exited, and returns those that have not.
  ///
  /// A coordinator gives its clients time to read its last messages, and its guardian waits for its exit.
  private static func stragglers(_ bank: ChaosBank) -> [ChaosProcess] {
    let deadline = SystemClock.monotonic() + .seconds(10)
    while true {
      let left = bank.census()
      if left.isEmpty || SystemClock.monotonic() >= deadline { return left }
      Pause.momentarily()
    }
  }

  /// Creates an empty home in `TMPDIR`, or else in `/tmp`.
  private static func scratchHome() throws(CommandError) -> BankHome {
    let parent = Environment.value("TMPDIR").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    let path = Paths.join(parent, "bank-chaos-\(String(RandomSeed.fromSystem(), radix: 36))")
    do throws(SystemError) { try Directory.create(path: path, recursive: false) } catch {
      throw .system(error)
    }
    return BankHome(path: path)
  }
}

/// The end of a chaos run: drains the bank as an operator would, requeues dead letters, and reads the receipts and the
/// audit.
/// Invariant: it cancels no customer; the bank is idle and has no dead letter before it is asked to close.
/// Errors: CommandError, also if the bank does not become idle in time.
struct ChaosShutdown {
  let session: Session
  /// Number of dead letters that were requeued.
  private(set) var requeued: Int64 = 0
  /// True if the whole bank is closed, with all of its branches.
  var closesWholeBank = false
  /// Longest wait until the bank is idle, and until a stop is answered.
  private static let timeout = TimeSpan.seconds(120)
  /// Maximum number of attempts to drain the bank; each lost connection causes another one.
  private static let rounds = 20
  /// Approximate number of tickets whose keys are queried.
  private static let samples = 20

  init(_ session: Session) { self.session = session }

  /// Waits until the bank is idle without dead letters, calls the closure, and closes the bank.
  mutating func drain(_ lookAround: () -> Void) throws(CommandError) {
    for _ in 0..<Self.rounds {
      do throws(CommandError) {
        let coordinator = try CoordinatorClient.reopen(session)
        while try !requeueDead(at: coordinator) {}
        lookAround()
        return try close(coordinator)
      } catch {
        guard error.isLoss else { throw error }
      }
    }
    throw .control(.lost)
  }

  /// Waits until the bank is idle, and requeues its dead letters. Returns true if there were none.
  private mutating func requeueDead(at coordinator: CoordinatorClient) throws(CommandError) -> Bool {
    let report = try coordinator.status(.awaitIdle, within: Self.timeout)
    // In a shared bank dead letters belong to the bank, not to a branch.
    guard report.wholeQueue.dead > 0 else { return true }
    var count: Int64 = 0
    try coordinator.ask(.requeueDead) { answer throws(CommandError) in
      if case .requeued(let number) = answer { count = number }
    }
    requeued += count
    return false
  }

  /// Closes the bank, and waits for the end of the connection.
  private func close(_ coordinator: CoordinatorClient) throws(CommandError) {
    let order = StopParameters(
      now: false, timeoutMilliseconds: nil, closesWholeBank: closesWholeBank ? true : nil)
    try coordinator.ask(.stop(order), within: Self.timeout) { _ throws(CommandError) in }
    _ = coordinator.connection.awaitEnd(until: SystemClock.monotonic() + .seconds(30))
  }

  func receipts(after sequence: Int64) throws(CommandError) -> [ReceiptReport] {
    var receipts: [ReceiptReport] = []
    try CoordinatorClient.withReadableBank(session) { coordinator throws(CommandError) in
      receipts.removeAll()
      try coordinator.ask(.receipts(ReceiptQuery(days: .all, follow: false, after: sequence))) {
        answer throws(CommandError) in
        receipts += try answer.receipts
      }
    }
    return receipts.filter { $0.sequence > sequence }
  }

  /// Queries a few tickets with a result one by one, and stores the key of the answer in the receipt; an empty key if
  /// the answer has none.
  func queryKeys(of receipts: inout [ReceiptReport]) throws(CommandError) {
    let places = receipts.indices.filter { receipts[$0].result != nil }
    for place in stride(from: 0, to: places.count, by: max(1, places.count / Self.samples)).map({ places[$0] }
    ) {
      let receipt = receipts[place]
      var key: String?
      try CoordinatorClient.withReadableBank(session) { coordinator throws(CommandError) in
        try coordinator.ask(.ticket(number: receipt.ticket, day: receipt.day)) {
          answer throws(CommandError) in
          if case .ticket(let report) = answer { key = report.receipt?.key }
        }
      }
      receipts[place].key = key ?? ""
    }
  }

  func audit() throws(CommandError) -> [MessageDetail] {
    var problems: [MessageDetail] = []
    try CoordinatorClient.withReadableBank(session) { coordinator throws(CommandError) in
      try coordinator.ask(.audit, within: nil) { answer throws(CommandError) in
        if case .audit(let report) = answer { problems = report.findings }
      }
    }
    return problems
  }
}
