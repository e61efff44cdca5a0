// Names that identify the commands and workers of a home, including those left by an earlier coordinator: their mark
// and their control group.
// Invariant: on one machine, copies of a home and branches of a shared bank have different names, although the keys of
// their customers have the same prefix. A home keeps its names when it is renamed.

import BankModel
import Posix

/// Identity of a home's commands and workers, by which a later coordinator finds those that are still running.
package struct HomeProcessIdentity: Sendable, Hashable {
  private let number: UInt64

  /// - Returns: Nil if marks are not supported or the home is missing.
  init?(of home: BankHome, _ bankID: BankID) {
    guard ProcessMark.areSupported, let facts = try? FileMetadata.inspect(home.path) else { return nil }
    number = [UInt64(bitPattern: bankID.number), facts.device, facts.inode].reduce(0) { mixed, part in
      var generator = SeededGenerator(seed: mixed ^ part)
      return generator.next()
    }
  }

  /// Mark of the commands or workers of a service. It names home and service.
  func mark(of service: Service) -> ProcessMark { ProcessMark(owner: number, service: service.number) }
  /// Mark of the home, without a service.
  var mark: ProcessMark { ProcessMark(owner: number, service: 0) }
  /// Name of the home's control group.
  var group: String { "bank-\(String(number, radix: 16, digits: 16))" }
}
