// Former names of settings. A file with a former name is refused, and the error contains the present name.
// Invariant: a former name is never the name of a present setting.

extension Setting {
  /// Returns the present name of a setting, without its groups, for a former name; nil for any other key.
  ///
  /// - Parameter key: the former name with its groups, as in a file: `services.thumbs.retries.first`.
  static func presentName(of key: String) -> String? {
    guard key.hasPrefix(servicesKey + ".") else { return formerNames[key] }
    // The name of a service may contain dots.
    return formerNamesOfServices.first { key.hasSuffix("." + $0.key) }?.value
  }

  /// Present names of the settings of a bank, by their former names with groups.
  static let formerNames = [
    "gather": "commit_delay",
    "standstill": "watchdog_timeout",
    "retry_first": retryInitialDelayKey,
    "retry_limit": retryMaxDelayKey,
    "restart_first": "restart_initial_delay",
    "restart_limit": "restart_max_delay",
    "recycle_after_customers": "max_customers_per_teller",
    "recycle_above_mb": "max_teller_memory_mb",
    "keep_output": "output_retention",
    "log.customers": "customer_events",
    "log.keep": "keep_files",
    "store.page": "claim_size",
  ]

  /// Present names of the settings of a service, by their former names in the block of the service.
  static let formerNamesOfServices = [
    "result_bytes": "max_result_bytes",
    "retries.first": "initial_delay",
    "retries.limit": "max_delay",
    "retries.crashes": "max_crashes",
    "retries.failures": "max_failures",
    "limits.processor": "cpu_time",
    "limits.files": "open_files",
    "limits.output": "output_bytes",
  ]
}
