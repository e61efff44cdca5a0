// Marker file in a home whose database was moved to a shared one, with its new address. Without it a bank opened
// without that address would continue with a database that is not used any more.
// Invariant: the file contains "moving" before the data can be at the new place, and "moved" after they are. It is on
// disk when ``keep(_:at:)`` returns. Addresses contain no passwords.
// Errors: if the file cannot be written there is no move. A file that cannot be read counts as "moving".

import Configuration
import Posix

struct MovedNote: Equatable {
  /// Address of the database.
  var address: String
  /// True if the data are known to be there. False if the move may have ended without a result.
  var isDone: Bool

  private static let longest = 1 << 14

  /// Writes the file durably.
  func keep(at path: String) throws(SystemError) {
    let fresh = path + ".new"
    let file = try FileDescriptor.open(fresh, [.writeOnly, .create, .truncate], mode: 0o600)
    try file.writeAll(Array(text.utf8))
    try file.sync()
    try file.close()
    try Directory.rename(fresh, to: path)
    try Directory.sync(Paths.directory(of: path))
  }

  /// Marker file of a home; nil if the home uses its own database.
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
