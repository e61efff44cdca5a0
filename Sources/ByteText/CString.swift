// Passes a text to a C function as bytes with a terminating zero byte. Invariant: the C function gets the bytes
// that the text carries. The caller has to refuse a text with a zero byte, which would truncate the C string.

extension String {
  /// Calls `body` with the bytes that this text carries, as a C string.
  public func withByteString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    guard ByteText.containsNonUTF8Bytes(self) else { return withCString(body) }
    let bytes = ByteText.bytes(of: self).map { CChar(bitPattern: $0) } + [0]
    return bytes.withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}
