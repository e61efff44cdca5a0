// The file `output/removed` of a home. It contains a time: output files whose last write was earlier may have been
// deleted because of `output_retention`. The coordinator writes this time before it deletes older output files.
// Errors: an unreadable or invalid file counts as missing.

import Posix
import Time

/// The file with the time before which output files may have been deleted.
public enum OutputMarkerFile {
  /// Path of the file, beside the directories of the days.
  public static func path(in home: String) -> String { Paths.join(home, "output", "removed") }

  /// The content of the file for a time: milliseconds since 1970.
  public static func text(_ horizon: WallTime) -> [UInt8] { Array("\(horizon.milliseconds)\n".utf8) }

  /// Reads the time; nil without a valid file.
  public static func read(_ path: String) -> WallTime? {
    guard let bytes = try? FileDescriptor.open(path, .readOnly).readAll(limit: 64),
      bytes.last == UInt8(ascii: "\n"),
      let moment = Int64(String(decoding: bytes.dropLast(), as: UTF8.self))
    else { return nil }
    return WallTime(milliseconds: moment)
  }
}
