// Numbers of the lines in the keys of their customers.
// Invariant: no two lines share a number. Lines of the built-in services and grades have permanent numbers, the ones
// that old databases used, so these need no rewriting. Any other line gets the next number when it gets its first
// customer. It may lose the number when it has no customers: at the start of a day with an empty queue, and when the
// numbers are used up.

import BankModel

struct LineNumbers {
  /// Highest number that fits into a key.
  static let highest: Int64 = 1 << 20 - 1
  /// First number for lines without a permanent one.
  static let firstGiven: Int64 = 1 << 16

  private var numbers: [Line: Int64] = [:]
  private var lines: [Int64: Line] = [:]
  private var next = firstGiven
  /// Unused numbers below `next`.
  private var free: [Int64] = []

  /// Creates the permanent numbers.
  init() { for line in Line.graded { know(line, as: Self.fixed(line)) } }

  /// Bits from 40 on of the keys of old databases: service and grade, 4 bits each, above 8 zero bits.
  private static func fixed(_ line: Line) -> Int64 {
    (Int64(line.service.number) << 4 | line.priority.code) << 8
  }

  subscript(line: Line) -> Int64? {
    line.priority.isGrade && line.service <= .juice ? Self.fixed(line) : numbers[line]
  }
  subscript(number: Int64) -> Line? { lines[number] }
  /// All lines with their numbers, in ascending order.
  var all: [(number: Int64, line: Line)] { lines.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

  /// Adds a stored number.
  mutating func know(_ line: Line, as number: Int64) {
    (numbers[line], lines[number]) = (number, line)
    next = max(next, number + 1)
  }

  /// Assigns a number to a line; nil if all are used.
  mutating func give(to line: Line) -> Int64? {
    guard let number = free.popLast() ?? (next <= Self.highest ? next : nil) else { return nil }
    know(line, as: number)
    return number
  }

  /// Releases assigned numbers, except the ones in use.
  mutating func takeBack(except used: Set<Int64>) {
    free = []
    for (number, line) in lines where number >= Self.firstGiven && !used.contains(number) {
      (numbers[line], lines[number]) = (nil, nil)
      free.append(number)
    }
    free.sort(by: >)
  }

  /// Releases all assigned numbers. The queue must be empty.
  mutating func takeBack() { self = LineNumbers() }
}
