// Numbers of the lines in the keys of their customers.
// Invariant: no two lines share a number. The lines of the built-in services and grades have permanent numbers.
// Older databases used the same numbers, so their keys need not be rewritten. Any other line gets a free number
// with its first customer. Its number may be released when it has no customers.

import BankModel

/// Lines and their numbers in both directions.
struct LineNumbers {
  /// Highest number that fits into a key.
  static let highest: Int64 = 1 << 20 - 1
  /// First number for a line without a permanent one.
  static let firstAssignable: Int64 = 1 << 16

  private var numbers: [Line: Int64] = [:]
  private var lines: [Int64: Line] = [:]
  /// Lowest number above all numbers so far.
  private var next = firstAssignable
  /// Released numbers below `next`.
  private var free: [Int64] = []

  init() { for line in Line.graded { know(line, as: Self.fixed(line)) } }

  /// Permanent number of a line. In the keys of old databases the service was in bits 52 to 59 and the grade in
  /// bits 48 to 51, which are the bits 12 to 19 and 8 to 11 of the number.
  private static func fixed(_ line: Line) -> Int64 {
    (Int64(line.service.number) << 4 | line.priority.code) << 8
  }

  /// Number of a line; nil if the line has none.
  subscript(line: Line) -> Int64? {
    line.priority.isGrade && line.service <= .juice ? Self.fixed(line) : numbers[line]
  }
  /// Line with this number; nil if there is none.
  subscript(number: Int64) -> Line? { lines[number] }
  /// All lines with their numbers, sorted by number.
  var all: [(number: Int64, line: Line)] { lines.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

  /// Registers the number of a line: a permanent one, one read from the database, or a new one.
  mutating func know(_ line: Line, as number: Int64) {
    (numbers[line], lines[number]) = (number, line)
    next = max(next, number + 1)
  }

  /// Assigns a number to a line. Returns nil if all numbers are used.
  mutating func give(to line: Line) -> Int64? {
    guard let number = free.popLast() ?? (next <= Self.highest ? next : nil) else { return nil }
    know(line, as: number)
    return number
  }

  /// Releases assigned numbers, except those in `used`.
  mutating func release(except used: Set<Int64>) {
    free = []
    for (number, line) in lines where number >= Self.firstAssignable && !used.contains(number) {
      (numbers[line], lines[number]) = (nil, nil)
      free.append(number)
    }
    free.sort(by: >)
  }

  /// Releases all assigned numbers. The queue must be empty.
  mutating func release() { self = LineNumbers() }
}
