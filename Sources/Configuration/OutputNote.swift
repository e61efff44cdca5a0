// Owns the note in a home that says which files of commands are gone because of `keep_output`: those that nobody has written to
// since a moment. The coordinator writes it before it removes the first, and whoever looks for one reads it.
// Failure: what cannot be read, or means nothing, is no note.

import Posix
import Time

/// Up to which moment files into which commands have written may be gone.
public enum OutputNote {
  /// Where it stands, beside the directories of the days.
  public static func path(in home: String) -> String { Paths.join(home, "output", "removed") }

  /// What it says: milliseconds since 1970.
  public static func text(_ horizon: WallTime) -> [UInt8] { Array("\(horizon.milliseconds)\n".utf8) }

  /// The moment; nil where there is none.
  public static func read(_ path: String) -> WallTime? {
    guard let bytes = try? FileDescriptor.open(path, .readOnly).readAll(limit: 64),
      bytes.last == UInt8(ascii: "\n"),
      let moment = Int64(String(decoding: bytes.dropLast(), as: UTF8.self))
    else { return nil }
    return WallTime(milliseconds: moment)
  }
}
