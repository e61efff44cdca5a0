// Windows of the queue: the place of a window in the arrays, and the number of idle windows.
// Invariant: `idleWindows` counts the idle windows of each service without those of outside workers.

import BankModel
import Time

extension QueueMachine {
  /// Index of a window in ``windows``; nil if there is no such window.
  func locate(_ window: Window) -> (service: Int, place: Int)? {
    let service = window.service.index
    let place = Int(window.place) - 1
    guard service < windows.count else { return nil }
    if window.isOutside { return locateOutside(window, service) }
    return place >= 0 && place < windows[service].count - outsideCounts[service] ? (service, place) : nil
  }

  /// Subtracts a window from the number of idle windows if it is idle.
  mutating func leaveIdle(_ service: Int, _ place: Int) {
    if windows[service][place].state == .idle, !windows[service][place].window.isOutside {
      idleWindows[service] -= 1
    }
  }

  /// Marks a teller as idle, or dismisses it if its window closes or the teller is to be replaced.
  mutating func free(_ service: Int, _ place: Int, into effects: inout [QueueEffect]) {
    windows[service][place].deadline = MonotonicTime(nanoseconds: .max)
    if windows[service][place].isClosing || windows[service][place].isReplaced {
      windows[service][place].state = .terminating
      effects.append(.dismissTeller(windows[service][place].window))
    } else {
      windows[service][place].state = .idle
      if !windows[service][place].window.isOutside { idleWindows[service] += 1 }
    }
  }
}
