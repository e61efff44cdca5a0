// Owns which keys a configuration file has, and how they become a `BankConfiguration`.
// It must not know what anybody does with a value.
// Invariant: a key that is absent keeps its default; a file is taken as a whole or not at all.
// Failure: ConfigurationError with the first thing that is wrong.

import Arguments
import BankModel

extension BankConfiguration {
  /// Reads a configuration file.
  ///
  /// - Throws: ``ConfigurationError``; a file that is not there is ``ConfigurationError/Reason/notFound``.
  public static func load(path: String) throws(ConfigurationError) -> BankConfiguration {
    try decode(bytes: try ConfigurationFile.bytes(of: path), path: path)
  }

  /// Reads a configuration from the bytes of a file.
  ///
  /// - Parameter path: the file's name for errors.
  public static func decode(bytes: [UInt8], path: String) throws(ConfigurationError) -> BankConfiguration {
    let root = try ConfigurationFile.root(of: bytes, path: path)
    var configuration = BankConfiguration()
    var retryLine: Int?
    try root.members(known: keys) {
      key, value throws(ConfigurationError) in
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

  static let keys = [
    "windows", "work", "speed", "lang", "max_waiting", "lease", "standstill", "prefetch", "max_crashes",
    "max_failures", "retry_first", "retry_limit", "restart_first", "restart_limit", "recycle_after_customers",
    "recycle_above_mb", "gather", "log",
  ]

  private mutating func set(_ key: String, _ value: ConfigurationReader) throws(ConfigurationError) {
    typealias Bounds = ConfigurationBounds
    switch key {
    case "windows":
      windows = try value.byService(windows) { value throws(ConfigurationError) in
        try value.wholeNumber(in: Bounds.windows)
      }
    case "work":
      work = try value.byService(work) { value throws(ConfigurationError) in try value.span(in: Bounds.work) }
    case "speed": speed = try value.speed()
    case "lang": language = try value.language()
    case "max_waiting": maxWaiting = try value.wholeNumber(in: Bounds.maxWaiting)
    case "lease": lease = try value.span(in: Bounds.lease)
    case "standstill": standstill = try value.span(in: Bounds.standstill)
    case "prefetch": prefetch = try value.wholeNumber(in: Bounds.prefetch)
    case "max_crashes": maxCrashes = try value.wholeNumber(in: Bounds.attempts)
    case "max_failures": maxFailures = try value.wholeNumber(in: Bounds.attempts)
    case "retry_first": retryFirst = try value.span(in: Bounds.retry)
    case "retry_limit": retryLimit = try value.span(in: Bounds.retry)
    case "restart_first": restartFirst = try value.span(in: Bounds.restart)
    case "restart_limit": restartLimit = try value.span(in: Bounds.restart)
    case "recycle_after_customers":
      recycleAfterCustomers = try value.wholeNumber(in: Bounds.recycleCustomers)
    case "recycle_above_mb": recycleAboveMegabytes = try value.wholeNumber(in: Bounds.recycleMegabytes)
    case "gather": gather = try value.span(in: Bounds.gather)
    case "log": try setLog(value)
    default: preconditionFailure("\(key) is among the keys and has no meaning")
    }
  }

  private mutating func setLog(_ value: ConfigurationReader) throws(ConfigurationError) {
    var log = log
    try value.members(known: ["customers", "rotate_bytes", "keep"]) { key, value throws(ConfigurationError) in
      switch key {
      case "customers": log.customers = try value.bool()
      case "rotate_bytes": log.rotateBytes = try value.wholeNumber(in: ConfigurationBounds.rotateBytes)
      case "keep": log.keep = try value.wholeNumber(in: ConfigurationBounds.keep)
      default: preconditionFailure("\(key) is among the keys and has no meaning")
      }
    }
    self.log = log
  }
}
