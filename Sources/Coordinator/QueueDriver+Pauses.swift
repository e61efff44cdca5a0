// Owns the reasons of services that have paused by themselves, over the death and the restart of the coordinator.
// Invariant: a service that is not paused has no reason.

import BankModel
import QueueCore

extension QueueDriver {
  /// Reads why services are paused that a coordinator before this one has left so.
  func readPauseReasons() {
    guard machine.books.paused.contains(true) else { return }
    for (name, reason) in PauseNote.read(from: context.home.pauses) {
      guard let service = context.services.directory[name],
        machine.books.paused.indices.contains(service.index),
        machine.books.paused[service.index]
      else { continue }
      pauseReasons[service] = reason
    }
  }

  /// Keeps the reasons for the next coordinator.
  func keepPauseReasons() {
    let directory = context.services.directory
    let named = pauseReasons.map { (directory[$0.key], $0.value) }
    PauseNote.keep(Dictionary(uniqueKeysWithValues: named), at: context.home.pauses)
  }
}
