// Repeated figures of one kind, with median, extremes and percentiles; and the format of numbers.
// Invariant: there is at least one figure.

import Time

/// The figures of all rounds of one measurement.
struct Samples {
  private let sorted: [Double]

  init(_ figures: [Double]) {
    precondition(!figures.isEmpty, "a measurement has a figure")
    sorted = figures.sorted()
  }

  init(_ figure: Double) { self.init([figure]) }
  var count: Int { sorted.count }
  var minimum: Double { sorted[0] }
  var maximum: Double { sorted[sorted.count - 1] }
  var median: Double { percentile(50) }
  /// Nearest-rank percentile: the smallest figure that at least `hundredths` percent of the figures do not
  /// exceed.
  func percentile(_ hundredths: Int) -> Double { sorted[max(0, (sorted.count * hundredths + 99) / 100 - 1)] }
}

/// Numbers and JSON as text.
enum NumberFormat {
  /// Formats a number with at least three significant digits if it is 1 or more, and with three decimals below 1.
  /// Thousands are separated.
  static func text(_ number: Double) -> String {
    let places = abs(number) >= 100 ? 0 : abs(number) >= 10 ? 1 : abs(number) >= 1 ? 2 : 3
    let scale = [1.0, 10, 100, 1_000][places]
    let scaled = Int64((abs(number) * scale).rounded())
    let fraction = places == 0 ? "" : "." + padded(scaled % Int64(scale), to: places)
    return (number < 0 ? "-" : "") + grouped(scaled / Int64(scale)) + fraction
  }

  /// A whole number, at least 0, with its thousands separated.
  static func grouped(_ number: Int64) -> String {
    number < 1_000 ? String(number) : grouped(number / 1_000) + "," + padded(number % 1_000, to: 3)
  }

  /// A number with zeros in front, up to a width.
  private static func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// A string of a JSON document (RFC 8259, section 7). Control characters become spaces.
  static func quoted(_ text: String) -> String {
    let safe = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case let scalar where scalar.value < 0x20: " "
      default: String(scalar)
      }
    }
    return "\"" + safe.joined() + "\""
  }

  /// An object of a JSON document. The values must be JSON text.
  static func object(_ fields: [(String, String)]) -> String {
    "{" + fields.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
  }
}

extension TimeSpan {
  var inMilliseconds: Double { Double(nanoseconds) / 1e6 }
}
