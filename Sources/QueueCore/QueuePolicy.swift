// Owns the numbers by which the queue decides. It knows no file from which they might come.
// Whoever reads them from outside has checked their ranges.

import BankModel
import Time

/// The rules that may be others for one service than for all.
public struct ServicePolicy: Sendable, Equatable {
  /// How long a teller may go without progress.
  public var lease: TimeSpan = .seconds(10)
  /// How long a teller may take to give back whom it was asked for; nil for as long as a lease.
  public var recall: TimeSpan?
  /// Customers that a teller may have in hand, 1 to `Limits.customersInHand`. All but the first wait there for their turn, and
  /// the next one is at hand without a word to the coordinator. They are held back from other windows meanwhile.
  public var prefetch = 1
  /// Crashes after which a customer becomes a dead letter.
  public var maxCrashes: Int32 = 3
  /// Reported failures after which a customer becomes a dead letter.
  public var maxFailures: Int32 = 5
  /// The pause before the second attempt after a reported failure; it doubles with each failure.
  public var retryFirst: TimeSpan = .seconds(1)
  /// The longest pause between attempts.
  public var retryLimit: TimeSpan = .seconds(60)
  /// How long a worker may take for one customer, whatever progress it makes; nil for as long as it makes some.
  public var timeout: TimeSpan?
  /// By how many thousandths of it at most a pause is longer or shorter, so that those who failed together do not come back
  /// together: 0 to 1,000.
  public var retryJitter: Int32 = 0
  /// Customers of the service who may wait at most, in line, delayed or at a window; nil for as many as the bank lets wait.
  public var maxWaiting: Int64?
  /// Attempts after which "try later" counts as a failure, so that nobody is tried for ever.
  public var maxLater: Int32 = 100
  /// Attempts that may begin at a customer, 1 to 1,000; nil for as many as crashes and failures allow. Where it is said, an
  /// attempt is on disk before it begins.
  public var maxAttempts: Int16?
  /// Whether nobody is handed out while somebody is being ended who may still be at work: what the work does outside of the
  /// bank would be done by two at once. A teller does nothing outside.
  public var endsWorkFirst = false
  /// From which account to which one the amount of a served customer goes; nil for none. Deposits and loans have their own.
  public var postingRule: PostingRule?

  /// The rules of a service for which nothing else was said.
  public init() {}

  /// The pause before the next attempt of a customer who has failed so many times.
  public func pause(afterFailures failures: Int32) -> TimeSpan {
    let doublings = min(max(Int64(failures) - 1, 0), 40)
    return min(retryFirst * (1 << doublings), retryLimit)
  }

  /// The same, longer or shorter by up to ``retryJitter`` of it. There is no chance in it: the same attempt of the same
  /// customer always gets the same pause.
  public func pause(
    afterFailures failures: Int32, of ticket: TicketNumber, on day: BusinessDay, attempt: Int32
  ) -> TimeSpan {
    let pause = pause(afterFailures: failures)
    let width = jitter(of: pause)
    guard width > .zero else { return pause }
    var mix = SeededGenerator(seed: UInt64(bitPattern: day))
    for part in [ticket, Int64(attempt)] {
      mix = SeededGenerator(seed: mix.next() ^ UInt64(bitPattern: part))
    }
    return TimeSpan(nanoseconds: mix.draw((pause - width).nanoseconds...(pause + width).nanoseconds))
  }

  /// The longest pause that anybody can get.
  var longestPause: TimeSpan { retryLimit + jitter(of: retryLimit) }

  private func jitter(of pause: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: pause.nanoseconds / 1_000 * Int64(retryJitter))
  }
}

/// The rules of the queue that an operator may set.
@dynamicMemberLookup
public struct QueuePolicy: Sendable, Equatable {
  /// Customers who may wait at most, in line, delayed or at a window. Beyond it new ones are refused.
  public var maxWaiting: Int64 = 20_000_000
  /// The rules of every service that has none of its own.
  public var common = ServicePolicy()
  /// The rules of services that have their own, by the index of the service: they are asked for with every customer.
  private var own: [ServicePolicy?] = []
  /// Whether fewer may wait for some service than the bank lets wait.
  private(set) var hasRoomByService = false
  /// Customers of one line who stand in memory at most; the others stand in the store.
  public var lineCapacity = 1024
  /// When fewer than this many stand in memory the next page is asked for.
  public var lineLowWater = 256
  /// Lines in whose places anybody may stand, beside those of the grades: so many priorities at once, over all services.
  /// More of them are there where customers came back who had left their lines.
  public var maxLines = 4_096
  /// Delayed customers who stand in memory, or up to twice as many for a while; the others stand in the store.
  public var delayedCapacity = 4_096
  /// When fewer than this many stand in memory the next page is asked for.
  public var delayedLowWater = 1_024
  /// Changes that may wait for the disk at most; beyond it nobody is handed out until they are there.
  public var maxUnsettled = 65_536
  /// Bytes of results that may wait for one commit; beyond it nobody is handed out either.
  public var maxUnsettledBytes = 16 << 20
  /// Transactions that may be on their way to the disk at once, 1 at least. Of a store that answers at once none ever is.
  public var maxUnderway = 4

  /// Whether several branches share the books, of which this queue is one; see `QueueMachine+Branch.swift`.
  public var isShared = false
  /// Customers of one line whom a branch claims at once, where the books are shared: 1 at least. With 1 nobody is claimed
  /// before a window is free, and nobody is overtaken by a customer of another branch.
  public var page = 100

  public init() {}

  /// The same, of a branch that shares its books or of a bank that has its own.
  ///
  /// - Parameter page: customers of one line whom it claims at once; nil where its books are its own.
  public func sharing(page: Int?) -> QueuePolicy {
    var policy = self
    policy.isShared = page != nil
    policy.page = max(1, page ?? policy.page)
    return policy
  }

  /// The rules of a service.
  ///
  /// - Parameter index: of the service.
  public subscript(index: Int) -> ServicePolicy { index < own.count ? own[index] ?? common : common }

  /// Gives a service rules of its own.
  public mutating func set(_ rules: ServicePolicy, for service: Service) {
    if rules.maxWaiting != nil { hasRoomByService = true }
    while own.count <= service.index { own.append(nil) }
    own[service.index] = rules
  }

  /// Lines that have as much memory as they may. Where there are more, each of the others has little.
  private static let fullLines = 32
  private static let smallLine = 32

  /// Customers in memory at most, of the line at this place.
  func capacity(ofLineAt place: Int) -> Int {
    place < Self.fullLines ? lineCapacity : min(lineCapacity, Self.smallLine)
  }

  /// When fewer than this many of it stand in memory the next page is asked for.
  func lowWater(ofLineAt place: Int) -> Int {
    place < Self.fullLines ? lineLowWater : min(lineLowWater, Self.smallLine / 4)
  }
}

extension QueuePolicy {
  /// A rule of every service that says nothing else.
  public subscript<Rule>(dynamicMember rule: WritableKeyPath<ServicePolicy, Rule>) -> Rule {
    get { common[keyPath: rule] }
    set { common[keyPath: rule] = newValue }
  }
}
