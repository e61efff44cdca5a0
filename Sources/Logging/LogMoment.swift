// Parser of times for `--since`: a date with a time, or a time of today.
// Invariant: times are in milliseconds since 1970 UTC.
// Errors: nil for other text.
import Posix

/// Parser of the times that a user types.
public enum LogMoment {
  /// Parses `2026-11-21T08:00:00Z`, also with a fraction, with an offset such as `+09:00` instead of `Z`,
  /// or with `t` and `z` (RFC 3339). Also parses `08:00` and `08:00:30`, a time of the present day in UTC.
  public static func parse(_ text: String, now: Int64) -> Int64? {
    let bytes = withCapitals(Array(text.utf8))
    if bytes.count == 5 || bytes.count == 8 { return time(ofToday: bytes, now: now) }
    if let instant = Timestamp.parse(bytes) { return instant }
    return withOffset(bytes)
  }

  /// The text with `T` and `Z`. RFC 3339 allows lower-case `t` and `z`.
  private static func withCapitals(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    if bytes.count > 10, bytes[10] == UInt8(ascii: "t") { bytes[10] = UInt8(ascii: "T") }
    if bytes.last == UInt8(ascii: "z") { bytes[bytes.count - 1] = UInt8(ascii: "Z") }
    return bytes
  }

  /// Time of the present day; nil for other text.
  private static func time(ofToday bytes: [UInt8], now: Int64) -> Int64? {
    let today = String(Timestamp.utc(milliseconds: now).prefix(11))
    let seconds = bytes.count == 5 ? ":00" : ""
    return Timestamp.parse(Array(today.utf8) + bytes + Array("\(seconds)Z".utf8))
  }

  /// Time with an offset from UTC; nil for other text.
  private static func withOffset(_ bytes: [UInt8]) -> Int64? {
    guard bytes.count > 6, let sign = bytes.dropLast(5).last, [0x2b, 0x2d].contains(sign) else { return nil }
    // The offset is a time of day, so it is checked by parsing it as a time of 1970-01-01.
    let offset = Timestamp.parse(Array("1970-01-01T".utf8) + bytes.suffix(5) + Array(":00Z".utf8))
    let local = Timestamp.parse(bytes.dropLast(6) + [UInt8(ascii: "Z")])
    guard let offset, let local else { return nil }
    return sign == UInt8(ascii: "+") ? local - offset : local + offset
  }
}
