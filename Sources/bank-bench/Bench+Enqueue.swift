// Rate at which tickets are issued: one at a time by one client and by many, and many in one command. The services are
// paused, so that no customer is served during a measurement. A reply means that the ticket is on disk.
import ControlClient
import Posix
import Time

extension Bench {
  /// Measures how many tickets clients obtain per second, with one customer in each request.
  func measureEnqueue() throws {
    let bank = try BenchBank(self)
    try bank.ask(.pause(nil))
    // While the write-ahead log grows, the file system also writes its own metadata. The raw limit overwrites existing
    // blocks, so the bank's write-ahead log also reaches its final size before tickets are counted.
    _ = try ticketsPerSecond(of: 1, at: bank)
    let works: [(clients: Int, name: String, target: Target?, raw: Target?, others: [Target?])] = [
      (1, "durable enqueue, 1 client, one at a time", .atLeast(5_000), .atLeast(0.9), [nil]),
      (16, "durable enqueue, 16 clients", nil, nil, [.atLeast(8)]),
    ]
    for work in works {
      let (servers, baselines) = try startBeanstalks(work.others) { [self] server, _ in
        try putsPerSecond(of: work.clients, at: server)
      }
      let raw = Baseline(name: "raw fdatasync", target: work.raw) { [self] in
        try syncsPerSecond(for: scale.span / 2)
      }
      try compareWithBaselines("enqueue", work.name, target: work.target, against: [raw] + baselines) {
        try ticketsPerSecond(of: work.clients, at: bank)
      }
      for server in servers { server.discard() }
    }
    try bank.discard()
  }

  /// Rate of tickets. Each client enqueues one customer and waits for the ticket before it enqueues the next customer.
  private func ticketsPerSecond(of clients: Int, at bank: BenchBank) throws -> Double {
    let loop = try EventLoop()
    var tickets = 0
    var failure: (any Error)?
    for _ in 0..<clients {
      let client = try bank.connect()
      _ = try loop.register(fd: client.fd, interest: .read) { _ in
        do {
          guard let reply = try client.next(until: SystemClock.monotonic()), !reply.more else { return }
          guard case .enqueued = reply.answer else { throw BenchFailure("no ticket was issued") }
          tickets += 1
          try client.send(.enqueue(BenchBank.order(1)))
        } catch { failure = error }
      }
      try client.send(.enqueue(BenchBank.order(1)))
    }
    return try perSecond({ tickets }) { end in
      try pollResponses(on: loop, until: end)
      if let failure { throw failure }
    }
  }

  /// Polls without sleeping for a short time, because the figure is about the server and not about the wakeup of a
  /// sleeping client.
  func pollResponses(on loop: EventLoop, until end: MonotonicTime) throws(SystemError) {
    if try loop.spin(for: .milliseconds(1)) == 0 { try loop.runOnce(until: end) }
  }

  /// Measures one `bankctl enqueue` with many customers, from its start to its exit.
  func measureBulk() throws {
    let count = scale.bulkCustomers
    let (servers, baselines) = try startBeanstalks([nil, .atLeast(5)]) { [self] server, durability in
      try bulkPerSecond(durability == .none ? count / 5 : count / 100, at: server)
    }
    let store = Baseline(name: "the store alone") { [self] in try arrivalsPerSecond(count) }
    try compareWithBaselines(
      "bulk", "durable enqueue, \(NumberFormat.grouped(count)) in one command", target: .atLeast(1_000_000),
      against: baselines + [store], note: { "bankctl from start to end" }
    ) {
      let bank = try BenchBank(self)
      try bank.ask(.pause(nil))
      let time = try command(["enqueue", String(count)], at: bank.home)
      try bank.discard()
      return Double(count) / time.inSeconds
    }
    for server in servers { server.discard() }
  }
}
