// Owns how tellers that have worked long enough are replaced: between two customers, one window at a time.
// It decides neither who has worked long enough nor whose turn it is. Invariant: a teller is asked to go only with free
// hands, so nobody's attempt ends by it.

import BankModel
import Logbook
import Posix
import QueueCore
import Supervision

extension Coordinator {
  /// A teller answers a lease. This is looked at before the queue hears of it: afterwards the teller would already have
  /// the next customer.
  func considerRecycling(_ window: Window) {
    guard let post = staff.posts[window] else { return }
    post.customers += 1
    guard ending == nil, !configuration.recycling.isOff, isDue(post) != nil, recycling.isTurn(of: window)
    else { return }
    recycle(post)
  }

  /// Goes on with the next window when the one before has a teller at work again.
  func continueRecycling() {
    while let window = recycling.current, ending == nil {
      if let post = staff.posts[window], post.isWanted, !post.isGivenUp,
        post.phase != .ready || post.generation == post.recycledGeneration
      {
        return
      }
      // It may have died meanwhile, and its successor has not worked long enough.
      guard let next = recycling.settled() else { return }
      if let post = staff.posts[next], post.phase == .ready, isDue(post) != nil { recycle(post) }
    }
  }

  private func isDue(_ post: WindowPost) -> RecyclePolicy.Reason? {
    var resident: Int64?
    if configuration.recycling.aboveBytes > 0 {
      if now.monotonic.since(post.measuredAt) >= RecyclePolicy.measurePause {
        post.measuredAt = now.monotonic
        post.residentBytes = ProcessMemory.residentBytes(pid: post.pid)
      }
      resident = post.residentBytes
    }
    return configuration.recycling.reason(customers: post.customers, residentBytes: resident)
  }

  private func recycle(_ post: WindowPost) {
    post.recycledGeneration = post.generation
    log.write(event: "recycling", at: now) {
      $0.field("window", post.window.description)
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
      $0.field("reason", isDue(post)?.rawValue)
      $0.field("customers", post.customers)
      if let resident = post.residentBytes { $0.field("rss_kb", resident / 1024) }
    }
    happen(.replace(post.window))
  }
}
