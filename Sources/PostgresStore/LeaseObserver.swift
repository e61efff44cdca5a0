// Expiry of other branches' leases, measured from poll to poll with the branch's own monotonic clock. The clock of
// the database server may be set, so it does not show reliably how long a branch was silent.
// Invariant: after a renewal was observed, a lease expires only if it is not renewed again for its length, by the
// monotonic clock. If no renewal was observed, a lease also expires when its end has passed by the server's clock. A
// branch that has no lease and has left slices of a request counts as expired. The monotonic times have a tolerance.
import Time

/// Lease of another branch in the result of one poll.
struct ObservedLease: Equatable {
  /// Number and epoch of the branch.
  var branch: PostgresBranch
  /// End by the server's clock, in microseconds since 1970; nil if the branch has left or was fenced.
  var end: Int64?
}

/// Decides from one poll to the next which leases of other branches have expired.
struct LeaseObserver {
  /// A lease of another branch that this branch may end.
  struct ExpiredLease: Equatable {
    var branch: PostgresBranch
    /// End of the lease that was observed and did not change, in microseconds since 1970; 0 if the server's clock
    /// decides.
    var unchangedEnd: Int64 = 0
  }

  /// What was observed of one branch's lease so far.
  private struct LeaseHistory {
    var lease: ObservedLease
    /// Time of the last renewal, computed from the server's clock; if that is not plausible, the latest possible time.
    var renewedAt: MonotonicTime
    /// Longest length of the lease that was observed or assumed.
    var length: TimeSpan
    /// True if a renewal was observed, not only the lease itself.
    var isAlive: Bool
  }

  /// Maximum length of a lease. A longer remaining time means that the renewal used another clock setting.
  private static let longest = TimeSpan.seconds(60)
  /// Maximum difference of the clocks between two polls, in milliseconds, in addition to the duration of a query. A
  /// larger difference means that the server's clock was set.
  private static let tolerance: Int64 = 300

  /// True if the server's clock was set between the last two polls.
  private(set) var wasSet = false
  /// What was observed of each lease until the last poll, by the number of the branch.
  private var known: [Int64: LeaseHistory] = [:]
  /// Server's clock in the last poll, and the times at which the poll was sent and answered.
  private var last: (database: Int64, askedAt: MonotonicTime, at: MonotonicTime)?

  /// Records the result of a poll, and returns the leases that may be ended.
  ///
  /// - Parameters:
  ///   - leases: leases of all other branches.
  ///   - past: branches with claims or with slices of a large request, whose lease has expired by the server's clock.
  ///   - database: server's clock, in milliseconds since 1970.
  ///   - own: length of the branch's own lease.
  mutating func update(
    _ leases: [ObservedLease], past: [PostgresBranch], database: Int64, askedAt: MonotonicTime,
    at now: MonotonicTime, own: TimeSpan
  ) -> [ExpiredLease] {
    wasSet = isSet(database, askedAt: askedAt, at: now)
    let former = last?.askedAt
    last = (database, askedAt, now)
    var next: [Int64: LeaseHistory] = [:]
    var expired: [ExpiredLease] = []
    let past = Set(past)
    for lease in leases {
      guard let end = lease.end else { continue }
      let left = TimeSpan.milliseconds(end / 1_000 - database)
      let one = renewed(lease, left, wasSet: wasSet, after: former, at: now, own: own)
      next[lease.branch.id] = one
      let silence = now.since(one.renewedAt)
      if past.contains(lease.branch) {
        // If a renewal was observed, both clocks must show that the lease has expired. The tolerance is for the
        // duration of a query.
        if silence >= one.length - one.length / 16 || !one.isAlive {
          expired.append(ExpiredLease(branch: lease.branch))
        }
      } else if silence >= one.length + one.length / 16, left > .zero {
        expired.append(ExpiredLease(branch: lease.branch, unchangedEnd: end))
      }
    }
    known = next
    // A branch that has left may still have slices of a request without tickets.
    let ended = leases.filter { $0.end == nil && past.contains($0.branch) }
    return expired + ended.map { ExpiredLease(branch: $0.branch) }
  }

  /// True if the server's clock was set since the last poll.
  private func isSet(_ database: Int64, askedAt: MonotonicTime, at now: MonotonicTime) -> Bool {
    guard let last else { return false }
    let passed = database.subtractingReportingOverflow(last.database).partialValue
    let (least, most) = (askedAt.since(last.at).milliseconds, now.since(last.askedAt).milliseconds)
    return passed < least - Self.tolerance || passed > most + Self.tolerance
  }

  /// What was observed of a lease, after a poll: the known value if the lease did not change, else a new one.
  private func renewed(
    _ lease: ObservedLease, _ left: TimeSpan, wasSet: Bool, after former: MonotonicTime?,
    at now: MonotonicTime,
    own: TimeSpan
  ) -> LeaseHistory {
    let before = known[lease.branch.id]
    if let before, before.lease == lease { return before }
    let isPlausible = !wasSet && left <= Self.longest
    let length = max(before?.length ?? own, isPlausible ? left : own)
    // Time since the renewal by the server's clock, if that is plausible. For a known branch the renewal is younger
    // than the previous poll, which did not show it.
    let longestAgo = former.flatMap { before == nil ? nil : now.since($0) } ?? length
    let ago = isPlausible ? min(max(.zero, length - left), longestAgo) : .zero
    return LeaseHistory(lease: lease, renewedAt: now - ago, length: length, isAlive: before != nil)
  }
}
