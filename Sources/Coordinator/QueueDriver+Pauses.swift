// Reasons of services that the queue has paused,
// stored so that they survive a restart of the coordinator.

import BankModel
import QueueCore

extension QueueDriver {
  /// Reads the reasons for services that an earlier coordinator has paused.
  func readPauseReasons() {
    guard machine.dayCounters.paused.contains(true) else { return }
    for (name, reason) in PauseMarkerFile.read(from: context.home.pauses) {
      guard let service = context.services.directory[name],
        machine.dayCounters.paused.indices.contains(service.index),
        machine.dayCounters.paused[service.index]
      else { continue }
      pauseReasons[service] = reason
    }
  }

  /// Stores the reasons for the next coordinator.
  func storePauseReasons() {
    let directory = context.services.directory
    let named = pauseReasons.map { (directory[$0.key], $0.value) }
    PauseMarkerFile.write(Dictionary(uniqueKeysWithValues: named), at: context.home.pauses)
  }
}
