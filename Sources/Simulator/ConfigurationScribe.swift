// Owns the configuration file of the simulated bank: what somebody writes into it, while the bank is open or before. It must
// not know who reads it. Invariant: the rules of the queue are those of the history, whatever else is written; where they
// are none that a file may have, the file is refused as a whole.
import BankModel
import QueueCore

struct ConfigurationScribe {
  static let path = "/bank/bank.json"

  let policy: QueuePolicy
  let keepsLogs: Bool

  func text(windows: [Service: Int32], workMicroseconds: Int64, gather: TimeSpan, standstill: TimeSpan)
    -> String
  {
    let services = Service.allCases
    let counts = services.map { "\"\($0.name)\": \(windows[$0] ?? 0)" }.joined(separator: ", ")
    let work = services.map { "\"\($0.name)\": \"\(workMicroseconds)us\"" }.joined(separator: ", ")
    return """
      {
        "windows": {\(counts)},
        "work": {\(work)},
        "lang": "en",
        "max_waiting": \(policy.maxWaiting),
        "lease": "\(policy.lease.milliseconds)ms",
        "prefetch": \(policy.prefetch),
        "max_crashes": \(policy.maxCrashes),
        "max_failures": \(policy.maxFailures),
        "retry_first": "\(policy.retryFirst.milliseconds)ms",
        "retry_limit": "\(policy.retryLimit.milliseconds)ms",
        "standstill": "\(standstill.milliseconds)ms",
        "gather": "\(gather.milliseconds)ms",
        "log": {"customers": \(keepsLogs), "rotate_bytes": 4096, "keep": 2}
      }
      """
  }
}
