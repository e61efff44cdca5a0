// Orders that the stock service processes per second: one at a time from one client and from several, and with many in
// flight. No juice station is running. An answer is sent after the order is on disk.
import BankModel
import Glibc
import Posix
import StockClient
import Time
import Wire

extension Bench {
  /// Measures orders of a stock service that runs without a bank.
  func measureStock() throws {
    let home = newHome().path
    let process = try ChildProcess.spawn(
      executable: Paths.join(programs, "bank-stockd"), arguments: ["--home", home],
      environment: Environment.all(), standardOutput: .null, standardError: .null)
    defer {
      process.kill(SIGKILL)
      _ = process.wait()
      Directory.removeTree(home)
    }
    let crowds: [(clients: Int, each: Int, name: String, target: Target?)] = [
      (1, 1, "durable stock orders, 1 client, one at a time", nil), (8, 1, "the same, 8 clients", nil),
      (8, 8, "the same, 64 in flight", .atLeast(20_000)),
    ]
    for crowd in crowds {
      let (samples, ratios) = try rounds(
        beside: { try syncsPerSecond(for: scale.span / 4) },
        { try ordersPerSecond(of: crowd.clients, each: crowd.each, at: StockClient.socket(inHome: home)) })
      add(
        "stock", crowd.name, "/s", samples, target: crowd.target,
        note: "\(NumberFormat.text(ratios.median)) of raw fdatasync beside it")
    }
  }

  /// Orders per second from a number of clients, each with a number of orders in flight.
  private func ordersPerSecond(of clients: Int, each: Int, at socket: String) throws -> Double {
    let loop = try EventLoop()
    let crowd = (0..<clients).map { _ in StockClient(socket: socket, loop: loop) }
    defer { for client in crowd { client.close() } }
    var orders = 0
    var failure: BenchFailure?
    /// Sends an order, and after each answer the next one.
    func ask(_ client: StockClient) {
      let deadline = SystemClock.monotonic() + .seconds(30)
      let order = StockCommand.take([ItemAmount(ItemID("banana"), 1)], today: 0)
      client.ask(order, until: deadline) { [weak client] result in
        guard let client else { return }
        guard case .success(.done) = result else {
          return failure = BenchFailure("an order was answered with \(result)")
        }
        orders += 1
        ask(client)
      }
    }
    for client in crowd { try client.fillShelf() }
    for client in crowd { for _ in 0..<each { ask(client) } }
    return try perSecond({ orders }) { end in
      for client in crowd { client.finishIteration() }
      _ = try loop.runOnce(until: end)
      if let failure { throw failure }
    }
  }
}
