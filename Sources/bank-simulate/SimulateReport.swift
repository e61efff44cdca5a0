// Report of simulated histories, as text and as JSON.
// Invariant: a broken promise is reported with its seed and the command that reproduces it.
import Simulator

/// The outcome of a run: counts, the duration, and the broken history if there is one.
struct SimulateReport {
  var failed: FailedHistory?
  /// Options of the command that reproduces a history.
  private let options: String
  /// Duration of the run; nil for a single history.
  private let seconds: Double?
  /// The counts, each with its name in the text and its JSON field; nil if a count does not appear there.
  private let counts: [(words: String?, field: String?, number: Int64)]
  private let faults: [(name: String, count: Int64)]
  private let histories: Int64, events: Int64

  /// A report of one bank with a database of its own.
  init(
    _ statistics: Statistics, failed: FailedHistory?, scenario: Scenario?, bug: PlantedBug?, seconds: Double?
  ) {
    (self.failed, self.seconds) = (failed, seconds)
    options =
      (scenario.map { " --scenario \($0.name)" } ?? "") + (bug.map { " --bug \($0.name)" } ?? "")
    (histories, events) = (statistics.histories, statistics.events)
    faults = FaultKind.allCases.map { ($0.name, statistics.count(of: $0)) }
    counts = Self.counts(of: statistics)
  }

  /// A report of several branches.
  init(_ statistics: BranchStatistics, failed: FailedHistory?, bug: PlantedBranchBug?, seconds: Double?) {
    (self.failed, self.seconds) = (failed, seconds)
    options = " --branches" + (bug.map { " --bug \($0.name)" } ?? "")
    (histories, events) = (statistics.histories, statistics.events)
    faults = BranchFault.allCases.map { ($0.name, statistics.count(of: $0)) }
    counts =
      BranchStatistics.counts.map { label, count in
        (label, String(label.map { $0 == " " ? "_" : $0 }), statistics[keyPath: count])
      } + [("faults", nil, statistics.totalFaults)]
  }

  /// The counts with their names in the text and in JSON, in the order of the report.
  private static func counts(
    of statistics: Statistics
  ) -> [(words: String?, field: String?, number: Int64)] {
    [
      ("histories", "histories", statistics.histories),
      ("events", "events", statistics.events),
      ("effects", "effects", statistics.effects),
      ("messages", "messages", statistics.messages),
      ("commits", "commits", statistics.commits),
      ("commits in SQLite", nil, statistics.databaseCommits),
      ("commits completed later", "commits_underway", statistics.commitsUnderway),
      ("with others before them", "commits_beside_others", statistics.pipelinedCommits),
      ("refused with others", "refused_beside_others", statistics.refusedPipelinedCommits),
      ("kept in part after a kill", "kept_in_part", statistics.partlyKeptCommits),
      ("customers assigned", "assignments", statistics.assignments),
      (nil, "database_commits", statistics.databaseCommits),
      ("receipts", "receipts", statistics.receipts),
      ("dead letters", "dead_letters", statistics.deadLetters),
      (nil, "withdrawals", statistics.withdrawals),
      ("requests withdrawn", "withdrawn", statistics.withdrawn),
      (nil, "withdrawn_in_part", statistics.withdrawnInPart),
      ("starts of the coordinator", "starts", statistics.starts),
      ("commands started", "commands", statistics.commands),
      ("processes that they started", "command_processes", statistics.commandProcesses),
      ("commands timed out", "commands_timed_out", statistics.commandsTimedOut),
      ("results of commands", "command_results", statistics.commandResults),
      ("juices", "juices", statistics.juices),
      ("rejected without a juice", "shortages", statistics.shortages),
      ("events of the stock", "stock_events", statistics.stockEvents),
      ("commits of the stock", "stock_commits", statistics.stockCommits),
      ("starts of the stock", "stock_starts", statistics.stockStarts),
      ("returned", "releases", statistics.releases),
      ("changes watched", "news", statistics.news),
      ("audits", "audits", statistics.audits),
      ("board snapshots", "boards", statistics.boards),
      ("purchases", "purchases", statistics.purchases),
      ("refused purchases", "refused_purchases", statistics.refusedPurchases),
      ("won inserted", "won_inserted", statistics.wonInserted),
      ("events of the machine", "vending_events", statistics.vendingEvents),
      ("commits of the machine", "vending_commits", statistics.vendingCommits),
      ("starts of the machine", "vending_starts", statistics.vendingStarts),
      ("faults", nil, statistics.totalFaults),
    ]
  }

  /// The report for people.
  var text: String {
    var lines: [String] = []
    for count in counts { if let label = count.words { lines.append(row(label, count.number)) } }
    for fault in faults { lines.append(row("  " + fault.name, fault.count)) }
    if let seconds { lines.append("\(hundredths(seconds)) s") }
    if let failed {
      lines.append("")
      lines.append("seed \(failed.seed) violates a guarantee: \(failed.violation)")
      lines.append("to repeat: \(command(failed.seed))")
    } else {
      lines.append("every guarantee held")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The report as a JSON document.
  var json: String {
    var fields = ["\"version\":1"]
    for count in counts { if let field = count.field { fields.append("\"\(field)\":\(count.number)") } }
    let faults = faults.map { name, count in "\"\(String(name.map { $0 == "-" ? "_" : $0 }))\":\(count)" }
    fields.append("\"faults\":{\(faults.joined(separator: ","))}")
    if let seconds {
      fields.append("\"seconds\":\(hundredths(seconds))")
      fields.append("\"histories_per_second\":\(rate(histories, seconds))")
      fields.append("\"events_per_second\":\(rate(events, seconds))")
    }
    if let failed {
      let violation = failed.violation
      fields.append(
        "\"violation\":{\"seed\":\(failed.seed),\"promise\":\"\(violation.kind.rawValue)\","
          + "\"detail\":\"\(escaped(violation.description))\",\"replay\":\"\(command(failed.seed))\"}")
    } else {
      fields.append("\"violation\":null")
    }
    return "{\(fields.joined(separator: ","))}\n"
  }

  /// The command that repeats the history of a seed.
  private func command(_ seed: UInt64) -> String {
    "scripts/simulate --seed \(seed)\(options) --trace"
  }

  /// One line of the report: a name, a count, and the count per second if the duration is known.
  private func row(_ name: String, _ count: Int64) -> String {
    let padded = name + String(repeating: " ", count: max(1, 28 - name.count))
    let number = String(repeating: " ", count: max(0, 12 - String(count).count)) + String(count)
    guard let seconds, seconds > 0 else { return padded + number }
    let perSecond = String(rate(count, seconds))
    return padded + number + String(repeating: " ", count: max(1, 12 - perSecond.count)) + perSecond + "/s"
  }

  /// A count per second.
  private func rate(_ count: Int64, _ seconds: Double) -> Int64 {
    seconds > 0 ? Int64(Double(count) / seconds) : 0
  }

  /// A number of seconds, rounded to hundredths.
  private func hundredths(_ seconds: Double) -> String {
    let all = Int64(seconds * 100 + 0.5)
    return "\(all / 100).\(all % 100 < 10 ? "0" : "")\(all % 100)"
  }

  /// Escapes a text for a JSON string; control characters become spaces.
  private func escaped(_ label: String) -> String {
    var text = ""
    for character in label.unicodeScalars {
      switch character {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case _ where character.value < 0x20: text += " "
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}
