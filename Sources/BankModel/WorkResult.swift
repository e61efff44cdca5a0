// Result of a customer's work: exit of its process, duration, and output.
// A stream longer than its limit is represented by its first and last bytes and its true length.

import Time

/// Retained part of the output of a command or worker: its first and last bytes, and its length.
public struct TruncatedOutput: Hashable, Sendable {
  /// The first bytes of the stream.
  public let first: [UInt8]
  /// The last bytes of the stream that are not in ``first``.
  public let last: [UInt8]
  /// Number of bytes of the whole stream.
  public let length: Int64
  /// Number of bytes, from the start of the stream, that are stored in a separate file; 0 if there is no file.
  public let filed: Int64

  /// Makes the excerpt of a stream from its two ends.
  ///
  /// - Parameter length: number of bytes of the whole stream; nil if no bytes were left out.
  /// - Returns: nil if `length` is less than the number of bytes in `first` and `last`, or if `filed` is negative or
  ///   exceeds `length`.
  public init?(first: [UInt8], last: [UInt8] = [], length: Int64? = nil, filed: Int64 = 0) {
    let kept = Int64(first.count) + Int64(last.count)
    let length = length ?? kept
    guard kept <= length, 0...length ~= filed else { return nil }
    (self.first, self.last, self.length, self.filed) = (first, last, length, filed)
  }

  private init(length: Int64 = 0, filed: Int64 = 0) {
    (first, last, self.length, self.filed) = ([], [], length, filed)
  }

  /// A copy with the lengths and without the bytes.
  public var withoutBytes: TruncatedOutput { TruncatedOutput(length: length, filed: filed) }

  /// An empty stream.
  public static let nothing = TruncatedOutput()

  /// This excerpt, shortened to `limit` bytes from the start and the end of the stream.
  public func cut(to limit: Int) -> TruncatedOutput {
    guard first.count + last.count > limit else { return self }
    let whole = isCut ? nil : bytes
    let head = limit - limit / 2
    let tail = (whole ?? last).suffix(limit - min(head, first.count))
    return TruncatedOutput(
      first: Array((whole ?? first).prefix(head)), last: Array(tail), length: length, filed: filed)
      ?? withoutBytes
  }

  /// The retained bytes. Nothing marks the position at which bytes were left out.
  public var bytes: [UInt8] { last.isEmpty ? first : first + last }
  /// True if bytes between `first` and `last` were left out.
  public var isCut: Bool { Int64(first.count) + Int64(last.count) < length }

  /// Maximum number of retained bytes of a stream, in `first` and `last` together.
  public static let longest = 64 << 10
  /// Maximum number of retained bytes of each end of a longer stream.
  public static let longestEnd = longest / 2
}

/// Result of a customer's work. It is stored with the receipt, in the same transaction.
///
/// The type is a class, so that values share one result instead of copying it.
public final class WorkResult: Sendable {
  /// Exit of the command; nil if no process was started for this customer.
  public let ending: ProcessEnd?
  /// Time from start to end of the work.
  public let duration: TimeSpan
  /// The result: standard output of a command, or the answer of a worker.
  public let output: TruncatedOutput
  /// Standard error of a command.
  public let errors: TruncatedOutput

  /// Creates a result. An omitted stream is empty.
  public init(
    ending: ProcessEnd? = nil, duration: TimeSpan, output: TruncatedOutput = .nothing,
    errors: TruncatedOutput = .nothing
  ) {
    (self.ending, self.duration, self.output, self.errors) = (ending, duration, output, errors)
  }

  /// A copy of the result with this duration.
  public func lasting(_ duration: TimeSpan) -> WorkResult {
    WorkResult(ending: ending, duration: duration, output: output, errors: errors)
  }

  /// A copy of the result with at most `limit` bytes of each stream.
  public func cut(to limit: Int) -> WorkResult {
    guard output.first.count + output.last.count > limit || errors.first.count + errors.last.count > limit
    else { return self }
    return WorkResult(
      ending: ending, duration: duration, output: output.cut(to: limit), errors: errors.cut(to: limit))
  }

  /// A copy with exit, duration and lengths, without the bytes.
  public var withoutBytes: WorkResult {
    size == 0
      ? self
      : WorkResult(
        ending: ending, duration: duration, output: output.withoutBytes, errors: errors.withoutBytes)
  }

  /// Number of retained bytes of both streams.
  public var size: Int {
    output.first.count + output.last.count + errors.first.count + errors.last.count
  }
}

extension WorkResult: Hashable {
  /// Compares all properties.
  public static func == (left: WorkResult, right: WorkResult) -> Bool {
    left === right
      || left.ending == right.ending && left.duration == right.duration && left.output == right.output
        && left.errors == right.errors
  }

  /// Hashes all properties.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ending)
    hasher.combine(duration)
    hasher.combine(output)
    hasher.combine(errors)
  }
}
