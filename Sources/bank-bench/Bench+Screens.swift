// Cost of the screens: memory and wakeups of the web page's process, and its load with many viewers. Also measures the
// bank's speed with these viewers and with the dashboard in a terminal, and the time until a killed page answers again.
import ControlClient
import Glibc
import Posix
import Time
import Wire

extension Bench {
  /// Runs all measurements of the page and of the dashboard.
  func measureScreens() throws {
    let bank = try BenchBank(self, BankSetting(deposit: 3, loan: 0))
    let page = try BenchPage(self, of: bank)
    try measureIdlePage(page)
    try measureSpeedBesideViewers(bank, page)
    try measureSpeedBesideTop(bank)
    try measureKilledPage(page)
    try bank.discard()
    try measureViewersOfABusyBank()
    try measurePaintTimes()
  }

  /// Measures memory and wakeups of the page with one viewer of an idle bank.
  private func measureIdlePage(_ page: BenchPage) throws {
    let viewer = try page.viewers(1)
    try rest(.seconds(3))
    if let bytes = ProcessMemory.proportionalBytes(pid: page.pid) {
      add(
        "screens", "memory of an idle bank-web (PSS)", "MB", Samples(Double(bytes) / 1e6), target: .below(6))
    }
    let wakes = try rounds {
      let before = ProcessFacts.voluntarySwitches(of: page.pid)
      try rest(.seconds(2))
      return Double(ProcessFacts.voluntarySwitches(of: page.pid) - before) / 2
    }
    add(
      "screens", "wake-ups of bank-web a second, one idle viewer", "/s", wakes, target: .below(0.1),
      note: "a heartbeat every 15 s")
    try viewer.stop()
  }

  /// Measures how many customers the bank serves per second while a page has viewers.
  private func measureSpeedBesideViewers(_ bank: BenchBank, _ page: BenchPage) throws {
    for (count, target) in [(1, 0.97), (1_000, 0.90)] {
      try measureSpeed(of: bank, beside: "\(count) \(count == 1 ? "viewer" : "viewers")", target) {
        let viewers = try page.viewers(count)
        return { try viewers.stop() }
      }
    }
  }

  /// Measures how many customers the bank serves per second while a dashboard is open.
  private func measureSpeedBesideTop(_ bank: BenchBank) throws {
    try measureSpeed(of: bank, beside: "an open bankctl top", 0.97) {
      let screen = try LoadProcess(
        program: Paths.join(programs, "bank-bench"),
        [TerminalReader.modeArgument, Paths.join(programs, "bankctl"), "--home", bank.home.path, "top"])
      return { try screen.stop() }
    }
  }

  /// Measures the bank alternately alone and with viewers or a dashboard. `startViewers` starts these, and returns the
  /// function that ends them.
  private func measureSpeed(
    of bank: BenchBank, beside whom: String, _ target: Double, _ startViewers: () throws -> () throws -> Void
  ) throws {
    var ratios: [Double] = []
    var figures: [Double] = []
    // The first round of a bank is slower, and does not count.
    _ = try servedPerSecond(by: bank)
    for round in 0..<2 * scale.rounds {
      // The order within a pair alternates, so that each of the two cases is measured first equally often.
      let alone = round.isMultiple(of: 2) ? try servedPerSecond(by: bank) : 0
      let stop = try startViewers()
      figures.append(try servedPerSecond(by: bank))
      try stop()
      ratios.append(figures.last! / (round.isMultiple(of: 2) ? alone : try servedPerSecond(by: bank)))
    }
    add(
      "screens", "served beside \(whom), relative to alone", "×", Samples(ratios), target: .atLeast(target),
      note: "\(NumberFormat.text(Samples(figures).median)) /s")
  }

  /// Rate at which the bank serves customers that were all enqueued before.
  private func servedPerSecond(by bank: BenchBank) throws -> Double {
    try bank.ask(.pause(nil))
    try bank.enqueue(scale.served, .deposit)
    return try Self.perSecond(scale.served) {
      try bank.ask(.resume(nil))
      try bank.ask(.awaitIdle)
    }
  }

  /// Measures the time from a kill of the page's process until a viewer receives an event again.
  private func measureKilledPage(_ page: BenchPage) throws {
    var figures: [Double] = []
    for _ in 0..<scale.coordinatorKills {
      let victim = page.pid
      let begin = SystemClock.monotonic()
      kill(victim, SIGKILL)
      figures.append(try page.awaitViewer(since: begin).inMilliseconds)
      try page.findProcess(otherThan: victim)
    }
    add(
      "screens", "bank-web killed: a viewer is connected again", "ms", Samples(figures), target: .below(600))
  }

  /// Measures viewers while customers are served all the time.
  private func measureViewersOfABusyBank() throws {
    let setting = BankSetting(
      deposit: 3, loan: 0, speed: nil,
      configuration: try file("lively.json", #"{"work":{"deposit":"60ms","loan":"60ms"}}"#))
    let bank = try BenchBank(self, setting)
    let page = try BenchPage(self, of: bank)
    let viewers = try page.viewers(1_000)
    let span = scale.span * 5
    try bank.enqueue(Int64(span.inSeconds * 100) + 200, .deposit)
    let before = ProcessFacts.processorTime(of: page.pid)
    try rest(span)
    let spent = ProcessFacts.processorTime(of: page.pid) - before
    let memory = ProcessMemory.proportionalBytes(pid: page.pid)
    let bytes = try viewers.stop()
    add(
      "screens", "1,000 viewers of a working bank: CPU", "%",
      Samples(spent / span.inSeconds * 100), target: .below(15),
      note: "\(NumberFormat.text(Double(bytes) / 1_000 / span.inSeconds)) bytes a second each")
    if let memory {
      add("screens", "  memory (PSS)", "MB", Samples(Double(memory) / 1e6), target: .below(16))
    }
    try bank.discard()
  }
}
