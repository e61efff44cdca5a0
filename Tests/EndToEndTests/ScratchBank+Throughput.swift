// Throughput of a branch, measured by polling its status. A rate is comparable only within one run, because other tests
// use the same machine.
import Testing

extension ScratchBank {
  /// Customers served per second from now on: stops after `customers`, or when the limit has passed.
  func servedPerSecond(of customers: Int, within limit: Duration) throws -> Double {
    let (begin, first) = (ContinuousClock.now, try status().queue("served"))
    var served = 0
    repeat {
      served = try status().queue("served") - first
    } while served < customers && ContinuousClock.now - begin < limit
    let took = begin.duration(to: .now)
    return Double(served) / (Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18)
  }
}
