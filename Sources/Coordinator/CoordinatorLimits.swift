// Limits on the coordinator's work per step,
// and its timeouts for its own requests.

import BankModel
import Posix
import Time
import Transport
import Wire

package struct CoordinatorLimits: Sendable {
  /// Largest number of customers in one slice of a large request.
  package var slice: Int64 = 2_048
  /// Payload bytes in one slice, unless one customer carries more.
  package var sliceBytes = 1 << 20
  /// Payload bytes after which a transaction is committed, even if more customers are to be admitted.
  package var transactionBytes = 8 << 20
  /// Largest number of customers in one stored part of a list.
  package var listPart = EnqueueList.partLimit
  /// Upper limit of the ticket numbers that are left free for other requests before those of a sliced request.
  package var gap: Int64 = 1 << 20
  /// Largest number of customers of an incomplete request that are removed in one iteration.
  package var withdrawn = 4_096
  /// Timeout for the stock to release what a cancelled ticket has reserved.
  package var release = TimeSpan.seconds(10)

  /// True to store payloads of services whose tellers read none, as a simulation does.
  package var storesUnreadPayloads = false

  package init() {}
}

/// Limits on clients of the coordinator: numbers, sizes and times.
enum ClientLimits {
  static let frame = FrameLimits.control
  static var ofSocket: ServiceLimits {
    var limits = ServiceLimits()
    (limits.frame, limits.sessions, limits.backlog) = (frame, 2_000, 1_024)
    return limits
  }
  /// Time limit in one loop iteration for handling requests, for the parts of long answers, and for the tickets of
  /// selections.
  static let timeLimit = TimeSpan.milliseconds(4)
  /// Open requests of one client at the queue. The server does not read a client that has this many.
  static let openRequests = 4_096
  /// Queries of one client that wait for the disk. The server does not read a client that has this many.
  static let openReads = 128
  /// Open answers of one client: lists, subscriptions, waits.
  static let openAnswers = 256
}

/// Counter of a worker's progress reports. It detects a worker that continues to send more than
/// ``TellerLimits/beats`` a second.
struct BeatCount {
  /// Number of reports since the start of the count.
  private var count = 0
  private var since = MonotonicTime(nanoseconds: 0)

  /// Counts one report. Returns true if more than `beats` reports have arrived within a second of the last restart of
  /// the count.
  mutating func isTooMany() -> Bool {
    count += 1
    guard count > TellerLimits.beats else { return false }
    let now = SystemClock.moment().monotonic
    defer { (count, since) = (0, now) }
    return now.since(since) < .seconds(1)
  }

  mutating func begin(at now: MonotonicTime) { (count, since) = (0, now) }
}

enum TellerLimits {
  static let frame = FrameLimits.teller
  /// Unread bytes allowed for one teller: as many customers as it can have in flight, each with a payload.
  static let unread = BankModel.Limits.customersPerWorker * (BankModel.Limits.payloadLength + 1_024) + 1 << 20
  /// Timeout for a new teller to become ready.
  static let ready = TimeSpan.seconds(10)
  /// Progress reports allowed within a second.
  static let beats = 1_000
  /// Timeout for an idle teller to exit after it was asked to.
  static let leave = TimeSpan.seconds(3)
  /// Timeout for the exit of a teller that has closed its channel.
  static let exit = TimeSpan.seconds(1)
}
