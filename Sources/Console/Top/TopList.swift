// Owns what a list of the dashboard consists of: columns, rows, what each row stands for and is sorted by.
// Invariant: every row has a cell and a rank for each column; sorting changes the order of no two rows of the same rank.
import Arguments
import BankModel
import Wire

struct TopList {
  struct Column {
    let title: String
    var alignment = TextTable.Alignment.left
    /// When it is left out where there is no room: the highest first, 0 never.
    var dispensability = 0
    /// The least number of places, so that the columns stand still while numbers grow.
    var width = 0
    /// Whether the largest is what people look for.
    var isDescending = false
    /// How a cell is shortened that has no room, and the width up to which it is not while other columns are there.
    var shortening = Shortening.never
    var comfort = 16
  }

  enum Rank: Comparable {
    case number(Int64)
    case text(String)
  }

  var columns: [Column]
  var rows: [TopRow]
}

extension TopList {
  /// The rows in which this is written, in upper or lower case.
  mutating func filter(_ text: String) {
    guard !text.isEmpty else { return }
    let text = text.lowercased()
    rows.removeAll { row in !row.cells.contains { $0.text.lowercased().contains(text) } }
  }

  /// In the order of a column; the first one has the order in which the rows came.
  mutating func sort(by column: Int) {
    guard column > 0, columns.indices.contains(column) else { return }
    let isDescending = columns[column].isDescending
    rows = rows.enumerated().sorted { one, other in
      let (left, right) = (one.element.ranks[column], other.element.ranks[column])
      if left == right { return one.offset < other.offset }
      return isDescending ? left > right : left < right
    }.map(\.element)
  }

  /// The lines, the first one with the headings; the selected row has a mark.
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
    // Two places in front of everything are for the mark.
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

  private static func margin(_ place: Int, _ mark: String) -> String { place == 0 ? mark : "" }
}

/// One row: what it shows, and what a key means there.
struct TopRow {
  /// What it is known by, whatever place it has.
  let key: String
  var cells: [TextTable.Cell] = []
  var ranks: [TopList.Rank] = []
  var window: BoardWindow?
  var service: ServiceName?
  /// Who is meant there.
  var ticket: Int64?

  mutating func add(_ cell: TextTable.Cell, _ rank: TopList.Rank) {
    cells.append(cell)
    ranks.append(rank)
  }
}
