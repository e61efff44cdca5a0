// Customers served per second when their work takes no time, so that only the bank's own work remains. The queue is
// filled before the measurement, all windows resume at the same time, and the clock stops when no customer waits or
// is served. Logging has its default settings, with two lines per customer. All customers have the same service, like
// all jobs of the other queues, which are in one tube. With two services, the last customers of one service would
// have fewer tellers.

import Time

extension Bench {
  func measureServing() throws {
    let store = Rival(name: "the store alone") { [self] in try receiptsPerSecond(thoroughness.served) }
    try measureServing(BankSetting(deposit: 1, loan: 0), raw: nil, others: [nil, nil])
    try measureServing(
      BankSetting(deposit: 3, loan: 0), target: .atLeast(85_000), raw: .atLeast(0.85),
      others: [.atLeast(11), .atLeast(2)])
    try measureServing(BankSetting(deposit: 16, loan: 0), raw: nil, others: [nil, nil])
    try measureServing(
      BankSetting(deposit: 3, loan: 0, configuration: try file("ahead.json", #"{"prefetch":16}"#)),
      inHand: 16, target: .atLeast(400_000), raw: nil, others: [], and: [store])
  }

  private func measureServing(
    _ setting: BankSetting, inHand: Int = 1, target: Target? = nil, raw: Target?,
    others: [Target?], and further: [Rival] = []
  ) throws {
    let workers = Int(setting.deposit)
    let bank = try BenchBank(self, setting)
    try bank.ask(.pause(nil))
    let customers = thoroughness.served
    var spent: [Double] = []
    let (servers, rivals) = try beanstalks(others) { [self] server, care in
      try jobsPerSecond(
        care == .none ? thoroughness.served / 4 : thoroughness.served / 40, workers: workers, at: server)
    }
    let pingPong = Rival(name: "raw ping-pong", target: raw) { [self] in
      try tripsPerSecond(of: workers, for: thoroughness.span / 2)
    }
    try contest(
      "serve",
      "served, \(workers) \(workers == 1 ? "teller" : "tellers")\(inHand == 1 ? "" : ", prefetch \(inHand)")",
      target: target,
      against: [pingPong] + rivals + further,
      note: { "coordinator \(Figure.text(Samples(spent).median)) µs of a core a customer" }
    ) {
      try bank.ask(.enqueue(BenchBank.order(customers, .deposit, article: Self.payload)))
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
