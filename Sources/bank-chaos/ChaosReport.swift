// Report of a chaos run, as a table and as JSON.
// Invariant: the times of ChaosTimes are rounded up: such a time in milliseconds is never shorter than measured.
import BankctlCommands
import Time

/// Count, median, 99th percentile and maximum of measured times.
struct ChaosTimes: Sendable, Equatable {
  var count = 0
  /// Milliseconds; nil if nothing was measured.
  var median: Int64?
  var p99: Int64?
  var longest: Int64?

  init(_ times: [TimeSpan]) {
    let sorted = times.sorted()
    count = sorted.count
    guard let last = sorted.last else { return }
    median = Self.milliseconds(sorted[(sorted.count - 1) / 2])
    p99 = Self.milliseconds(sorted[(sorted.count * 99 + 99) / 100 - 1])
    longest = Self.milliseconds(last)
  }

  /// Milliseconds, rounded up.
  private static func milliseconds(_ time: TimeSpan) -> Int64 {
    (time.nanoseconds + 999_999) / 1_000_000
  }

  var document: JSONValue {
    [
      "count": .integer(Int64(count)), "p50": JSONValue(median), "p99": JSONValue(p99),
      "max": JSONValue(longest),
    ]
  }
}

/// Figures and deviations of one run.
struct ChaosReport: Sendable {
  var seed: Int64
  var home: String
  var account: ChaosCheckResult
  var kills: [ChaosTarget: Int64] = [:]
  var stops: Int64 = 0
  var cuts: Int64 = 0
  var requeued: Int64 = 0
  /// Deliveries of fruit, purchases, and changes of the stock that the subscriber received.
  var deliveries: Int64 = 0
  var purchases: Int64 = 0
  var changesWatched: Int64 = 0
  var elapsed: TimeSpan = .zero
  /// Times until the customer of a killed teller, and any customer after a killed coordinator, was started.
  var reserve = ChaosTimes([])
  var recover = ChaosTimes([])
  /// Times from a kill until the web page was right again, and the number of its events.
  var page = ChaosTimes([])
  var pageEvents: Int64 = 0
  /// Maximum number of violations in the report; the counts include all of them.
  private static let maxListed = 50

  func document(_ catalog: MessageCatalog) -> JSONValue {
    let victims = ChaosTarget.allCases.reduce(JSONValue.object([])) {
      $0.adding([$1.rawValue: .integer(kills[$1, default: 0])])
    }
    return [
      "version": 1, "ok": .bool(account.isClean), "seed": .integer(seed), "home": .string(home),
      "elapsed_ms": .integer(elapsed.milliseconds), "kills": victims, "stops": .integer(stops),
      "cuts": .integer(cuts), "acknowledged": .integer(account.acknowledged),
      "receipts": .integer(account.receipts), "lost": .integer(account.lost),
      "duplicated": .integer(account.duplicated), "order_violations": .integer(account.orderViolations),
      "money_difference": .integer(account.moneyDifference),
      "stock_difference": .integer(account.stockDifference), "orphans": .integer(account.orphans),
      "juices": .integer(account.juices), "sent_away": .integer(account.outOfStockCount),
      "deliveries": .integer(deliveries), "purchases": .integer(purchases),
      "changes_watched": .integer(changesWatched), "attempts": .integer(account.attempts),
      "cancelled": .integer(account.cancelled), "work_deviations": .integer(account.workDeviations),
      "reserved": .integer(account.reserved), "overtaken_by_crash": .integer(account.overtakenByCrash),
      "requeued": .integer(requeued), "reserve_ms": reserve.document, "recover_ms": recover.document,
      "page_ms": page.document, "page_events": .integer(pageEvents),
      "violations": .array(account.violations.prefix(Self.maxListed).map { .string(catalog.sentence($0)) }),
    ]
  }

  /// The report as text: the verdict, the figures, and the deviations.
  func lines(_ catalog: MessageCatalog, _ palette: Palette, within columns: Int? = nil) -> [String] {
    var table = TextTable([.left, .right])
    for target in ChaosTarget.allCases {
      table.add([.init(catalog.killed(target)), .init(MessageCatalog.grouped(kills[target, default: 0]))])
    }
    let plain = [
      (catalog.chaosStops, stops), (catalog.chaosCuts, cuts),
      (catalog.chaosAcknowledged, account.acknowledged),
      (catalog.chaosReceipts, account.receipts), (catalog.chaosReserved, account.reserved),
      (catalog.chaosRequeued, requeued), (catalog.chaosOvertakenByCrash, account.overtakenByCrash),
      (catalog.chaosJuices, account.juices), (catalog.chaosSentAway, account.outOfStockCount),
      (catalog.chaosDeliveries, deliveries), (catalog.chaosPurchases, purchases),
      (catalog.chaosWatched, changesWatched), (catalog.chaosAttempts, account.attempts),
      (catalog.chaosCancelled, account.cancelled), (catalog.chaosPageEvents, pageEvents),
    ]
    for (name, number) in plain { table.add([.init(name), .init(MessageCatalog.grouped(number))]) }
    let checks = [
      (catalog.lost, account.lost), (catalog.duplicated, account.duplicated),
      (catalog.chaosOrder, account.orderViolations), (catalog.chaosMoney, account.moneyDifference),
      (catalog.stockDifference, account.stockDifference), (catalog.chaosOrphans, account.orphans),
      (catalog.chaosDeviations, account.workDeviations),
    ]
    for (name, number) in checks {
      table.add([.init(name), .init(MessageCatalog.grouped(number), number == 0 ? nil : .alarm)])
    }
    table.add([.init(catalog.chaosReserveTime), .init(catalog.times(reserve))])
    table.add([.init(catalog.chaosRecoverTime), .init(catalog.times(recover))])
    table.add([.init(catalog.chaosPageTime), .init(catalog.times(page))])
    let verdict =
      account.isClean ? catalog.chaosClean : palette.paint(catalog.chaosBroken(seed, home), .alarm)
    return [verdict] + table.lines(palette, indent: 2, within: columns)
      + account.violations.prefix(Self.maxListed).map { palette.paint("- \(catalog.sentence($0))", .alarm) }
  }
}
