// Report of a chaos run, as a table and as JSON.
// Invariant: the times of ChaosTimes are rounded up: such a time in milliseconds is never shorter than measured.
import Console
import Time

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

struct ChaosReport: Sendable {
  var seed: Int64
  var home: String
  var account: ChaosAccount
  var kills: [ChaosTarget: Int64] = [:]
  var stops: Int64 = 0
  var cuts: Int64 = 0
  var requeued: Int64 = 0
  /// Deliveries of fruit, purchases, and changes of the stock that the subscriber received.
  var deliveries: Int64 = 0
  var purchases: Int64 = 0
  var changesWatched: Int64 = 0
  var elapsed: TimeSpan = .zero
  var reserve = ChaosTimes([])
  var recover = ChaosTimes([])
  /// Times from a kill until the web page was right again, and the number of its events.
  var page = ChaosTimes([])
  var pageEvents: Int64 = 0
  /// Maximum number of violations in the report; the counts include all of them.
  private static let named = 50

  func document(_ words: MessageCatalog) -> JSONValue {
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
      "juices": .integer(account.juices), "sent_away": .integer(account.sentAway),
      "deliveries": .integer(deliveries), "purchases": .integer(purchases),
      "changes_watched": .integer(changesWatched), "attempts": .integer(account.attempts),
      "cancelled": .integer(account.cancelled), "work_deviations": .integer(account.workDeviations),
      "reserved": .integer(account.reserved), "overtaken_by_crash": .integer(account.overtakenByCrash),
      "requeued": .integer(requeued), "reserve_ms": reserve.document, "recover_ms": recover.document,
      "page_ms": page.document, "page_events": .integer(pageEvents),
      "violations": .array(account.violations.prefix(Self.named).map { .string(words.sentence($0)) }),
    ]
  }

  func lines(_ words: MessageCatalog, _ palette: Palette, within columns: Int? = nil) -> [String] {
    var table = TextTable([.left, .right])
    for target in ChaosTarget.allCases {
      table.add([.init(words.killed(target)), .init(MessageCatalog.grouped(kills[target, default: 0]))])
    }
    let plain = [
      (words.chaosStops, stops), (words.chaosCuts, cuts), (words.chaosAcknowledged, account.acknowledged),
      (words.chaosReceipts, account.receipts), (words.chaosReserved, account.reserved),
      (words.chaosRequeued, requeued), (words.chaosOvertakenByCrash, account.overtakenByCrash),
      (words.chaosJuices, account.juices), (words.chaosSentAway, account.sentAway),
      (words.chaosDeliveries, deliveries), (words.chaosPurchases, purchases),
      (words.chaosWatched, changesWatched), (words.chaosAttempts, account.attempts),
      (words.chaosCancelled, account.cancelled), (words.chaosPageEvents, pageEvents),
    ]
    for (name, number) in plain { table.add([.init(name), .init(MessageCatalog.grouped(number))]) }
    let checks = [
      (words.lost, account.lost), (words.duplicated, account.duplicated),
      (words.chaosOrder, account.orderViolations), (words.chaosMoney, account.moneyDifference),
      (words.stockDifference, account.stockDifference), (words.chaosOrphans, account.orphans),
      (words.chaosDeviations, account.workDeviations),
    ]
    for (name, number) in checks {
      table.add([.init(name), .init(MessageCatalog.grouped(number), number == 0 ? nil : .alarm)])
    }
    table.add([.init(words.chaosReserveTime), .init(words.times(reserve))])
    table.add([.init(words.chaosRecoverTime), .init(words.times(recover))])
    table.add([.init(words.chaosPageTime), .init(words.times(page))])
    let verdict = account.isClean ? words.chaosClean : palette.paint(words.chaosBroken(seed, home), .alarm)
    return [verdict] + table.lines(palette, indent: 2, within: columns)
      + account.violations.prefix(Self.named).map { palette.paint("- \(words.sentence($0))", .alarm) }
  }
}
