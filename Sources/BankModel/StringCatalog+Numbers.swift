// Format of numbers, money and durations for people.
// Any number is valid; a negative duration in milliseconds is shown as 0.

extension StringCatalog {
  /// A number with commas: `1,234,567`.
  public static func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.utf8.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// An amount of money: `1,234 won`, `1,234원`.
  public func won(_ amount: some BinaryInteger) -> String {
    localized("\(Self.grouped(amount))원", "\(Self.grouped(amount)) won")
  }

  /// `mm:ss:SSS`, the format of the timer in the original app; minutes may exceed 59.
  public static func timer(milliseconds: Int64) -> String {
    let time = max(0, milliseconds)
    let (minutes, seconds) = (String(time / 60_000, digits: 2), String(time / 1000 % 60, digits: 2))
    return "\(minutes):\(seconds):\(String(time % 1000, digits: 3))"
  }

  /// Label of the business time.
  public var businessTime: String { localized("업무시간", "Business time") }

  /// A duration for people: `812 ms`, `4.4 s`, `3 min 20 s`, `2 h 5 min`.
  public func span(milliseconds: Int64) -> String {
    let time = max(0, milliseconds)
    switch time {
    case ..<1000: return localized("\(time)밀리초", "\(time) ms")
    case ..<60_000:
      let seconds = "\(time / 1000).\(time / 100 % 10)"
      return localized("\(seconds)초", "\(seconds) s")
    case ..<3_600_000:
      return localized("\(time / 60_000)분 \(time / 1000 % 60)초", "\(time / 60_000) min \(time / 1000 % 60) s")
    default:
      return localized(
        "\(time / 3_600_000)시간 \(time / 60_000 % 60)분", "\(time / 3_600_000) h \(time / 60_000 % 60) min")
    }
  }
}
