// How fast a branch serves, as whoever asks for its status sees it. It decides nothing: a pace is only worth something
// beside another one of the same run, because other tests take as much of the machine as they like.
import Testing

extension Branch {
  /// Customers a second who are served from now on: so many of them, or as many as come in so long.
  func pace(of customers: Int, within limit: Duration) throws -> Double {
    let (begin, first) = (ContinuousClock.now, try status().queue("served"))
    var served = 0
    repeat {
      served = try status().queue("served") - first
    } while served < customers && ContinuousClock.now - begin < limit
    let took = begin.duration(to: .now)
    return Double(served) / (Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18)
  }
}
