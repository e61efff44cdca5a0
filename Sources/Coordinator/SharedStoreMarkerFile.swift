// File that records the shared database that this home has joined.
// Invariant: the file is replaced as a whole, so it contains the state of one moment. It contains no password, because
// an address contains none.
// Errors: a file that cannot be written or read counts as missing; then the database is not checked.

import Posix
import QueueCore

/// Record of the shared database that this home has joined.
struct SharedStoreMarkerFile: Equatable {
  var address: String
  var branch: String
  /// Last known state of the database.
  var mark: SharedStoreProgress

  private static let longest = 1 << 14

  func write(at path: String) { RecoveryMarkerFile.write(Array(text.utf8), at: path) }

  /// Stored record; nil if the file is missing or invalid.
  static func read(from path: String) -> SharedStoreMarkerFile? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow]),
      let bytes = try? file.readAll(limit: longest)
    else { return nil }
    return parse(String(decoding: bytes, as: UTF8.self))
  }

  var text: String {
    let numbers = [
      mark.bankID, mark.system, mark.timeline, mark.day, mark.ticket, mark.epoch, mark.commits,
    ]
    return "\(address)\n\(branch)\n\(numbers.map(String.init).joined(separator: " "))\nend\n"
  }

  /// Record in the contents of a file; nil if they are invalid.
  static func parse(_ text: String) -> SharedStoreMarkerFile? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 5, lines[3] == "end", lines[4].isEmpty else { return nil }
    let words = lines[2].split(separator: " ", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Int64($0) }
    guard words.count == 7, numbers.count == 7 else { return nil }
    let mark = SharedStoreProgress(
      bankID: numbers[0], system: numbers[1], timeline: numbers[2], day: numbers[3], ticket: numbers[4],
      epoch: numbers[5], commits: numbers[6])
    return SharedStoreMarkerFile(address: String(lines[0]), branch: String(lines[1]), mark: mark)
  }

  /// Returns the last known state of the database. If the name is not that of the recorded branch, epoch and
  /// commits are 0.
  func mark(of branch: String) -> SharedStoreProgress {
    guard branch != self.branch else { return mark }
    var mark = mark
    (mark.epoch, mark.commits) = (0, 0)
    return mark
  }
}

extension BankHome {
  /// File with the record of the joined database.
  var sharedStoreMarkerFile: String { Paths.join(run, "database") }
}
