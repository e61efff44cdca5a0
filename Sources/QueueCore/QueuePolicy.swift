// Settings of the queue.
// The caller has validated the ranges of all values.

import BankModel
import Time

/// Settings of one service, which may differ from those of other services.
public struct ServicePolicy: Sendable, Equatable {
  /// Maximum time without a progress report from a teller.
  public var lease: TimeSpan = .seconds(10)
  /// Time that a teller has to return recalled customers; nil for the value of ``lease``.
  public var recall: TimeSpan?
  /// Maximum number of customers that a worker holds, 1 to `Limits.customersPerWorker`. A teller prefetches all but the
  /// first: it starts the next one without a message to the coordinator. A side-by-side worker serves all of them at
  /// once. These customers are not available to other windows.
  public var prefetch = 1
  /// Number of crashes after which a customer becomes a dead letter, if no other customer can have caused the last one.
  public var maxCrashes: Int32 = 3
  /// Number of reported failures after which a customer becomes a dead letter.
  public var maxFailures: Int32 = 5
  /// Pause after the first reported failure. The pause doubles with each further failure, up to ``retryMaxDelay``.
  public var retryInitialDelay: TimeSpan = .seconds(1)
  /// Maximum pause before a retry, without jitter. It does not limit a pause that a worker requests.
  public var retryMaxDelay: TimeSpan = .seconds(60)
  /// Maximum time from the assignment of a customer to the end of the attempt, regardless of progress; nil for no
  /// limit.
  public var timeout: TimeSpan?
  /// Maximum jitter of a pause, in thousandths of the pause, 0 to 1,000. The jitter spreads the retries of customers
  /// that failed together.
  public var retryJitter: Int32 = 0
  /// Maximum number of unfinished customers of the service, in line, delayed or at a window; nil for the limit of the
  /// bank.
  public var maxWaiting: Int64?
  /// Attempt number from which a deferral ("try later") counts as a failure, so that retries end.
  public var maxDeferrals: Int32 = 100
  /// Maximum number of started attempts per customer since its last requeue, 1 to 1,000; nil for no limit besides
  /// crashes and failures. If set, an attempt is on disk before it starts.
  public var maxAttempts: Int16?
  /// True if the service assigns no customer to its windows while a worker that may still be running is being killed.
  /// Without this, two workers could produce the same external effects.
  public var awaitsProcessExit = false
  /// Accounts between which the amount of a served customer is transferred; nil for no transfer. Deposits and loans
  /// have built-in rules, which this setting does not change.
  public var postingRule: PostingRule?

  /// Creates the default settings.
  public init() {}

  /// Pause before the next attempt after this number of failures, without jitter.
  public func pause(afterFailures failures: Int32) -> TimeSpan {
    let doublings = min(max(Int64(failures) - 1, 0), 40)
    return min(retryInitialDelay * (1 << doublings), retryMaxDelay)
  }

  /// Pause before the next attempt, with a jitter of up to ``retryJitter``. The same attempt of the same customer gets
  /// the same pause.
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

  /// Maximum pause including jitter, if the worker requests no other pause.
  var longestPause: TimeSpan { retryMaxDelay + jitter(of: retryMaxDelay) }

  /// Maximum deviation from a pause in either direction.
  private func jitter(of pause: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: pause.nanoseconds / 1_000 * Int64(retryJitter))
  }
}

/// Settings of the queue.
@dynamicMemberLookup
public struct QueuePolicy: Sendable, Equatable {
  /// Maximum number of unfinished customers, in line, delayed or at a window. Further customers are refused.
  public var maxWaiting: Int64 = 20_000_000
  /// Settings of services without settings of their own.
  public var common = ServicePolicy()
  /// Settings of individual services, by the index of the service.
  private var own: [ServicePolicy?] = []
  /// True if a service has a ``ServicePolicy/maxWaiting`` of its own.
  private(set) var hasLimitByService = false
  /// Maximum number of customers that a line holds in memory; more while a page is being loaded, or in a shared bank.
  /// The other customers are only in the store.
  public var lineCapacity = 1024
  /// Number of customers of a line in memory below which the queue requests a page of the line.
  public var lineLowWater = 256
  /// Maximum number of lines over all services, without the lines of the grades. Customers that return to a line
  /// without an index can cause a higher number.
  public var maxLines = 4_096
  /// Number of delayed customers in memory, temporarily twice as many. The other customers are only in the store.
  public var delayedCapacity = 4_096
  /// Number of delayed customers in memory below which the queue requests a page of them.
  public var delayedLowWater = 1_024
  /// Number of changes waiting for the disk at which no further customer is assigned.
  public var maxUncommitted = 65_536
  /// Number of result bytes waiting for a commit at which no further customer is assigned.
  public var maxUncommittedBytes = 16 << 20
  /// Maximum number of transactions in flight, at least 1. Irrelevant for a store that commits synchronously.
  public var maxUnderway = 4

  /// True if the queue belongs to one of several branches of a shared database; see
  /// `QueueMachine+SharedStore.swift`.
  public var isShared = false
  /// Number of customers of one line that a branch claims at once from a shared database, at least 1. If the value is
  /// 1, a branch claims a customer only when a worker can take one.
  public var page = 100

  public init() {}

  /// Returns these settings for a branch of a shared bank, which claims `page` customers of a line at once, or for a
  /// bank with its own database if `page` is nil.
  public func sharing(page: Int?) -> QueuePolicy {
    var policy = self
    policy.isShared = page != nil
    policy.page = max(1, page ?? policy.page)
    return policy
  }

  /// Settings of a service.
  ///
  /// - Parameter index: index of the service.
  public subscript(index: Int) -> ServicePolicy { index < own.count ? own[index] ?? common : common }

  /// Gives a service its own settings in place of the common ones.
  public mutating func set(_ rules: ServicePolicy, for service: Service) {
    if rules.maxWaiting != nil { hasLimitByService = true }
    while own.count <= service.index { own.append(nil) }
    own[service.index] = rules
  }

  /// Number of lines that may hold ``lineCapacity`` customers in memory.
  private static let fullLines = 32
  /// Number of customers in memory of each line after the first ``fullLines``.
  private static let smallLine = 32

  /// Number of customers that the line at this index holds in memory; see ``lineCapacity``.
  func capacity(ofLineAt place: Int) -> Int {
    place < Self.fullLines ? lineCapacity : min(lineCapacity, Self.smallLine)
  }

  /// Number of customers in memory below which the queue requests a page of the line at this index.
  func lowWater(ofLineAt place: Int) -> Int {
    place < Self.fullLines ? lineLowWater : min(lineLowWater, Self.smallLine / 4)
  }
}

extension QueuePolicy {
  /// A setting of all services without settings of their own.
  public subscript<Rule>(dynamicMember rule: WritableKeyPath<ServicePolicy, Rule>) -> Rule {
    get { common[keyPath: rule] }
    set { common[keyPath: rule] = newValue }
  }
}
