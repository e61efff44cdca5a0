// Names by which a coordinator recognizes the commands and workers of its home, and those that a former coordinator of the home
// has left behind: their mark and their control group.
// Invariant: copies of a home, and branches that share a bank, have different names, though their customers' keys begin alike;
// a home keeps its name when it is renamed.

import BankModel
import Posix

/// What tells the processes of one home from those of others.
package struct Lineage: Sendable, Hashable {
  private let number: UInt64

  /// - Returns: nil on a simulated machine, and for a home that is not there.
  init?(of home: BankHome, _ books: BooksName) {
    guard ProcessMark.areCarried, let facts = try? FileFacts.inspect(home.path) else { return nil }
    number = [UInt64(bitPattern: books.number), facts.device, facts.inode].reduce(0) { mixed, part in
      var generator = SeededGenerator(seed: mixed ^ part)
      return generator.next()
    }
  }

  /// The mark of what runs for a service.
  func mark(of service: Service) -> ProcessMark { ProcessMark(owner: number, service: service.number) }
  /// A mark of the home, of no service.
  var mark: ProcessMark { ProcessMark(owner: number, service: 0) }
  /// The control group of the home.
  var group: String { "bank-\(String(number, radix: 16, digits: 16))" }
}
