// Owns tables of text: columns as wide as their widest cell on a terminal, where Hangul takes two places.
// It must not know what stands in the cells.
// Invariant: colours change no width, because they are put on after the cell was padded; no line ends in a
// space unless a cell's own text does.
// Failure: none; a row with fewer cells than there are columns leaves the others empty.
import Arguments

/// A table of text.
struct TextTable: Sendable {
  /// Where a column's text stands.
  enum Alignment: Sendable {
    case left
    case right
  }

  /// One cell.
  struct Cell: Sendable, Equatable, ExpressibleByStringLiteral {
    var text: String
    var role: Palette.Role?

    init(_ text: String, _ role: Palette.Role? = nil) {
      self.text = text
      self.role = role
    }

    init(_ number: some BinaryInteger) { self.init(String(number)) }

    init(stringLiteral value: String) { self.init(value) }
  }

  private let alignments: [Alignment]
  private var rows: [[Cell]] = []

  /// A table with these columns.
  init(_ alignments: [Alignment]) { self.alignments = alignments }

  /// Adds a row.
  mutating func add(_ cells: [Cell]) { rows.append(cells) }

  /// Adds a row of headings.
  mutating func addHeadings(_ headings: [String]) { rows.append(headings.map { Cell($0, .quiet) }) }

  /// The lines of the table, two spaces between columns.
  func lines(_ palette: Palette, indent: Int = 0) -> [String] {
    let widths = alignments.indices.map { column in
      rows.map { $0.count > column ? DisplayWidth.of($0[column].text) : 0 }.max() ?? 0
    }
    return rows.map { row in
      let last = row.lastIndex { !$0.text.isEmpty }
      let cells = alignments.indices.prefix { $0 <= (last ?? -1) }.map { column in
        cell(row[column], alignments[column], width: widths[column], isLast: column == last, palette)
      }
      return String(repeating: " ", count: indent) + cells.joined(separator: "  ")
    }
  }

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
