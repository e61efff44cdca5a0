// Owns the numbers with which the lines stand in the keys of their customers. It knows no database.
// Invariant: no two lines have one number. The lines of the branch's own services and grades have for ever the numbers that
// stood in the keys before there were others: databases of that time need no rewriting. Any other line gets the next number
// when somebody comes to stand in it, and may lose it when nobody stands in it any more: when a day begins with nobody in the
// queue, and when there are no more numbers.

import BankModel

struct LineNumbers {
  /// The highest number that has a place in a key.
  static let highest: Int64 = 1 << 20 - 1
  /// The first one that is given to a line.
  static let firstGiven: Int64 = 1 << 16

  private var numbers: [Line: Int64] = [:]
  private var lines: [Int64: Line] = [:]
  private var next = firstGiven
  /// Numbers below `next` that nobody has.
  private var free: [Int64] = []

  /// The lines that always have their numbers.
  init() { for line in Line.graded { know(line, as: Self.fixed(line)) } }

  /// What stood in keys from the bit 40 on: service and grade, of four bits each, above eight that were 0.
  private static func fixed(_ line: Line) -> Int64 {
    (Int64(line.service.number) << 4 | line.priority.code) << 8
  }

  subscript(line: Line) -> Int64? {
    line.priority.isGrade && line.service <= .juice ? Self.fixed(line) : numbers[line]
  }
  subscript(number: Int64) -> Line? { lines[number] }
  /// Every line with its number, the lowest first.
  var all: [(number: Int64, line: Line)] { lines.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

  /// Takes in what was written down.
  mutating func know(_ line: Line, as number: Int64) {
    (numbers[line], lines[number]) = (number, line)
    next = max(next, number + 1)
  }

  /// Gives a line a number; nil where there are no more.
  mutating func give(to line: Line) -> Int64? {
    guard let number = free.popLast() ?? (next <= Self.highest ? next : nil) else { return nil }
    know(line, as: number)
    return number
  }

  /// Takes back the numbers that were given, but for those under which somebody stands.
  mutating func takeBack(except used: Set<Int64>) {
    free = []
    for (number, line) in lines where number >= Self.firstGiven && !used.contains(number) {
      (numbers[line], lines[number]) = (nil, nil)
      free.append(number)
    }
    free.sort(by: >)
  }

  /// Nobody stands in the queue: the numbers that were given can be given again.
  mutating func takeBack() { self = LineNumbers() }
}
