// Owns what became of the teller that was ended from a page last: how long it took until its customer was served again.
// Invariant: the times are the coordinator's own, of its events, so nothing of the way to the page is counted.
import WebPages
import Wire

final class DeathWatch {
  /// The last that was ended; nil before the first.
  private(set) var latest: WindowDeath?
  private var diedAt: Int64?

  /// Somebody ends a process.
  func expect(window: String, generation: Int32, pid: Int32, in frame: BoardFrame?) {
    let ticket = frame?.windows.first { $0.window == window && $0.pid == pid }?.tickets.first
    latest = WindowDeath(window: window, generation: generation, pid: pid, ticket: ticket)
    diedAt = nil
  }

  /// Looks whether its customer is served again, or its successor is ready.
  func note(_ frame: BoardFrame) {
    guard let death = latest, death.milliseconds == nil else { return }
    let end = frame.events.last { $0.kind == .died && $0.window == death.window && $0.pid == death.pid }
    if let end {
      diedAt = end.time
      if let ticket = end.ticket { latest?.ticket = ticket }
    }
    guard let diedAt, let latest else { return }
    if let ticket = latest.ticket {
      let again = frame.events.first {
        $0.kind == .started && $0.ticket == ticket && $0.time >= diedAt && $0.pid != death.pid
      }
      if let again { self.latest?.milliseconds = max(0, again.time - diedAt) }
    } else if let window = frame.windows.first(where: { $0.window == death.window }),
      window.generation > Int64(death.generation), window.state == .idle || window.state == .serving
    {
      self.latest?.milliseconds = max(0, frame.time - diedAt)
    }
  }
}
