// Encoding of a worker's report on a customer's work: its result, or the reason why it was not done. Invariant:
// the decoder refuses negative durations and pauses, and excerpts that are longer than their streams.

import BankModel
import Time

/// A completed attempt: its lease and the result of the work.
struct WorkedLease: Codable {
  var lease: Lease, result: WorkResult
  /// Field number of each property of a completed attempt, in messages.
  enum CodingKeys: Int, CodingKey { case lease = 1, result }
}

/// A failed attempt. Omitted parts mean a retry after the pause that the service's settings determine.
struct FailedLease: Codable {
  var lease: Lease, reason: String
  var consequence: WorkFailure.Consequence?
  var code, signal: Int32?
  var afterMilliseconds: Int64?
  /// Field number of each property of a failed attempt, in messages.
  enum CodingKeys: Int, CodingKey { case lease = 1, reason, consequence, code, signal, afterMilliseconds }

  /// Encodable form of a failure.
  init(_ lease: Lease, _ failure: WorkFailure) {
    (self.lease, reason) = (lease, failure.words)
    if failure.consequence != .again { consequence = failure.consequence }
    (code, signal) = (failure.processEnd?.exitCode, failure.processEnd?.exitSignal)
    afterMilliseconds = failure.after?.milliseconds
  }

  /// The failure in the form for the queue. Throws an error for a negative pause.
  var failure: WorkFailure {
    get throws {
      if let afterMilliseconds, afterMilliseconds < 0 {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a pause below zero"))
      }
      return WorkFailure(
        reason, consequence ?? .again, processEnd: ProcessEnd(code: code, signal: signal),
        after: afterMilliseconds.map { .milliseconds($0) })
    }
  }
}

extension WorkFailure.Consequence: Codable {}

extension WorkResult: Codable {
  /// Field numbers in messages.
  private enum CodingKeys: Int, CodingKey { case durationMilliseconds = 1, code, signal, output, errors }

  /// Encodes the result. Parts that are nil are left out.
  public func encode(to encoder: any Encoder) throws {
    var map = encoder.container(keyedBy: CodingKeys.self)
    try map.encode(duration.milliseconds, forKey: .durationMilliseconds)
    try map.encodeIfPresent(ending?.exitCode, forKey: .code)
    try map.encodeIfPresent(ending?.exitSignal, forKey: .signal)
    if output != .nothing { try map.encode(output, forKey: .output) }
    if errors != .nothing { try map.encode(errors, forKey: .errors) }
  }

  /// - Throws: an error if the duration is negative, or if a stream is shorter than its retained part.
  public convenience init(from decoder: any Decoder) throws {
    let map = try decoder.container(keyedBy: CodingKeys.self)
    let milliseconds = try map.decode(Int64.self, forKey: .durationMilliseconds)
    guard milliseconds >= 0 else {
      throw DecodingError.dataCorruptedError(
        forKey: .durationMilliseconds, in: map, debugDescription: "a span below zero")
    }
    self.init(
      ending: ProcessEnd(
        code: try map.decodeIfPresent(Int32.self, forKey: .code),
        signal: try map.decodeIfPresent(Int32.self, forKey: .signal)),
      duration: .milliseconds(milliseconds),
      output: try map.decodeIfPresent(TruncatedOutput.self, forKey: .output) ?? .nothing,
      errors: try map.decodeIfPresent(TruncatedOutput.self, forKey: .errors) ?? .nothing)
  }
}

extension TruncatedOutput: Codable {
  /// Field number of each property of a stream's excerpt, in messages.
  private enum CodingKeys: Int, CodingKey { case length = 1, first, last, filed }

  /// Encodes the excerpt, with its parts as byte strings.
  public func encode(to encoder: any Encoder) throws {
    var map = encoder.container(keyedBy: CodingKeys.self)
    try map.encode(length, forKey: .length)
    try map.encode(first, forKey: .first)
    if !last.isEmpty { try map.encode(last, forKey: .last) }
    if filed > 0 { try map.encode(filed, forKey: .filed) }
  }

  /// - Throws: an error if the numbers contradict each other, or if the retained part exceeds its limit.
  public init(from decoder: any Decoder) throws {
    let map = try decoder.container(keyedBy: CodingKeys.self)
    let first = try map.decode([UInt8].self, forKey: .first)
    let last = try map.decodeIfPresent([UInt8].self, forKey: .last) ?? []
    let length = try map.decode(Int64.self, forKey: .length)
    let filed = try map.decodeIfPresent(Int64.self, forKey: .filed) ?? 0
    guard first.count + last.count <= Self.longest,
      let excerpt = TruncatedOutput(first: first, last: last, length: length, filed: filed)
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .length, in: map, debugDescription: "not an excerpt of a stream")
    }
    self = excerpt
  }
}
