// Marker file in a home. It contains a time: output files whose last write was earlier may have been deleted
// because of `output_retention`. The coordinator writes the marker file before it deletes the first output
// file. A command that finds an output file missing reads the marker file.
// Errors: an unreadable or invalid marker file counts as missing.

import Posix
import Time

/// The time in the marker file: output files last written before this time may have been deleted.
public enum OutputNote {
  /// Path of the marker file, beside the directories of the days.
  public static func path(in home: String) -> String { Paths.join(home, "output", "removed") }

  /// Content: milliseconds since 1970.
  public static func text(_ horizon: WallTime) -> [UInt8] { Array("\(horizon.milliseconds)\n".utf8) }

  /// Reads the time; nil without a valid marker file.
  public static func read(_ path: String) -> WallTime? {
    guard let bytes = try? FileDescriptor.open(path, .readOnly).readAll(limit: 64),
      bytes.last == UInt8(ascii: "\n"),
      let moment = Int64(String(decoding: bytes.dropLast(), as: UTF8.self))
    else { return nil }
    return WallTime(milliseconds: moment)
  }
}
