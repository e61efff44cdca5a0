// Time from the order of a juice to its receipt, through the queue, the juice station and the stock. Making the juice
// takes no time. A receipt means that the fruit was taken and the customer finished, both on disk.
import BankModel
import Posix
import StockClient
import Time
import Wire

extension Bench {
  /// Measures juices with one juice station and with several.
  func measureJuice() throws {
    for stations in [1, 8] as [Int64] {
      var setting = BankSetting()
      setting.juice = stations
      let bank = try BenchBank(self, setting)
      if stations == 1 { try measureOneJuice(at: bank) }
      let name = stations == 1 ? "juices, order to receipt, 1 station" : "the same, \(stations) stations"
      let limit = { try self.syncsPerSecond(for: self.scale.span / 4) }
      let (samples, ratios) = try rounds(beside: limit) {
        try juicesPerSecond(scale.served / 20, at: bank)
      }
      add(
        "juice", name, "/s", samples, note: "\(NumberFormat.text(ratios.median)) of raw fdatasync beside it")
      try bank.discard()
    }
  }

  /// Rate of juices that were all ordered before.
  private func juicesPerSecond(_ count: Int64, at bank: BenchBank) throws -> Double {
    try fillShelf(at: bank)
    try bank.ask(.pause(.juice))
    try bank.ask(.enqueue(Self.bananas(count)))
    return try Self.perSecond(count) {
      try bank.ask(.resume(.juice))
      try bank.ask(.awaitIdle)
    }
  }

  /// Measures the time of a single juice from its order to its receipt, again and again.
  private func measureOneJuice(at bank: BenchBank) throws {
    try fillShelf(at: bank)
    let customer = try bank.connect()
    var ways: [Double] = []
    let end = SystemClock.monotonic() + scale.span * Int64(scale.rounds)
    while SystemClock.monotonic() < end {
      let begin = SystemClock.monotonic()
      guard case .enqueued(let tickets) = try BenchBank.ask(.enqueue(Self.bananas(1)), on: customer) else {
        throw BenchFailure("no ticket was issued")
      }
      try BenchBank.ask(
        .awaitTickets(day: tickets.day, first: tickets.first, last: tickets.last), on: customer)
      ways.append(SystemClock.monotonic().since(begin).inMilliseconds)
    }
    let samples = Samples(ways)
    let status = try bank.status()
    guard status.services.first(where: { $0.service == .juice })?.served == Int64(ways.count) else {
      throw BenchFailure("not every juice has a receipt")
    }
    add(
      "juice", "one juice, order to receipt", "ms", samples, target: .below(3),
      note: "p99 \(NumberFormat.text(samples.percentile(99))) ms; two commits in between")
  }

  /// Sets the bananas in the stock of a bank to the maximum.
  private func fillShelf(at bank: BenchBank) throws {
    let loop = try EventLoop()
    let client = StockClient(socket: StockClient.socket(inHome: bank.home.path), loop: loop)
    try client.fillShelf()
    client.close()
  }

  /// A request for banana juices.
  private static func bananas(_ count: Int64) -> EnqueueParameters {
    BenchBank.order(count, .juice, itemName: "banana")
  }
}

extension StockClient {
  /// Sets the bananas in the stock to the maximum.
  func fillShelf() throws {
    let amount = ItemAmount(ItemID("banana"), StockLimits.quantity)
    guard case .done = try call(.set(amount), within: .seconds(30)) else {
      throw BenchFailure("the shelf was not filled")
    }
  }
}
