// Bytes of a customer or of a command as a page shows them: whole, or with a gap of known size.
// Invariant: what is left out is counted, so that a part is never taken for the whole.
import BankModel

/// A text of which the middle or the end may be left out.
public struct ShownText: Sendable, Equatable {
  /// The first part, or everything.
  public var first: String
  /// The last part; empty if nothing stands behind the gap.
  public var last: String
  /// The bytes that are left out between the two.
  public var hidden: Int64
  /// The bytes of the whole text.
  public var length: Int64

  /// A text that is shown whole.
  public init(_ text: String) {
    (first, last, hidden, length) = (text, "", 0, Int64(text.utf8.count))
  }

  /// Some bytes, of which at most `limit` are shown, from the first on; nil for none.
  public init?(_ bytes: [UInt8], limit: Int = Excerpt.longest) {
    guard !bytes.isEmpty else { return nil }
    first = String(decoding: bytes.prefix(limit), as: UTF8.self)
    last = ""
    (hidden, length) = (Int64(max(0, bytes.count - limit)), Int64(bytes.count))
  }

  /// What was kept of a stream; nil if nothing was written.
  public init?(_ excerpt: Excerpt) {
    guard excerpt.length > 0 else { return nil }
    (hidden, length) = (excerpt.length - Int64(excerpt.bytes.count), excerpt.length)
    guard hidden > 0 else {
      (first, last) = (String(decoding: excerpt.bytes, as: UTF8.self), "")
      return
    }
    first = String(decoding: excerpt.first, as: UTF8.self)
    last = String(decoding: excerpt.last, as: UTF8.self)
  }
}
