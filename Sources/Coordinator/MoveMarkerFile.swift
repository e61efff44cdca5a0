// Marker file in a home whose database was moved to a shared one. It contains the address of the shared database.
// Without the file, a bank that is opened without this address would continue with the abandoned database.
// Invariant: the file contains "moving" before the data can be at the new place, and "moved" after they were moved. The
// file is on disk when `write(at:)` returns. Addresses contain no passwords.
// Errors: if "moving" cannot be written, the move is cancelled. If "moved" cannot be written, the move fails although
// the data were moved. A file that cannot be read, or is invalid, counts as "moving".

import Configuration
import Posix

struct MoveMarkerFile: Equatable {
  var address: String
  /// True if the move is known to be complete. False if its result is unknown.
  var isDone: Bool

  private static let longest = 1 << 14

  /// Writes the file durably.
  func write(at path: String) throws(SystemError) {
    let fresh = path + ".new"
    let file = try FileDescriptor.open(fresh, [.writeOnly, .create, .truncate], mode: 0o600)
    try file.writeAll(Array(text.utf8))
    try file.sync()
    try file.close()
    try Directory.rename(fresh, to: path)
    try Directory.sync(Paths.directory(of: path))
  }

  /// Marker file of a home; nil if there is none, or if the path cannot be examined.
  static func read(from path: String) -> MoveMarkerFile? {
    guard (try? FileMetadata.inspect(path)) ?? nil != nil else { return nil }
    let bytes = try? FileDescriptor.open(path, [.readOnly, .noFollow]).readAll(limit: longest)
    return parse(String(decoding: bytes ?? [], as: UTF8.self))
  }

  /// Contents of the file: `moved` or `moving`, and the address.
  var text: String { "\(isDone ? "moved" : "moving")\n\(address)\n" }

  /// Marker file with these contents. Invalid contents count as `moving` to an unknown address.
  static func parse(_ text: String) -> MoveMarkerFile {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty, ["moved", "moving"].contains(lines[0]),
      let address = try? StoreAddress(String(lines[1]))
    else { return MoveMarkerFile(address: "", isDone: false) }
    return MoveMarkerFile(address: address.description, isDone: lines[0] == "moved")
  }
}
