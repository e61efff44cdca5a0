// Owns the way of a text to the C library, which takes bytes that end with a zero. Invariant: the C library gets the bytes that
// the text carries. A zero byte within would cut them short: the caller refuses it first.

extension String {
  /// Hands `body` the bytes that this text carries, as a C string.
  public func withByteString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    guard ByteText.carriesForeignBytes(self) else { return withCString(body) }
    let bytes = ByteText.bytes(of: self).map { CChar(bitPattern: $0) } + [0]
    return bytes.withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}
