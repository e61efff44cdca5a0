// Text form of a umask. Invariant: only texts of three or four octal digits are valid, up to 0777. Errors: nil
// for any other text.

/// Text form of a umask. `umask(1)`
public enum FileMask {
  /// The text of a mask, with four digits: `0022` for 0o022.
  public static func text(_ mask: UInt32) -> String {
    let digits = String(mask & 0o777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }

  /// The mask of a text: 0o022 for `022` and `0022`; nil for an invalid text.
  public static func mask(_ text: String) -> UInt32? {
    let digits = Array(text.utf8)
    guard (3...4).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }),
      let mask = UInt32(text, radix: 8), mask <= 0o777
    else { return nil }
    return mask
  }
}
