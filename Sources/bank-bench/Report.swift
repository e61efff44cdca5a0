// Results: rows with figures and targets, as a table and as one JSON document.
// Invariant: each target is in the row of its figure, and is compared with the median only.

/// Bound that a figure should reach.
enum Target {
  case atLeast(Double)
  case below(Double)

  /// True if the figure reaches the target.
  func isMet(by figure: Double) -> Bool {
    switch self {
    case .atLeast(let bound): figure >= bound
    case .below(let bound): figure < bound
    }
  }
}

/// One row of the report: a measured figure with its unit, target and note.
struct Row {
  /// Measurement to which the figure belongs, as on the command line.
  var group: String
  var name: String
  var unit: String
  var samples: Samples
  var target: Target?
  /// Explanation that a reader needs to understand the figure.
  var note = ""
}

/// The same work by several systems, as a bar chart.
struct Chart {
  /// Length of the longest bar, in characters.
  private static let width = 40.0
  var name: String
  var bars: [(name: String, figure: Double)]

  var lines: [String] {
    let maximum = bars.map(\.figure).max() ?? 0
    let column = bars.map(\.name.count).max() ?? 0
    return [name]
      + bars.map { bar in
        let length = maximum > 0 ? max(1, Int((bar.figure / maximum * Self.width).rounded())) : 0
        let gap = String(repeating: " ", count: column - bar.name.count)
        return
          "  \(bar.name)\(gap)  \(String(repeating: "█", count: length)) \(NumberFormat.text(bar.figure))"
      }
  }
}

/// All results of a run.
struct Report {
  var machine: MachineInfo
  private(set) var rows: [Row] = []
  var charts: [Chart] = []

  init(machine: MachineInfo) { self.machine = machine }
  mutating func add(_ row: Row) { rows.append(row) }

  var table: String {
    var lines = machine.lines
    let head = ["what", "median", "min–max", "n", "target", ""]
    var cells = [head]
    for row in rows {
      let figures = row.samples
      let spread =
        figures.count > 1 ? "\(NumberFormat.text(figures.minimum))–\(NumberFormat.text(figures.maximum))" : ""
      cells.append([
        row.name, "\(NumberFormat.text(figures.median)) \(row.unit)", spread, String(figures.count),
        target(of: row), row.note,
      ])
    }
    let widths = head.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    for (number, row) in cells.enumerated() {
      var line = ""
      for (column, text) in row.enumerated() {
        let gap = String(repeating: " ", count: widths[column] - text.count)
        line += (1...3 ~= column ? gap + text : text + gap) + "  "
      }
      while line.hasSuffix(" ") { line.removeLast() }
      if number > 1, rows[number - 1].group != rows[number - 2].group { lines.append("") }
      lines.append(line)
    }
    for chart in charts { lines += [""] + chart.lines }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The target of a row as text, and whether it is reached; empty if there is none.
  private func target(of row: Row) -> String {
    guard let target = row.target else { return "" }
    let bound =
      switch target {
      case .atLeast(let bound): "≥ \(NumberFormat.text(bound))"
      case .below(let bound): "< \(NumberFormat.text(bound))"
      }
    return "\(bound) \(target.isMet(by: row.samples.median) ? "held" : "missed")"
  }

  var json: String {
    let results = rows.map { row in
      var fields = [
        ("group", NumberFormat.quoted(row.group)), ("name", NumberFormat.quoted(row.name)),
        ("unit", NumberFormat.quoted(row.unit)), ("median", "\(row.samples.median)"),
        ("min", "\(row.samples.minimum)"), ("max", "\(row.samples.maximum)"),
        ("count", "\(row.samples.count)"),
      ]
      switch row.target {
      case .atLeast(let bound): fields.append(("at_least", "\(bound)"))
      case .below(let bound): fields.append(("below", "\(bound)"))
      case nil: break
      }
      if let target = row.target { fields.append(("held", "\(target.isMet(by: row.samples.median))")) }
      if !row.note.isEmpty { fields.append(("note", NumberFormat.quoted(row.note))) }
      return NumberFormat.object(fields)
    }
    let document = NumberFormat.object([
      ("version", "1"), ("machine", machine.json), ("results", "[\(results.joined(separator: ","))]"),
    ])
    return document + "\n"
  }
}
