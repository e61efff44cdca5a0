// Number of waiting customers per line, and the order in which the lines of a service are served.
// Invariant: a line keeps its index until the index is given to another line. Indices have no gaps, so that other
// data about lines fits into arrays. A line without an index has no customers.

import BankModel

/// Number of waiting customers per line.
public struct LineCounts: Sendable {
  /// Lines by their indices.
  public private(set) var lines: [Line] = []
  /// Number of waiting customers, by the index of the line.
  private var counts: [Int64] = []
  /// Indices of the lines of each service, by the index of the service, and within it by priority.
  private var order: [[Int]] = []
  /// Indices of the lines without a grade.
  private var places: [Line: Int] = [:]
  /// Indices of the lines of the grades, by the service's index and the grade's code less 1; -1 for none. The array
  /// saves dictionary look-ups.
  private var graded: [[Int]] = []
  /// Number of grade lines that have indices.
  private(set) var gradedCount = 0

  public init() {}

  /// Number of waiting customers of a line. The setter gives the line an index.
  public subscript(line: Line) -> Int64 {
    get { known(line).map { counts[$0] } ?? 0 }
    set { counts[place(of: line)] = newValue }
  }

  /// Number of waiting customers of the line at this index.
  public subscript(place: Int) -> Int64 {
    get { counts[place] }
    set { counts[place] = newValue }
  }

  /// Number of waiting customers over all lines.
  public var total: Int64 { counts.reduce(0, +) }

  /// Lines with waiting customers, and the number of these customers, in the order of the indices.
  public var occupied: [(line: Line, count: Int64)] {
    lines.indices.lazy.filter { counts[$0] != 0 }.map { (lines[$0], counts[$0]) }
  }

  /// Indices of a service's lines, by priority.
  public func places(of service: Service) -> [Int] {
    let index = service.index
    return index < order.count ? order[index] : []
  }

  /// Index of a line; nil if it has none.
  public func known(_ line: Line) -> Int? {
    let code = line.priority.code
    guard code <= 3 else { return places[line] }
    let service = line.service.index
    guard service < graded.count else { return nil }
    let place = graded[service][Int(code) - 1]
    return place < 0 ? nil : place
  }

  /// Returns the index of a line. A line without an index gets one.
  public mutating func place(of line: Line) -> Int {
    if let known = known(line) { return known }
    let place = lines.count
    lines.append(line)
    counts.append(0)
    registerPosition(place)
    return place
  }

  /// Gives the index of an empty line to a line without an index. Neither line may be the line of a grade.
  mutating func give(_ place: Int, to line: Line) {
    let former = lines[place]
    precondition(counts[place] == 0 && !former.priority.isGrade, "this place is in use")
    precondition(known(line) == nil && !line.priority.isGrade, "this line already has a place")
    places[former] = nil
    order[former.service.index].removeAll { $0 == place }
    lines[place] = line
    registerPosition(place)
  }

  private mutating func registerPosition(_ place: Int) {
    let line = lines[place]
    let service = line.service.index
    while order.count <= service {
      order.append([])
      graded.append([-1, -1, -1])
    }
    if line.priority.isGrade {
      graded[service][Int(line.priority.code) - 1] = place
      gradedCount += 1
    } else {
      places[line] = place
    }
    let next = order[service].firstIndex { line.priority < lines[$0].priority } ?? order[service].count
    order[service].insert(place, at: next)
  }
}

extension LineCounts: Equatable {
  /// True if every line has the same count. The indices do not matter.
  public static func == (left: LineCounts, right: LineCounts) -> Bool {
    if left.lines == right.lines { return left.counts == right.counts }
    return left.agrees(with: right) && right.agrees(with: left)
  }

  /// True if each occupied line has the same count in `other`.
  private func agrees(with other: LineCounts) -> Bool {
    lines.indices.allSatisfy { counts[$0] == 0 || other[lines[$0]] == counts[$0] }
  }
}
