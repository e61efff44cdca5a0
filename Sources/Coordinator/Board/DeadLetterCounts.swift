// Number of dead letters per service, which the day's counters do not contain. The letters are counted on the first
// request, and the numbers are updated from then on.
// Invariant: if the sum differs from the day's counter, the letters are counted again, with pauses.

import BankModel
import QueueCore
import Time

final class DeadLetterCounts: CoordinatorComponent {
  /// Shortest time between two counts.
  private static let pause = TimeSpan.seconds(1)

  private var counts: [Service: Int64] = [:]
  /// Time of the last count; nil before the first one.
  private var countedAt: MonotonicTime?

  subscript(service: Service) -> Int64 { counts[service] ?? 0 }

  /// Updates the counts after a change that is staged for the first time.
  func note(_ change: StoreChange) {
    guard countedAt != nil else { return }
    switch change {
    case .bury(let customer): counts[customer.service, default: 0] += 1
    // The cancellation of a dead letter is not counted here. After it the sum differs from the day's counter, so the
    // letters are counted again.
    case .revive(let customer, from: .dead):
      counts[customer.service, default: 0] -= 1
    case .cancelAllCustomers: counts = [:]
    default: break
    }
  }

  /// Before the counts are shown: counts the dead letters in the store again if the sum differs from the day's counter.
  func prepare() {
    let dead = queue.machine.dayCounters.dead
    guard dead > 0 else { return (counts, countedAt) = ([:], context.now.monotonic) }
    guard countedAt == nil || counts.values.reduce(0, +) != dead, queue.engine.isWorking,
      !queue.engine.isResetting,
      context.now.monotonic.since(countedAt ?? .init(nanoseconds: .min)) >= Self.pause
    else { return }
    do throws(StoreError) {
      var found: [Service: Int64] = [:]
      for service in context.services.directory.services {
        let count = try store.countDead(of: service)
        if count > 0 { found[service] = count }
      }
      (counts, countedAt) = (found, context.now.monotonic)
    } catch { queue.fail(error) }
  }

  /// Drops the counts.
  func forget() { (counts, countedAt) = ([:], nil) }
}
