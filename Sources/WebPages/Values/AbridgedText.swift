// Bytes of a customer or a command for a page: complete, or with a gap of known size.
// Invariant: the omitted bytes are counted, so that a part is not shown as the whole.
import BankModel

/// A text whose middle or end may be omitted.
public struct AbridgedText: Sendable, Equatable {
  /// The first part, or everything.
  public var first: String
  /// The last part; empty if nothing is omitted or the gap is at the end.
  public var last: String
  /// Number of bytes omitted between the two.
  public var omittedBytes: Int64
  /// Number of bytes of the whole text.
  public var length: Int64

  /// A complete text.
  public init(_ text: String) {
    (first, last, omittedBytes, length) = (text, "", 0, Int64(text.utf8.count))
  }

  /// The first `limit` bytes of an array; nil if it is empty.
  public init?(_ bytes: [UInt8], limit: Int = TruncatedOutput.longest) {
    guard !bytes.isEmpty else { return nil }
    first = String(decoding: bytes.prefix(limit), as: UTF8.self)
    last = ""
    (omittedBytes, length) = (Int64(max(0, bytes.count - limit)), Int64(bytes.count))
  }

  /// The stored excerpt of a stream; nil if nothing was written.
  public init?(_ excerpt: TruncatedOutput) {
    guard excerpt.length > 0 else { return nil }
    (omittedBytes, length) = (excerpt.length - Int64(excerpt.bytes.count), excerpt.length)
    guard omittedBytes > 0 else {
      (first, last) = (String(decoding: excerpt.bytes, as: UTF8.self), "")
      return
    }
    first = String(decoding: excerpt.first, as: UTF8.self)
    last = String(decoding: excerpt.last, as: UTF8.self)
  }
}
