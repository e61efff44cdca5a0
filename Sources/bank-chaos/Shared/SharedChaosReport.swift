// Report of a chaos run over several branches, as a table and as JSON.
// Invariant: the times until customers were served again are rounded up; see ChaosTimes. What was not measured is left
// empty.
import Console
import Time

struct SharedChaosReport: Sendable {
  var seed: Int64
  /// Directory of the homes, which are kept if a promise was broken.
  var place: String
  var branches: Int
  var account: ChaosAccount
  var counts: [SharedAct: Int64] = [:]
  var elapsed: TimeSpan = .zero
  /// Times from a fault until customers were served again.
  var gaps: [SharedAct: ChaosTimes] = [:]
  /// Number of branches that can be cut off by a network of their own, and by a relay.
  var byNetwork = 0
  var byRelay = 0
  /// The longest time for which a database snapshot was held open.
  var snapshot: TimeSpan = .zero
  private static let named = 50

  func document(_ words: MessageCatalog) -> JSONValue {
    let acts = SharedAct.allCases.reduce(JSONValue.object([])) {
      $0.adding([$1.rawValue: .integer(counts[$1, default: 0])])
    }
    let gaps = SharedAct.allCases.reduce(JSONValue.object([])) {
      $0.adding([$1.rawValue: (self.gaps[$1] ?? ChaosTimes([])).document])
    }
    return [
      "version": 1, "ok": .bool(account.isClean), "seed": .integer(seed), "home": .string(place),
      "branches": .integer(Int64(branches)), "elapsed_ms": .integer(elapsed.milliseconds), "kills": acts,
      "gaps_ms": gaps, "snapshot_ms": .integer(snapshot.milliseconds),
      "cut_by_network": .integer(Int64(byNetwork)), "cut_by_relay": .integer(Int64(byRelay)),
      "acknowledged": .integer(account.acknowledged), "receipts": .integer(account.receipts),
      "lost": .integer(account.lost), "duplicated": .integer(account.duplicated),
      "money_difference": .integer(account.moneyDifference), "orphans": .integer(account.orphans),
      "reserved": .integer(account.reserved),
      "violations": .array(account.violations.prefix(Self.named).map { .string(words.sentence($0)) }),
    ]
  }

  func lines(_ words: MessageCatalog, _ palette: Palette, within columns: Int? = nil) -> [String] {
    var table = TextTable([.left, .right, .left])
    for act in SharedAct.allCases {
      let times = gaps[act].flatMap { $0.count > 0 ? words.servedAgain($0) : nil } ?? ""
      table.add([
        .init(words.done(act)), .init(MessageCatalog.grouped(counts[act, default: 0])), .init(times),
      ])
    }
    let plain = [
      (words.chaosSnapshot, words.span(milliseconds: snapshot.milliseconds)),
      (words.chaosAcknowledged, MessageCatalog.grouped(account.acknowledged)),
      (words.chaosReceipts, MessageCatalog.grouped(account.receipts)),
      (words.chaosReserved, MessageCatalog.grouped(account.reserved)),
    ]
    for (name, value) in plain { table.add([.init(name), .init(value), .init("")]) }
    let checks = [
      (words.lost, account.lost), (words.duplicated, account.duplicated),
      (words.chaosMoney, account.moneyDifference), (words.chaosOrphans, account.orphans),
    ]
    for (name, number) in checks {
      table.add([.init(name), .init(MessageCatalog.grouped(number), number == 0 ? nil : .alarm), .init("")])
    }
    let verdict =
      account.isClean ? words.chaosSharedClean : palette.paint(words.chaosBroken(seed, place), .alarm)
    let way = byNetwork + byRelay > 0 ? [words.chaosWays(network: byNetwork, relay: byRelay)] : []
    return [verdict] + table.lines(palette, indent: 2, within: columns) + way
      + account.violations.prefix(Self.named).map { palette.paint("- \(words.sentence($0))", .alarm) }
  }
}
