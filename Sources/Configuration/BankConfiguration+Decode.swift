// Owns which keys a configuration file has, and how they become a `BankConfiguration`.
// Invariant: a key that is absent keeps its default; a file is taken as a whole or not at all.

import Arguments
import BankModel
import Time

extension BankConfiguration {
  /// Reads a configuration file; one that is not there is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> BankConfiguration {
    try decode(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Reads a configuration from the bytes of a file; `path` is the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> BankConfiguration {
    let root = try ConfigurationFile.root(of: bytes, path: path)
    var configuration = BankConfiguration()
    var retryLine: Int?
    try root.members(known: keys) { key, value throws(ConfigurationError) in
      try configuration.set(key, value)
      if key == "retry_limit" || key == "retry_first" { retryLine = value.node.line }
    }
    guard configuration.retryFirst <= configuration.retryLimit else {
      throw ConfigurationError(
        path: path, key: "retry_limit", line: retryLine,
        reason: .retryOrder(
          first: DurationText.print(configuration.retryFirst),
          limit: DurationText.print(configuration.retryLimit)))
    }
    return configuration
  }

  /// What a key sets, and between which bounds.
  private enum Setting {
    case number(WritableKeyPath<BankConfiguration, Int64>, ClosedRange<Int64>)
    case smallNumber(WritableKeyPath<BankConfiguration, Int32>, ClosedRange<Int64>)
    case span(WritableKeyPath<BankConfiguration, TimeSpan>, ClosedRange<TimeSpan>)
    case windows, work, speed, language, log
  }

  static var keys: [String] { settings.map(\.key) }

  private static var settings: KeyValuePairs<String, Setting> {
    let day = TimeSpan.seconds(86_400)
    return [
      "windows": .windows, "work": .work, "speed": .speed, "lang": .language,
      "max_waiting": .number(\.maxWaiting, 1...1_000_000_000),
      "lease": .span(\.lease, .milliseconds(100)...day),
      "standstill": .span(\.standstill, .milliseconds(500)...day),
      "prefetch": .smallNumber(\.prefetch, 1...Int64(Limits.customersInHand)),
      "max_crashes": .smallNumber(\.maxCrashes, 1...1000),
      "max_failures": .smallNumber(\.maxFailures, 1...1000),
      "retry_first": .span(\.retryFirst, .zero...day), "retry_limit": .span(\.retryLimit, .zero...day),
      "restart_first": .span(\.restartFirst, .milliseconds(1)...day),
      "restart_limit": .span(\.restartLimit, .milliseconds(1)...day),
      "recycle_after_customers": .number(\.recycleAfterCustomers, 0...1_000_000_000_000),
      "recycle_above_mb": .number(\.recycleAboveMegabytes, 0...1_048_576),
      "gather": .span(\.gather, .zero...TimeSpan.milliseconds(100)), "log": .log,
    ]
  }

  private mutating func set(_ key: String, _ value: ConfigurationReader) throws(ConfigurationError) {
    switch Self.settings.first(where: { $0.key == key })?.value {
    case .number(let place, let bounds): self[keyPath: place] = try value.wholeNumber(in: bounds)
    case .smallNumber(let place, let bounds): self[keyPath: place] = try value.wholeNumber(in: bounds)
    case .span(let place, let bounds): self[keyPath: place] = try value.span(in: bounds)
    case .windows:
      windows = try value.byService(windows) { value throws(ConfigurationError) in
        try value.wholeNumber(in: 0...Limits.windowsPerService)
      }
    case .work:
      work = try value.byService(work) { value throws(ConfigurationError) in
        try value.span(in: .zero...TimeSpan.seconds(86_400))
      }
    case .speed: speed = try value.speed()
    case .language: language = try value.language()
    case .log: try setLog(value)
    case nil: preconditionFailure("\(key) is not among the keys")
    }
  }

  private mutating func setLog(_ value: ConfigurationReader) throws(ConfigurationError) {
    var log = log
    try value.members(known: ["customers", "rotate_bytes", "keep"]) { key, value throws(ConfigurationError) in
      switch key {
      case "customers": log.customers = try value.bool()
      case "rotate_bytes": log.rotateBytes = try value.wholeNumber(in: 4096...1_099_511_627_776)
      default: log.keep = try value.wholeNumber(in: 0...100)
      }
    }
    self.log = log
  }
}
