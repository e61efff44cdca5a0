// Owns the note of which shared books this home has joined, beside the sockets: the next start recognizes them by it, and so do
// the processes that read them.
// Invariant: the file is replaced whole, so a reader finds all of one moment. It holds no password, because no address does.
// Failure: a note that cannot be written or read is none, and the books are recognized by nothing.

import Posix
import QueueCore

struct BooksNote: Equatable {
  /// The address of the books.
  var address: String
  /// The name of the branch there.
  var branch: String
  /// What is known of them.
  var mark: BooksMark

  private static let longest = 1 << 14

  /// Keeps it. It is for the death of a process, so the disk is not waited for.
  func keep(at path: String) { RecoveryNote.keep(Array(text.utf8), at: path) }

  /// What was kept; nil where nothing was, or it cannot be relied on.
  static func read(from path: String) -> BooksNote? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow]),
      let bytes = try? file.readAll(limit: longest)
    else { return nil }
    return parse(String(decoding: bytes, as: UTF8.self))
  }

  var text: String {
    let numbers = [
      mark.books, mark.system, mark.timeline, mark.day, mark.ticket, mark.epoch, mark.commits,
    ]
    return "\(address)\n\(branch)\n\(numbers.map(String.init).joined(separator: " "))\nend\n"
  }

  static func parse(_ text: String) -> BooksNote? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 5, lines[3] == "end", lines[4].isEmpty else { return nil }
    let words = lines[2].split(separator: " ", omittingEmptySubsequences: false)
    let numbers = words.compactMap { Int64($0) }
    guard words.count == 7, numbers.count == 7 else { return nil }
    let mark = BooksMark(
      books: numbers[0], system: numbers[1], timeline: numbers[2], day: numbers[3], ticket: numbers[4],
      epoch: numbers[5], commits: numbers[6])
    return BooksNote(address: String(lines[0]), branch: String(lines[1]), mark: mark)
  }

  /// What is known of the branch of this name: of another one nothing but the books.
  func mark(of branch: String) -> BooksMark {
    guard branch != self.branch else { return mark }
    var mark = mark
    (mark.epoch, mark.commits) = (0, 0)
    return mark
  }
}

extension BankHome {
  /// The note of which shared books were joined.
  var booksNote: String { Paths.join(run, "books") }
}
