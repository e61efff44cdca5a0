// Owns a text around a number as it stands in a log line, made ready once: what says the same of every customer need
// not be put together and looked through for each. It must not know what is said.
// Invariant: a line reads back the very text, as for any other value; see `LogValue`.

/// A text around a number, ready to be written: `customer ` 12 `: deposit started`.
public struct LogSentence: Sendable {
  /// The halves as they stand in quotes, each with the quote on its outer side.
  private let before, after: [UInt8]

  /// A sentence of what stands before the number and what stands after it.
  public init(before: String, after: String) {
    self.before = LogValue.quoted(before).dropLast()
    self.after = Array(LogValue.quoted(after).dropFirst())
  }

  func append(_ number: Int64, to line: inout [UInt8]) {
    line.append(contentsOf: before)
    LogValue.append(number, to: &line)
    line.append(contentsOf: after)
  }
}
