// Owns the last commands of a history: what is paused goes on, every service has a window, the dead letters get another
// chance now and then, and the bank ends when everyone is served. It must not know whether any of it works.
// Invariant: one command after the other; the end is asked for again after a coordinator that was lost.

import BankModel
import Wire

struct ClosingCommands {
  private var step = 0
  private(set) var hasAskedForTheEnd = false

  mutating func next(windows: [Service: Int32]) -> SimulatedClient.Wish? {
    step += 1
    switch step {
    case 1: return SimulatedClient.Wish(command: .resume(nil), isRepeated: true)
    case 2:
      let wanted = Service.allCases.map { ServiceWindows(service: $0, count: Int64(windows[$0] ?? 0)) }
      return SimulatedClient.Wish(command: .scale(wanted), isRepeated: true)
    case 3: return SimulatedClient.Wish(command: .status)
    default:
      hasAskedForTheEnd = true
      return SimulatedClient.Wish(
        command: .stop(StopOrder(now: false, timeoutMilliseconds: nil)), isRepeated: true)
    }
  }
}
