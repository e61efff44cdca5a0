// Time from a request for a ticket to the start of the service, at a steady arrival rate and with idle
// tellers. The arrivals do not wait for the bank, so a slow answer delays no later request.
import ControlClient
import Posix
import Time

extension Bench {
  /// Measures the time from the request of a customer to the start of its service.
  func measureLatency() throws {
    let bank = try BenchBank(self)
    let watch = try StartLatencyProbe(asking: try bank.connect(), observing: try bank.connect())
    let pace = TimeSpan.milliseconds(1)
    try watch.run(count: Int(scale.span.milliseconds) * 2, pace: pace)
    try bank.discard()
    let samples = Samples(watch.latencies)
    add(
      "latency", "enqueue to start of service, 1,000 customers a second", "ms", samples, target: .below(1),
      note: "durable in between")
    add("latency", "  the slowest of a hundred", "ms", Samples(samples.percentile(99)), target: .below(5))
  }
}

/// Enqueues customers on one connection, and observes their starts on another one.
final class StartLatencyProbe {
  private let requestConnection: ControlConnection
  private let eventConnection: ControlConnection
  private let loop: EventLoop
  /// Time of each request, by its number.
  private var askedAt: [UInt32: MonotonicTime] = [:]
  /// Number of the request of each ticket.
  private var requests: [Int64: UInt32] = [:]
  /// Time when the start of each ticket was reported.
  private var startedAt: [Int64: MonotonicTime] = [:]
  private var failure: ControlError?

  init(asking requestConnection: ControlConnection, observing eventConnection: ControlConnection) throws {
    (self.requestConnection, self.eventConnection) = (requestConnection, eventConnection)
    loop = try EventLoop()
    _ = try eventConnection.send(.follow)
    for connection in [requestConnection, eventConnection] {
      _ = try loop.register(fd: connection.fd, interest: .read) { [unowned self] _ in
        receiveEvents(connection)
      }
    }
  }

  /// Latency in milliseconds of the customers whose start was reported.
  var latencies: [Double] {
    requests.compactMap { ticket, number in
      guard let asked = askedAt[number], let started = startedAt[ticket] else { return nil }
      return started.since(asked).inMilliseconds
    }
  }

  /// Enqueues customers at a steady rate, and waits until all of them were started.
  func run(count: Int, pace: TimeSpan) throws {
    var next = SystemClock.monotonic() + pace
    var asked = 0
    let end = next + pace * Int64(count + 5_000)
    while asked < count || startedAt.count < count {
      let now = SystemClock.monotonic()
      guard now < end else { throw BenchFailure("not every customer was started") }
      if asked < count, now >= next {
        askedAt[try requestConnection.send(.enqueue(BenchBank.order(1)))] = now
        asked += 1
        next += pace
      }
      _ = try loop.runOnce(until: asked < count ? next : now + .milliseconds(10))
      if let failure { throw failure }
    }
  }

  /// Records the tickets and starts that have arrived on one of the two connections.
  private func receiveEvents(_ connection: ControlConnection) {
    do throws(ControlError) {
      let now = SystemClock.monotonic()
      while let reply = try connection.next(until: now) {
        switch reply.answer {
        case .enqueued(let tickets): requests[tickets.first] = reply.number
        case .event(let event) where event.phase == .started: startedAt[event.ticket] = now
        default: break
        }
      }
    } catch {
      failure = error
    }
  }
}
