// Customers served per second when their work takes no time, so that only the bank's own work remains. The queue is
// filled before the measurement, the paused services are resumed, and the clock stops when no customer waits or is
// served. Logging has its default settings. All customers have the same service, like the jobs of beanstalkd, which are
// in one tube. With two services, the last customers of one service would have fewer tellers.

import Time

extension Bench {
  /// Measures how many customers per second are served by different numbers of tellers, and with prefetch.
  func measureServing() throws {
    let store = Baseline(name: "the store alone") { [self] in try receiptsPerSecond(scale.served) }
    try measureServing(BankSetting(deposit: 1, loan: 0), raw: nil, others: [nil, nil])
    try measureServing(
      BankSetting(deposit: 3, loan: 0), target: .atLeast(85_000), raw: .atLeast(0.85),
      others: [.atLeast(11), .atLeast(2)])
    try measureServing(BankSetting(deposit: 16, loan: 0), raw: nil, others: [nil, nil])
    try measureServing(
      BankSetting(deposit: 3, loan: 0, configuration: try file("ahead.json", #"{"prefetch":16}"#)),
      inFlight: 16, target: .atLeast(400_000), raw: nil, others: [], and: [store])
  }

  /// Measures serving against the limit of the machine, beanstalkd and further baselines. `raw` and `others` are the
  /// targets of the ratios to the limit and to beanstalkd.
  private func measureServing(
    _ setting: BankSetting, inFlight: Int = 1, target: Target? = nil, raw: Target?,
    others: [Target?], and further: [Baseline] = []
  ) throws {
    let workers = Int(setting.deposit)
    let bank = try BenchBank(self, setting)
    try bank.ask(.pause(nil))
    let customers = scale.served
    var spent: [Double] = []
    let (servers, baselines) = try startBeanstalks(others) { [self] server, durability in
      try jobsPerSecond(
        durability == .none ? scale.served / 4 : scale.served / 40, workers: workers, at: server)
    }
    let pingPong = Baseline(name: "raw ping-pong", target: raw) { [self] in
      try tripsPerSecond(of: workers, for: scale.span / 2)
    }
    try compareWithBaselines(
      "serve",
      "served, \(workers) \(workers == 1 ? "teller" : "tellers")\(inFlight == 1 ? "" : ", prefetch \(inFlight)")",
      target: target,
      against: [pingPong] + baselines + further,
      note: { "coordinator \(NumberFormat.text(Samples(spent).median)) µs of a core a customer" }
    ) {
      try bank.ask(.enqueue(BenchBank.order(customers, .deposit, itemName: Self.payload)))
      let before = ProcessFacts.processorTime(of: bank.pid)
      let figure = try Self.perSecond(customers) {
        try bank.ask(.resume(nil))
        try bank.ask(.awaitIdle)
      }
      spent.append((ProcessFacts.processorTime(of: bank.pid) - before) * 1e6 / Double(customers))
      try bank.ask(.pause(nil))
      return figure
    }
    try bank.discard()
    for server in servers { server.discard() }
  }
}
