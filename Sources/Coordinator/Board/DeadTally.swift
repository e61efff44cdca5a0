// Owns how many dead letters there are of each service, which the books do not say. It is counted once, when somebody wants
// to know, and followed from there. Invariant: the sum is that of the books, or it is counted again; but not more often than
// once a second, and not while the store must not be asked.

import BankModel
import QueueCore
import Time

final class DeadTally: BankPart {
  private static let pause = TimeSpan.seconds(1)

  private var counts: [Service: Int64] = [:]
  private var countedAt: MonotonicTime?

  /// Dead letters of a service.
  subscript(service: Service) -> Int64 { counts[service] ?? 0 }

  /// A change was staged, and not for the second time.
  func note(_ change: StoreChange) {
    guard countedAt != nil else { return }
    switch change {
    case .bury(let customer): counts[customer.service, default: 0] += 1
    // A dead letter that is cancelled makes the sum another one than that of the books, and they are counted again.
    case .revive(let customer, from: .dead):
      counts[customer.service, default: 0] -= 1
    case .cancelEveryone: counts = [:]
    default: break
    }
  }

  /// Sees to it that the counts are right, before they are shown.
  func prepare() {
    let dead = queue.machine.books.dead
    guard dead > 0 else { return (counts, countedAt) = ([:], context.now.monotonic) }
    guard countedAt == nil || counts.values.reduce(0, +) != dead, queue.engine.isWorking,
      !queue.engine.isEmptying,
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

  /// Nobody looks any more.
  func forget() { (counts, countedAt) = ([:], nil) }
}
