// Owns how the command line and the configuration file become one configuration: what the caller asked for goes
// before what the file says. It knows no queue beyond the names of its rules.

import Arguments
import BankModel
import Configuration
import QueueCore
import Supervision
import Wire

extension CoordinatorOptions {
  /// The configuration file, read now, with the caller's own choices on top.
  func configuration() throws(Failure) -> BankConfiguration {
    var configuration = try read()
    for (service, count) in windows { configuration.windows[service] = Int32(count) }
    if let language { configuration.language = language }
    if let speed {
      do throws(SpeedText.Failure) { configuration.speed = Speed(try SpeedText.parse(speed)) } catch {
        throw Failure(.badRequest, subject: "--speed", detail: error.advice(in: .english))
      }
    }
    return configuration
  }

  private func read() throws(Failure) -> BankConfiguration {
    guard let config else { return BankConfiguration() }
    do throws(ConfigurationError) { return try BankConfiguration.load(path: config) } catch {
      throw Failure(.badConfiguration, subject: config, detail: error.message(in: language ?? .english))
    }
  }
}

extension BankConfiguration {
  /// The rules of the queue.
  var policy: QueuePolicy {
    var policy = QueuePolicy()
    policy.maxWaiting = maxWaiting
    policy.lease = lease
    policy.prefetch = Int(prefetch)
    policy.maxCrashes = maxCrashes
    policy.maxFailures = maxFailures
    policy.retryFirst = retryFirst
    policy.retryLimit = retryLimit
    return policy
  }

  /// When the successor of a teller that has died comes.
  var restarts: RestartPolicy {
    var policy = RestartPolicy()
    policy.firstPause = restartFirst
    policy.longestPause = restartLimit
    return policy
  }

  /// When a teller that is well is replaced.
  var recycling: RecyclePolicy {
    RecyclePolicy(afterCustomers: recycleAfterCustomers, aboveBytes: recycleAboveMegabytes << 20)
  }

  /// Whether tellers would be told something else.
  func tellerOrdersDiffer(from other: BankConfiguration) -> Bool {
    work != other.work || speed != other.speed || language != other.language || log != other.log
      || lease != other.lease
  }
}
