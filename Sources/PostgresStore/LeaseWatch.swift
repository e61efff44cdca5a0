// Owns how a branch judges the leases of the others: by its own steady clock, from look to look. The database's clock may be set,
// and says nothing then about how long a branch was silent.
// Invariant: a lease of which the branch has seen a renewal is expired only when it was not renewed again for its length, by the
// steady clock. Only at the first sight of a lease the database's clock decides.
import Time

/// The lease of another branch as one look shows it.
struct SeenLease: Equatable {
  /// The number of the branch and its epoch.
  var branch: PostgresBranch
  /// When it ends by the database's clock, in microseconds since 1970; nil where it was ended in good order.
  var end: Int64?
}

struct LeaseWatch {
  /// A lease that may be ended.
  struct Expired: Equatable {
    var branch: PostgresBranch
    /// The end that was seen and did not move; 0 where the database's clock decides.
    var unmoved: Int64 = 0
  }

  private struct Known {
    var lease: SeenLease
    /// When it was renewed, at the latest.
    var renewedAt: MonotonicTime
    var length: TimeSpan
    /// True if a renewal was seen, and not the lease alone.
    var isAlive: Bool
  }

  /// No branch has a longer lease, so one that seems so was renewed by another clock.
  private static let longest = TimeSpan.seconds(60)
  /// By how much the clocks may differ between two looks before the database's counts as set, besides the time of a question.
  private static let tolerance: Int64 = 300

  /// True if the database's clock was set between the last two looks.
  private(set) var wasSet = false
  private var known: [Int64: Known] = [:]
  private var last: (database: Int64, askedAt: MonotonicTime, at: MonotonicTime)?

  /// Takes over what a look shows, and tells which leases may be ended.
  ///
  /// - Parameters:
  ///   - leases: of all other branches.
  ///   - past: branches with customers whose lease has run out by the database's clock.
  ///   - database: the database's clock, in milliseconds since 1970.
  ///   - own: how long the branch's own lease is.
  mutating func see(
    _ leases: [SeenLease], past: [PostgresBranch], database: Int64, askedAt: MonotonicTime,
    at now: MonotonicTime, own: TimeSpan
  ) -> [Expired] {
    wasSet = isSet(database, askedAt: askedAt, at: now)
    let former = last?.askedAt
    last = (database, askedAt, now)
    var next: [Int64: Known] = [:]
    var expired: [Expired] = []
    let past = Set(past)
    for lease in leases {
      guard let end = lease.end else { continue }
      let left = TimeSpan.milliseconds(end / 1_000 - database)
      let one = renewed(lease, left, wasSet: wasSet, after: former, at: now, own: own)
      next[lease.branch.id] = one
      let silence = now.since(one.renewedAt)
      if past.contains(lease.branch) {
        // Both clocks agree, as far as the time of a question goes.
        if silence >= one.length - one.length / 16 || !one.isAlive {
          expired.append(Expired(branch: lease.branch))
        }
      } else if silence >= one.length + one.length / 16, left > .zero {
        expired.append(Expired(branch: lease.branch, unmoved: end))
      }
    }
    known = next
    // An epoch that has ended in good order, with pages that it could not give back.
    let ended = leases.filter { $0.end == nil && past.contains($0.branch) }
    return expired + ended.map { Expired(branch: $0.branch) }
  }

  /// Whether the database's clock was set since the last look.
  private func isSet(_ database: Int64, askedAt: MonotonicTime, at now: MonotonicTime) -> Bool {
    guard let last else { return false }
    let passed = database.subtractingReportingOverflow(last.database).partialValue
    let (least, most) = (askedAt.since(last.at).milliseconds, now.since(last.askedAt).milliseconds)
    return passed < least - Self.tolerance || passed > most + Self.tolerance
  }

  private func renewed(
    _ lease: SeenLease, _ left: TimeSpan, wasSet: Bool, after former: MonotonicTime?, at now: MonotonicTime,
    own: TimeSpan
  ) -> Known {
    let before = known[lease.branch.id]
    if let before, before.lease == lease { return before }
    let isPlausible = !wasSet && left <= Self.longest
    let length = max(before?.length ?? own, isPlausible ? left : own)
    // Since when it is so by the database's clock, where that can be: behind the look before, in which it was not.
    let longestAgo = former.flatMap { before == nil ? nil : now.since($0) } ?? length
    let ago = isPlausible ? min(max(.zero, length - left), longestAgo) : .zero
    return Known(lease: lease, renewedAt: now - ago, length: length, isAlive: before != nil)
  }
}
