// Text tables: columns as wide as their widest cell; a Hangul syllable takes two terminal columns. A table wider than
// the terminal is shown row by row, each cell with the heading of its column.
// Invariant: colours change no width.
import Arguments

/// A table with headings and rows, printed as text.
package struct TextTable: Sendable {
  /// Alignment of a column.
  package enum Alignment: Sendable {
    case left, right
  }

  /// Text of a cell, and its colour.
  package struct Cell: Sendable, Equatable, ExpressibleByStringLiteral {
    var text: String
    var role: Palette.Role?

    package init(_ text: String, _ role: Palette.Role? = nil) {
      self.text = text
      self.role = role
    }

    init(_ number: some BinaryInteger) { self.init(String(number)) }
    package init(stringLiteral value: String) { self.init(value) }
  }

  private var alignments: [Alignment]
  private var rows: [[Cell]] = []
  private var headings: [String] = []

  /// An empty table with these columns.
  package init(_ alignments: [Alignment]) { self.alignments = alignments }
  /// Adds a row.
  package mutating func add(_ cells: [Cell]) { rows.append(cells) }
  /// Sets the headings of the columns.
  mutating func addHeadings(_ headings: [String]) { self.headings = headings }

  /// The lines of the table, two spaces between columns.
  /// - Parameter columns: Width of the terminal; nil for no limit.
  package func lines(_ palette: Palette, indent: Int = 0, within columns: Int? = nil) -> [String] {
    let table = aligned(.none, indent: indent)
    if let columns, table.contains(where: { DisplayWidth.of($0) > columns }) {
      return rows.flatMap { Self.record($0, headings, palette, indent: indent, columns: columns) }
    }
    return palette == .none ? table : aligned(palette, indent: indent)
  }

  /// One row as a record: the first cell, then every further cell with a value, each with the heading of its
  /// column.
  static func record(
    _ cells: [Cell], _ headings: [String], _ palette: Palette, indent: Int = 0, columns: Int
  ) -> [String] {
    var lines: [String] = []
    var (line, used) = ("", 0)
    for (place, cell) in cells.enumerated() where !cell.text.isEmpty && (place == 0 || cell.text != "-") {
      let heading = place > 0 && place < headings.count ? headings[place] : ""
      let text = heading.isEmpty ? cell.text : heading + " " + cell.text
      let width = DisplayWidth.of(text)
      if used > 0, used + 2 + width <= columns {
        line += "  " + palette.paint(text, cell.role)
        used += 2 + width
        continue
      }
      if used > 0 { lines.append(line) }
      let margin = min(columns - 2, lines.isEmpty ? indent : indent + 2)
      var pieces = DisplayWidth.wrapped(text, columns: columns - max(0, margin))
      let last = pieces.removeLast()
      let spaces = String(repeating: " ", count: max(0, margin))
      lines += pieces.map { spaces + palette.paint($0, cell.role) }
      line = spaces + palette.paint(last, cell.role)
      used = max(0, margin) + DisplayWidth.of(last)
    }
    return lines + [line]
  }

  private var allRows: [[Cell]] { (headings.isEmpty ? [] : [headings.map { Cell($0, .quiet) }]) + rows }

  /// Width of each column.
  private func widths(of rows: [[Cell]]) -> [Int] {
    alignments.indices.map { column in
      rows.map { $0.count > column ? DisplayWidth.of($0[column].text) : 0 }.max() ?? 0
    }
  }

  /// The lines of the table, however wide it is. The first line has the headings if there are any.
  func aligned(_ palette: Palette, indent: Int = 0) -> [String] {
    let rows = allRows
    let widths = widths(of: rows)
    return rows.map { row in
      let last = row.lastIndex { !$0.text.isEmpty }
      let cells = alignments.indices.prefix { $0 <= (last ?? -1) }.map { column in
        cell(row[column], alignments[column], width: widths[column], isLast: column == last, palette)
      }
      return String(repeating: " ", count: indent) + cells.joined(separator: "  ")
    }
  }

  /// A cell with its padding and colour.
  private func cell(
    _ cell: Cell, _ alignment: Alignment, width: Int, isLast: Bool, _ palette: Palette
  ) -> String {
    let padding = String(repeating: " ", count: max(0, width - DisplayWidth.of(cell.text)))
    let text = palette.paint(cell.text, cell.role)
    return switch alignment {
    case .left: isLast ? text : text + padding
    case .right: padding + text
    }
  }
}
