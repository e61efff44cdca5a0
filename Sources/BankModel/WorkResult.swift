// Owns what a customer's work left behind, beyond that it was done: how its process ended, how long it took, what it said.
// Invariant: a stream that was longer than its limit is known by its first and its last bytes and by its true length, and it is
// never taken for a whole one.

import Time

/// What was kept of a stream of bytes.
public struct Excerpt: Hashable, Sendable {
  /// The first bytes.
  public let first: [UInt8]
  /// The last of those that came after the first.
  public let last: [UInt8]
  /// How many there were in all.
  public let length: Int64
  /// How many of them, from the first on, stand in a file of their own; 0 where there is none.
  public let filed: Int64

  /// - Parameter length: how many there were in all; nil where nothing was left out.
  /// - Returns: nil where fewer than these are said to have been there, or more in the file than there were.
  public init?(first: [UInt8], last: [UInt8] = [], length: Int64? = nil, filed: Int64 = 0) {
    let kept = Int64(first.count) + Int64(last.count)
    let length = length ?? kept
    guard kept <= length, 0...length ~= filed else { return nil }
    (self.first, self.last, self.length, self.filed) = (first, last, length, filed)
  }

  private init(length: Int64 = 0, filed: Int64 = 0) {
    (first, last, self.length, self.filed) = ([], [], length, filed)
  }

  /// How much there was, and none of it.
  public var withoutBytes: Excerpt { Excerpt(length: length, filed: filed) }

  /// Nothing was said.
  public static let nothing = Excerpt()

  /// The same, with no more than so many bytes: of a longer stream the first half of them and the last.
  public func cut(to limit: Int) -> Excerpt {
    guard first.count + last.count > limit else { return self }
    let whole = isCut ? nil : bytes
    let head = limit - limit / 2
    let tail = (whole ?? last).suffix(limit - min(head, first.count))
    return Excerpt(
      first: Array((whole ?? first).prefix(head)), last: Array(tail), length: length, filed: filed)
      ?? withoutBytes
  }

  /// What was kept, one piece behind the other.
  public var bytes: [UInt8] { last.isEmpty ? first : first + last }
  /// Whether something stood between the first and the last bytes that was not kept.
  public var isCut: Bool { Int64(first.count) + Int64(last.count) < length }

  /// Bytes that are kept of a stream at most, the first and the last together.
  public static let longest = 64 << 10
  /// Bytes that are kept of each end of a longer stream.
  public static let longestEnd = longest / 2
}

/// What came of a customer's work. It stands with the receipt, in the same transaction.
///
/// One that was served without leaving anything behind has none. It is handed on and never copied.
public final class WorkResult: Sendable {
  /// How the command ended; nil where no process was started for this customer.
  public let ending: ProcessEnd?
  /// From its start to its end.
  public let duration: TimeSpan
  /// The result: what a command wrote to its standard output, or what a worker answered.
  public let output: Excerpt
  /// What a command wrote to its standard error.
  public let errors: Excerpt

  /// What is known of it; what is left out was not there.
  public init(
    ending: ProcessEnd? = nil, duration: TimeSpan, output: Excerpt = .nothing, errors: Excerpt = .nothing
  ) {
    (self.ending, self.duration, self.output, self.errors) = (ending, duration, output, errors)
  }

  /// The same, and it took so long.
  public func lasting(_ duration: TimeSpan) -> WorkResult {
    WorkResult(ending: ending, duration: duration, output: output, errors: errors)
  }

  /// The same, with no more than so many bytes of each stream.
  public func cut(to limit: Int) -> WorkResult {
    guard output.first.count + output.last.count > limit || errors.first.count + errors.last.count > limit
    else { return self }
    return WorkResult(
      ending: ending, duration: duration, output: output.cut(to: limit), errors: errors.cut(to: limit))
  }

  /// How it ended and how much was said, and nothing of what.
  public var withoutBytes: WorkResult {
    size == 0
      ? self
      : WorkResult(
        ending: ending, duration: duration, output: output.withoutBytes, errors: errors.withoutBytes)
  }

  /// Bytes that it holds, about.
  public var size: Int {
    output.first.count + output.last.count + errors.first.count + errors.last.count
  }
}

extension WorkResult: Hashable {
  /// Whether both say the same.
  public static func == (left: WorkResult, right: WorkResult) -> Bool {
    left === right
      || left.ending == right.ending && left.duration == right.duration && left.output == right.output
        && left.errors == right.errors
  }

  /// Feeds everything that is said.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ending)
    hasher.combine(duration)
    hasher.combine(output)
    hasher.combine(errors)
  }
}
