// Owns what the simulated coordinator makes of what its staff reports. The staff is the production one, and so are the
// workers behind the windows. It must not know how a worker is started or ended.
// Invariant: whatever is heard is handed to the core. At times the word of a dead worker comes late: the staff closes the
// connection of whoever has ended, and here such words come all the same, which the core must let change nothing.

import BankModel
import Coordinator
import QueueCore
import Wire

/// A word of a dead worker that is heard later.
struct LateWord {
  let due: MonotonicTime
  let window: Window
  let generation: Generation
  let message: TellerMessage
}

extension SimulatedCoordinator {
  /// What the staff reports.
  func hear(_ word: WindowStaff.Word, from window: Window, _ generation: Generation) {
    guard isAlive else { return }
    switch word {
    case .ready(let pid): happen(.tellerReady(window, generation, pid: pid))
    case .said(let message):
      // Whatever is due by itself is done before a lie, so that nothing of it is taken for the work of this word.
      if !world.checker.expects(message, from: window) { happen(.tick) }
      pass(message, from: window, generation)
      flushTellers()
    case .ended(let end):
      keepLateWord(of: window, generation)
      happen(.tellerLost(window, generation, end))
    case .givenUp: disappointWindowWaiters(.windowsFailed)
    }
  }

  private func pass(_ message: TellerMessage, from window: Window, _ generation: Generation) {
    switch message {
    case .done(let lease): happen(.tellerAnswered(window, generation, lease, .done))
    case .outOfStock(let lease, let missing):
      happen(.tellerAnswered(window, generation, lease, .outOfStock(missing)))
    case .failed(let lease, let reason):
      happen(.tellerAnswered(window, generation, lease, .failed(reason: reason)))
    case .returned(let lease): happen(.tellerAnswered(window, generation, lease, .returned))
    case .beat(let lease): happen(.tellerProgressed(window, generation, lease))
    case .hello, .ready: break
    }
  }

  /// What a worker is told when it comes.
  func orders(for window: Window, _ generation: Generation) -> TellerOrders {
    TellerOrders(
      name: window.description, service: window.service, generation: generation,
      workMicroseconds: plan.workMicroseconds,
      beatMicroseconds: plan.policy.lease.nanoseconds / 4_000, language: .english,
      logPath: world.keepsLogs ? "\(StockProgram.home.logs)/\(window).log" : "", logLimit: 4_096, logKeep: 2,
      logsCustomers: world.keepsLogs,
      stockSocket: window.service.drawsOnStock ? StockProgram.home.socket : nil)
  }

  // MARK: - Late words

  private func keepLateWord(of window: Window, _ generation: Generation) {
    guard world.lateWords > 0,
      let lease = world.checker.holders.first(where: { $0.window == window })?.lease,
      lease.generation == generation
    else { return }
    world.lateWords -= 1
    let message: TellerMessage = [.done(lease), .beat(lease), .returned(lease)][Int(chance.draw(0...2))]
    lateWords.append(
      LateWord(
        due: now.monotonic + TimeSpan(nanoseconds: chance.draw(100_000...300_000_000)), window: window,
        generation: generation, message: message))
  }

  func hearLateWords() {
    while isAlive, let place = lateWords.firstIndex(where: { $0.due <= now.monotonic }) {
      let word = lateWords.remove(at: place)
      world.statistics.note(.messageLate)
      happen(.tick)
      pass(word.message, from: word.window, word.generation)
    }
  }
}
