// Owns the note of how many windows are wanted, beside the sockets: what the next coordinator opens after this one has
// been killed. It must not know tellers, nor where the numbers came from.
// Invariant: the file is replaced whole, so a reader finds all of the numbers of one moment.
// Failure: a note that cannot be written or read is none, and the configuration says how many windows there are.

import BankModel
import Posix

/// How many windows are wanted, for whoever comes after a crash.
enum WindowsRecord {
  /// Keeps the numbers. It is for the death of a process and not of the machine, so the disk is not waited for.
  static func keep(_ windows: [Service: Int32], at path: String) {
    RecoveryNote.keep(Array(text(windows).utf8), at: path)
  }

  /// What was kept; nil where nothing was, or it cannot be relied on.
  static func read(from path: String) -> [Service: Int32]? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow]),
      let bytes = try? file.readAll(limit: 4096)
    else { return nil }
    return parse(String(decoding: bytes, as: UTF8.self))
  }

  static func text(_ windows: [Service: Int32]) -> String {
    Service.allCases.map { "\($0.name) \(windows[$0] ?? 0)\n" }.joined() + "end\n"
  }

  static func parse(_ text: String) -> [Service: Int32]? {
    guard text.hasSuffix("\n") else { return nil }
    var lines = text.split(separator: "\n")
    guard lines.popLast() == "end" else { return nil }
    var windows: [Service: Int32] = [:]
    for line in lines {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 2, let service = Service(name: parts[0]), windows[service] == nil,
        let count = Int32(parts[1]), (0...Int32(Limits.windowsPerService)).contains(count)
      else { return nil }
      windows[service] = count
    }
    return windows.count == Service.allCases.count ? windows : nil
  }
}
