// Report of a chaos run over several branches, as a table and as JSON.
// Invariant: the times until customers were served again are rounded up; see ChaosTimes. What was not measured is left
// empty.
import BankctlCommands
import Time

/// Figures and deviations of one run over several branches.
struct SharedChaosReport: Sendable {
  var seed: Int64
  /// Directory of the homes, which are kept if a promise was broken.
  var place: String
  var branches: Int
  var account: ChaosCheckResult
  /// Number of injected faults of each kind.
  var counts: [SharedFault: Int64] = [:]
  var elapsed: TimeSpan = .zero
  /// Times from a fault until customers were served again.
  var gaps: [SharedFault: ChaosTimes] = [:]
  /// Number of branches that can be cut off by a network of their own, and by a relay.
  var networkRoutes = 0
  var relayRoutes = 0
  /// The longest time for which a database snapshot was held open.
  var snapshot: TimeSpan = .zero
  /// Maximum number of violations in the report; the counts include all of them.
  private static let maxListed = 50

  func document(_ catalog: MessageCatalog) -> JSONValue {
    let faults = SharedFault.allCases.reduce(JSONValue.object([])) {
      $0.adding([$1.rawValue: .integer(counts[$1, default: 0])])
    }
    let gaps = SharedFault.allCases.reduce(JSONValue.object([])) {
      $0.adding([$1.rawValue: (self.gaps[$1] ?? ChaosTimes([])).document])
    }
    return [
      "version": 1, "ok": .bool(account.isClean), "seed": .integer(seed), "home": .string(place),
      "branches": .integer(Int64(branches)), "elapsed_ms": .integer(elapsed.milliseconds), "kills": faults,
      "gaps_ms": gaps, "snapshot_ms": .integer(snapshot.milliseconds),
      "cut_by_network": .integer(Int64(networkRoutes)), "cut_by_relay": .integer(Int64(relayRoutes)),
      "acknowledged": .integer(account.acknowledged), "receipts": .integer(account.receipts),
      "lost": .integer(account.lost), "duplicated": .integer(account.duplicated),
      "money_difference": .integer(account.moneyDifference), "orphans": .integer(account.orphans),
      "reserved": .integer(account.reserved),
      "violations": .array(account.violations.prefix(Self.maxListed).map { .string(catalog.sentence($0)) }),
    ]
  }

  /// The report as text: the verdict, the faults with their times, the figures and the deviations.
  func lines(_ catalog: MessageCatalog, _ palette: Palette, within columns: Int? = nil) -> [String] {
    var table = TextTable([.left, .right, .left])
    for fault in SharedFault.allCases {
      let times = gaps[fault].flatMap { $0.count > 0 ? catalog.servedAgain($0) : nil } ?? ""
      table.add([
        .init(catalog.injected(fault)), .init(MessageCatalog.grouped(counts[fault, default: 0])),
        .init(times),
      ])
    }
    let plain = [
      (catalog.chaosSnapshot, catalog.span(milliseconds: snapshot.milliseconds)),
      (catalog.chaosAcknowledged, MessageCatalog.grouped(account.acknowledged)),
      (catalog.chaosReceipts, MessageCatalog.grouped(account.receipts)),
      (catalog.chaosReserved, MessageCatalog.grouped(account.reserved)),
    ]
    for (name, value) in plain { table.add([.init(name), .init(value), .init("")]) }
    let checks = [
      (catalog.lost, account.lost), (catalog.duplicated, account.duplicated),
      (catalog.chaosMoney, account.moneyDifference), (catalog.chaosOrphans, account.orphans),
    ]
    for (name, number) in checks {
      table.add([.init(name), .init(MessageCatalog.grouped(number), number == 0 ? nil : .alarm), .init("")])
    }
    let verdict =
      account.isClean ? catalog.chaosSharedClean : palette.paint(catalog.chaosBroken(seed, place), .alarm)
    let route =
      networkRoutes + relayRoutes > 0 ? [catalog.chaosRoutes(network: networkRoutes, relay: relayRoutes)] : []
    return [verdict] + table.lines(palette, indent: 2, within: columns) + route
      + account.violations.prefix(Self.maxListed).map { palette.paint("- \(catalog.sentence($0))", .alarm) }
  }
}
