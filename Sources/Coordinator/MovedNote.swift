// Owns the note of where the books of a home are since they were moved to others, in the home itself: a bank that is opened
// without their address would work on with books that nobody looks into any more.
// Invariant: before the books can be there it stands that they are being moved, and that they have been moved is written when
// they are. It is on the disk when ``keep(_:at:)`` returns. No address holds a password.
// Failure: a note that cannot be kept is no move; one that cannot be read counts as one of books that are being moved.

import Configuration
import Posix

struct MovedNote: Equatable {
  /// Where the books are.
  var address: String
  /// Whether they are known to be there: a move may have ended before it was found out.
  var isDone: Bool

  private static let longest = 1 << 14

  /// Keeps it.
  func keep(at path: String) throws(SystemError) {
    let fresh = path + ".new"
    let file = try FileDescriptor.open(fresh, [.writeOnly, .create, .truncate], mode: 0o600)
    try file.writeAll(Array(text.utf8))
    try file.sync()
    try file.close()
    try Directory.rename(fresh, to: path)
    try Directory.sync(Paths.directory(of: path))
  }

  /// The note of a home; nil where its books are its own.
  static func read(from path: String) -> MovedNote? {
    guard (try? FileFacts.inspect(path)) ?? nil != nil else { return nil }
    let bytes = try? FileDescriptor.open(path, [.readOnly, .noFollow]).readAll(limit: longest)
    return parse(String(decoding: bytes ?? [], as: UTF8.self))
  }

  var text: String { "\(isDone ? "moved" : "moving")\n\(address)\n" }

  static func parse(_ text: String) -> MovedNote {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty, ["moved", "moving"].contains(lines[0]),
      let address = try? StoreAddress(String(lines[1]))
    else { return MovedNote(address: "", isDone: false) }
    return MovedNote(address: address.description, isDone: lines[0] == "moved")
  }
}
