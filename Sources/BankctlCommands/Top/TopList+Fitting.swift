// Fitting a dashboard list to a terminal: long cells are shortened, and less important columns are dropped.
// Invariant: no column is wider than its widest cell or heading. A shortened cell has a mark, and a shortened name
// keeps its start and its end.
import Arguments

extension TopList {
  /// How a text that is too long is shortened.
  enum Shortening {
    case never
    /// For a name, whose start and end distinguish it.
    case middle
    /// For a sentence, whose start matters most.
    case end
  }

  /// Indices of the columns that are shown in `room`, and their widths, at most `natural`, the widths of the longest
  /// texts.
  func fitting(_ natural: [Int], within room: Int) -> (places: [Int], widths: [Int]) {
    var widths = natural.indices.map { place in
      columns[place].shortening == .never ? natural[place] : min(natural[place], columns[place].comfort)
    }
    var places = Array(natural.indices)
    /// Width of the shown columns with two spaces between them.
    func total() -> Int { places.reduce(-2) { $0 + widths[$1] + 2 } }
    let order = places.filter { columns[$0].dispensability > 0 }
      .sorted { columns[$0].dispensability > columns[$1].dispensability }
    for place in order where total() > room { places.removeAll { $0 == place } }
    // Only required columns are left: shorten the widest texts, down to a minimum.
    while total() > room,
      let widest = places.filter({ columns[$0].shortening != .never && widths[$0] > Self.leastWidth })
        .max(by: { widths[$0] < widths[$1] })
    {
      widths[widest] -= min(total() - room, widths[widest] - Self.leastWidth, max(1, widths[widest] / 4))
    }
    for place in places where total() < room {
      widths[place] = min(natural[place], widths[place] + room - total())
    }
    return (places, widths)
  }

  /// Maximum length of a name in Unicode scalars: the longest service, a sign and the number of a window.
  static let longestName = 96
  /// Minimum width of a readable name, with the mark.
  private static let leastWidth = 8

  /// A text shortened to a number of columns.
  static func shortened(_ text: String, to width: Int, _ shortening: Shortening) -> String {
    guard shortening != .never, DisplayWidth.of(text) > width, width > 0 else { return text }
    let behind = shortening == .middle ? (width - 1) / 2 : 0
    return beginning(of: text, width - 1 - behind) + "…" + end(of: text, behind)
  }

  /// The first characters of a text that fit a width.
  private static func beginning(of text: String, _ width: Int) -> String {
    var (taken, used) = ("", 0)
    for character in text {
      used += DisplayWidth.of(character)
      guard used <= width else { break }
      taken.append(character)
    }
    return taken
  }

  /// The last characters of a text that fit a width.
  private static func end(of text: String, _ width: Int) -> String {
    String(beginning(of: String(text.reversed()), width).reversed())
  }
}
