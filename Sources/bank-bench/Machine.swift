// Owns what is said of the machine beside the figures: processor, kernel, filesystem, how busy it was.
// It must not measure. Invariant: what cannot be found out is "unknown", never a guess.
// Figures from two machines are not comparable; their ratios to the raw limits are.

import Glibc
import Posix

struct Machine {
  let cores: Int
  let processor: String
  let kernel: String
  let filesystem: String
  let date: String
  /// Processes that were ready to run in the minute before, all in all.
  let load: String

  static func inspect(scratch: String) -> Machine {
    let model = text(of: "/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
    return Machine(
      cores: sysconf(CInt(_SC_NPROCESSORS_ONLN)),
      processor: model.flatMap { $0.split(separator: ":").last.map { trimmed($0) } } ?? "unknown",
      kernel: trimmed(text(of: "/proc/sys/kernel/ostype")[...]) + " "
        + trimmed(text(of: "/proc/sys/kernel/osrelease")[...]),
      filesystem: filesystem(of: scratch),
      date: String(Timestamp.utc(milliseconds: SystemClock.wallMilliseconds()).prefix(10)),
      load: text(of: "/proc/loadavg").split(separator: " ").first.map { String($0) } ?? "unknown")
  }

  /// The kind of filesystem with the longest mount point above a path. `proc(5)` /proc/self/mountinfo
  private static func filesystem(of path: String) -> String {
    var best = (length: 0, kind: "unknown")
    for line in text(of: "/proc/self/mountinfo").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard let dash = words.firstIndex(of: "-"), words.count > dash + 2, words.count > 4 else { continue }
      let point = words[4] == "/" ? "/" : words[4] + "/"
      guard (path + "/").hasPrefix(point), point.count >= best.length else { continue }
      best = (point.count, "\(words[dash + 1]) on \(words[dash + 2])")
    }
    return best.kind
  }

  /// The text of a file of /proc; empty where it cannot be read.
  static func text(of path: String) -> String {
    guard let file = try? FileDescriptor.open(path, .readOnly), let bytes = try? file.readAll() else {
      return ""
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func trimmed(_ text: Substring) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  var lines: [String] {
    var lines = [
      "\(date) · \(cores) cores, \(processor) · \(kernel) · \(filesystem) · load \(load) at the beginning"
    ]
    if filesystem.hasPrefix("tmpfs") {
      lines.append("A tmpfs keeps nothing: every figure about durability here means nothing. Set TMPDIR.")
    }
    return lines
  }

  var json: String {
    Figure.object([
      ("date", Figure.quoted(date)), ("cores", "\(cores)"), ("processor", Figure.quoted(processor)),
      ("kernel", Figure.quoted(kernel)), ("filesystem", Figure.quoted(filesystem)),
      ("load", Figure.quoted(load)),
    ])
  }
}
