// Owns how many customers wait in each line, and in which order the lines of a service are served.
// Invariant: a line keeps its place until that is given to another, and places have no gap, so that whoever keeps more
// about lines keeps it in an array. A line without a place has nobody in it.

import BankModel

/// How many customers stand in each line.
public struct LineCounts: Sendable {
  /// Every line that has a place, in the order of the places.
  public private(set) var lines: [Line] = []
  private var counts: [Int64] = []
  /// Places of the lines of one service, by its index, whoever is served first at the head.
  private var order: [[Int]] = []
  private var places: [Line: Int] = [:]
  /// Places of the lines of the grades, by the service's index and code, without a look into the dictionary: nearly
  /// everybody stands in one of them. -1 for none.
  private var graded: [[Int]] = []
  /// Lines of grades that have places.
  private(set) var gradedCount = 0

  public init() {}

  /// Those who wait in a line; setting it gives the line a place.
  public subscript(line: Line) -> Int64 {
    get { known(line).map { counts[$0] } ?? 0 }
    set { counts[place(of: line)] = newValue }
  }

  /// Those who wait in the line at this place.
  public subscript(place: Int) -> Int64 {
    get { counts[place] }
    set { counts[place] = newValue }
  }

  /// The sum over all lines.
  public var total: Int64 { counts.reduce(0, +) }

  /// The lines in which somebody waits, and how many, in the order of the places.
  public var occupied: [(line: Line, count: Int64)] {
    lines.indices.lazy.filter { counts[$0] != 0 }.map { (lines[$0], counts[$0]) }
  }

  /// The places of a service's lines, whoever is served first at the head.
  public func places(of service: Service) -> [Int] {
    let index = service.index
    return index < order.count ? order[index] : []
  }

  /// The place of a line; nil where nothing was ever said of it.
  public func known(_ line: Line) -> Int? {
    let code = line.priority.code
    guard code <= 3 else { return places[line] }
    let service = line.service.index
    guard service < graded.count else { return nil }
    let place = graded[service][Int(code) - 1]
    return place < 0 ? nil : place
  }

  /// The place of a line, which gets one now where it had none.
  public mutating func place(of line: Line) -> Int {
    if let known = known(line) { return known }
    let place = lines.count
    lines.append(line)
    counts.append(0)
    queueUp(place)
    return place
  }

  /// Gives the place of a line in which nobody is to another line that has none. Neither is a line of a grade.
  mutating func give(_ place: Int, to line: Line) {
    let former = lines[place]
    precondition(counts[place] == 0 && !former.priority.isGrade, "somebody stands in this place")
    precondition(known(line) == nil && !line.priority.isGrade, "this line has a place")
    places[former] = nil
    order[former.service.index].removeAll { $0 == place }
    lines[place] = line
    queueUp(place)
  }

  /// Lets the line at this place be found, and served in its turn.
  private mutating func queueUp(_ place: Int) {
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
  /// Whether as many wait in every line. Where a line has its place does not matter.
  public static func == (left: LineCounts, right: LineCounts) -> Bool {
    if left.lines == right.lines { return left.counts == right.counts }
    return left.agrees(with: right) && right.agrees(with: left)
  }

  private func agrees(with other: LineCounts) -> Bool {
    lines.indices.allSatisfy { counts[$0] == 0 || other[lines[$0]] == counts[$0] }
  }
}
