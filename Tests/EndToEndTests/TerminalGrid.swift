// Screen of a terminal after a program has written to it, as cells. It interprets the few sequences of a full screen
// and skips all others, as ECMA-48 requires. Hangul and emoji take two cells.

struct TerminalGrid {
  let columns, rows: Int
  private(set) var isAlternate = false
  private(set) var isCursorHidden = false
  /// Nil for the cell after a wide character.
  private var cells: [[Unicode.Scalar?]]
  private var (row, column) = (0, 0)
  /// True if the last column is filled, so that the next character starts a line.
  private var isAtEnd = false

  init(columns: Int, rows: Int) {
    (self.columns, self.rows) = (columns, rows)
    cells = Self.blank(columns, rows)
  }

  private static func blank(_ columns: Int, _ rows: Int) -> [[Unicode.Scalar?]] {
    [[Unicode.Scalar?]](repeating: [Unicode.Scalar?](repeating: " ", count: columns), count: rows)
  }

  /// Lines without trailing spaces.
  var lines: [String] {
    cells.map { row in
      var text = String.UnicodeScalarView()
      text.append(contentsOf: row.compactMap { $0 })
      return String(String(text).reversed().drop { $0 == " " }.reversed())
    }
  }

  mutating func take(_ text: some Sequence<Unicode.Scalar>) {
    var rest = Array(text)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\r": (column, isAtEnd) = (0, false)
      case "\n": lineFeed()
      case "\u{1B}": if rest.first == "[" { sequence(&rest) }
      default: if scalar.value >= 0x20 { put(scalar) }
      }
    }
  }

  private mutating func lineFeed() {
    if row < rows - 1 { return row += 1 }
    cells.removeFirst()
    cells.append([Unicode.Scalar?](repeating: " ", count: columns))
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    let width = Self.width(scalar)
    guard width > 0 else { return }
    if isAtEnd || column + width > columns {
      lineFeed()
      (column, isAtEnd) = (0, false)
    }
    cells[row][column] = scalar
    if width == 2, column + 1 < columns { cells[row][column + 1] = nil }
    column += width
    if column >= columns { (column, isAtEnd) = (columns - 1, true) }
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0xFE0F, 0x200D: 0
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF:
      2
    default: 1
    }
  }

  /// CUP, ED, EL and the private modes of the other screen and the cursor. ECMA-48 8.3; xterm's ctlseqs
  private mutating func sequence(_ rest: inout ArraySlice<Unicode.Scalar>) {
    let parameters = rest.dropFirst().prefix { !(0x40...0x7E).contains($0.value) }
    rest = rest[parameters.endIndex...]
    let text = String(String.UnicodeScalarView(parameters))
    let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    switch rest.popFirst() {
    case "H":
      row = min(max(1, numbers.first ?? 1), rows) - 1
      column = min(max(1, numbers.count > 1 ? numbers[1] : 1), columns) - 1
      isAtEnd = false
    case "J":
      let first = numbers.first == 2 ? 0 : row
      for place in first..<rows { erase(place, from: place == row && numbers.first != 2 ? column : 0) }
    case "K": erase(row, from: numbers.first == 2 ? 0 : column)
    case "h" where text == "?1049": (isAlternate, cells) = (true, Self.blank(columns, rows))
    case "l" where text == "?1049": (isAlternate, cells) = (false, Self.blank(columns, rows))
    case "l" where text == "?25": isCursorHidden = true
    case "h" where text == "?25": isCursorHidden = false
    default: break
    }
  }

  private mutating func erase(_ row: Int, from first: Int) {
    for place in first..<columns { cells[row][place] = " " }
  }
}
