// A list of the dashboard: columns and rows with cells, sort keys and meanings.
// Invariant: every row has a cell and a rank for each column. Sorting is stable.
import Arguments
import BankModel
import Wire

/// Columns and rows of one list, before the layout.
struct TopList {
  /// A column: heading, sorting and layout.
  struct Column {
    let title: String
    var alignment = TextTable.Alignment.left
    /// Order in which columns are dropped if there is no room: the highest number first; 0 is not dropped.
    var dispensability = 0
    /// Minimum width, so that columns do not move while numbers grow.
    var width = 0
    /// True if the largest value is sorted first.
    var isDescending = false
    /// Rule for shortening a cell, and the width that a shortened cell keeps until other columns were
    /// dropped.
    var shortening = Shortening.never
    var comfort = 16
  }

  /// Sort key of a cell.
  enum Rank: Comparable {
    case number(Int64)
    case text(String)
  }

  var columns: [Column]
  var rows: [TopRow]
}

extension TopList {
  /// Keeps the rows that contain this text, ignoring case.
  mutating func filter(_ text: String) {
    guard !text.isEmpty else { return }
    let text = text.lowercased()
    rows.removeAll { row in !row.cells.contains { $0.text.lowercased().contains(text) } }
  }

  /// Sorts by a column; the first column (0) leaves the order in which the bank sent the rows.
  mutating func sort(by column: Int) {
    guard column > 0, columns.indices.contains(column) else { return }
    let isDescending = columns[column].isDescending
    rows = rows.enumerated().sorted { one, other in
      let (left, right) = (one.element.ranks[column], other.element.ranks[column])
      if left == right { return one.offset < other.offset }
      return isDescending ? left > right : left < right
    }.map(\.element)
  }

  /// The lines of the list on the terminal, first the headings; the selected row has a mark.
  func lines(selected: String?, sorted: Int?, _ palette: Palette, columns width: Int) -> [String] {
    let headings = columns.enumerated().map { place, column in
      let sign = place == sorted && place > 0 ? column.isDescending ? "▾" : "▴" : ""
      let title = column.title + sign
      return column.alignment == .right
        ? String(repeating: " ", count: max(0, column.width - title.count)) + title : title
    }
    let natural = columns.indices.map { place in
      rows.reduce(DisplayWidth.of(headings[place])) { max($0, DisplayWidth.of($1.cells[place].text)) }
    }
    // Two columns in front are reserved for the mark.
    let (places, widths) = fitting(natural, within: max(0, width - 2))
    var table = TextTable(places.map { columns[$0].alignment })
    table.addHeadings(places.map { Self.margin($0, "  ") + headings[$0] })
    for row in rows {
      let isSelected = row.key == selected
      table.add(
        places.map { place in
          var cell = row.cells[place]
          let text = Self.shortened(cell.text, to: widths[place], columns[place].shortening)
          cell.text = Self.margin(place, isSelected ? "▸ " : "  ") + text
          if isSelected, cell.role == nil { cell.role = .heading }
          return cell
        })
    }
    return table.aligned(palette)
  }

  /// The mark in front of the first column; empty for any other column.
  private static func margin(_ place: Int, _ mark: String) -> String { place == 0 ? mark : "" }
}

/// One row with its cells and the objects that keys act on.
struct TopRow {
  /// Identity of the row, independent of its position.
  let key: String
  var cells: [TextTable.Cell] = []
  var ranks: [TopList.Rank] = []
  var window: BoardWindow?
  var service: ServiceName?
  /// Ticket of the row's customer.
  var ticket: Int64?

  /// Adds the cell of the next column with its sort key.
  mutating func add(_ cell: TextTable.Cell, _ rank: TopList.Rank) {
    cells.append(cell)
    ranks.append(rank)
  }
}
