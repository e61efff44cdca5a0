// Owns how many customers wait in each line, and in which order the lines of a service are served.
// Invariant: a line keeps its place for as long as these counts live, and places have no gap, so that whoever keeps more
// about lines keeps it in an array. A line of which nothing was ever said has no place, and nobody in it.

import BankModel

/// How many customers stand in each line.
public struct LineCounts: Sendable {
  /// Every line that has a place, in the order of the places.
  public private(set) var lines: [Line] = []
  private var counts: [Int64] = []
  /// Places of the lines of one service (raw value − 1), whoever is served first at the head.
  private var order: [[Int]] = []
  private var places: [Line: Int] = [:]
  /// Places of the lines of the grades, by service (raw value − 1) and code, without a look into the dictionary: nearly
  /// everybody stands in one of them. -1 for none.
  private var graded: [[Int]] = []

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
    let index = Int(service.rawValue) - 1
    return index < order.count ? order[index] : []
  }

  /// The place of a line; nil where nothing was ever said of it.
  public func known(_ line: Line) -> Int? {
    let code = line.priority.code
    guard code <= 3 else { return places[line] }
    let service = Int(line.service.rawValue) - 1
    guard service < graded.count else { return nil }
    let place = graded[service][Int(code) - 1]
    return place < 0 ? nil : place
  }

  /// The place of a line, which gets one now where it had none.
  public mutating func place(of line: Line) -> Int {
    if let known = known(line) { return known }
    let (place, service) = (lines.count, Int(line.service.rawValue) - 1)
    lines.append(line)
    counts.append(0)
    while order.count <= service {
      order.append([])
      graded.append([-1, -1, -1])
    }
    let code = line.priority.code
    if code <= 3 { graded[service][Int(code) - 1] = place } else { places[line] = place }
    let next = order[service].firstIndex { line.priority < lines[$0].priority } ?? order[service].count
    order[service].insert(place, at: next)
    return place
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
