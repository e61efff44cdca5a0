// Owns how much the coordinator takes upon itself at once, and how long it waits for what it has asked for itself. It knows
// nothing of what is counted. Invariant: nobody notices these numbers but by the time that something takes.

import BankModel
import Posix
import Time
import Transport
import Wire

package struct CoordinatorLimits: Sendable {
  /// Customers in one slice of a large request.
  package var slice: Int64 = 2_048
  /// Bytes of payloads in one slice, where one customer does not carry more.
  package var sliceBytes = 1 << 20
  /// Bytes of payloads after which a transaction is committed, whatever else is to be taken in.
  package var transactionBytes = 8 << 20
  /// Customers in a part of a list that is kept.
  package var listPart = EnqueueList.partLimit
  /// Numbers that are left free for others before a request in slices, at most.
  package var gap: Int64 = 1 << 20
  /// Customers of a request that was never whole who are taken out in one turn.
  package var withdrawn = 4_096
  /// How long the stock may take to give back what a cancelled ticket holds.
  package var release = TimeSpan.seconds(10)

  /// True to keep payloads of services whose tellers read none, which a bank refuses. A simulation looks for them on its disk.
  package var keepsUnreadPayloads = false

  package init() {}
}

/// Every limit on those who talk with the coordinator, in one place: how many, how much, how long. It must not know what
/// happens to whoever breaks one: that is said where it is found out.
/// Invariant: each is above what a peer of this build ever needs, so only a broken or hostile one meets it.
enum ClientLimits {
  static let frame = FrameLimits.control
  /// What the clients of every server may have, and room for more of them.
  static var ofSocket: ServiceLimits {
    var limits = ServiceLimits()
    (limits.frame, limits.sessions, limits.backlog) = (frame, 2_000, 1_024)
    return limits
  }
  /// How long requests are heard in one turn of the loop; after that each client is heard once.
  static let turn = TimeSpan.milliseconds(4)
  /// Requests of one client that the queue may be working on; beyond it the client is not heard.
  static let openRequests = 4_096
  /// Questions of one client that may wait for the disk; beyond it the client is not heard.
  static let openReadings = 128
  /// Answers of one client that may be open: lists, followers, waits.
  static let openAnswers = 256
}

/// How many reports of progress somebody has made, against ``TellerLimits/beats``.
struct BeatCount {
  private var count = 0
  private var since = MonotonicTime(nanoseconds: 0)

  /// Counts one; true where there were more than may be in a second. The clock is asked once for as many as there may be.
  mutating func isTooMany() -> Bool {
    count += 1
    guard count > TellerLimits.beats else { return false }
    let now = SystemClock.moment().monotonic
    defer { (count, since) = (0, now) }
    return now.since(since) < .seconds(1)
  }

  /// Begins anew, at a moment.
  mutating func begin(at now: MonotonicTime) { (count, since) = (0, now) }
}

/// The limits on tellers. How long one may work on a customer without progress is the lease, in the configuration.
enum TellerLimits {
  static let frame = FrameLimits.teller
  /// Bytes that may wait for a teller that does not read: as many customers as it can have in hand, each with a payload.
  static let unread = BankModel.Limits.customersInHand * (BankModel.Limits.payloadLength + 1_024) + 1 << 20
  /// How long a teller may take until it is ready.
  static let ready = TimeSpan.seconds(10)
  /// Reports of progress within a second. One of this build makes forty at the shortest lease there can be.
  static let beats = 1_000
  /// How long a teller with free hands may take to go.
  static let leave = TimeSpan.seconds(3)
  /// How long a teller that has closed its channel to go may take to end.
  static let exit = TimeSpan.seconds(1)
}
