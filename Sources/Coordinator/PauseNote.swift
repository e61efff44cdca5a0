// The note of why services have paused by themselves, beside the sockets: a service stays paused over a restart, and the next
// coordinator says why.
// Invariant: the file is replaced whole; a reason is of a service that is paused, or it is not shown.
// Failure: a note that cannot be written or read is none, and the service is paused without a reason.

import BankModel
import Posix

enum PauseNote {
  private static let longest = 1 << 22

  /// Keeps the reasons, or takes the note away where there are none.
  static func keep(_ reasons: [ServiceName: String], at path: String) {
    guard !reasons.isEmpty else { return _ = try? Directory.unlink(path) }
    RecoveryNote.keep(bytes(of: reasons), at: path)
  }

  /// What was kept; nothing where nothing was, or it cannot be relied on.
  static func read(from path: String) -> [ServiceName: String] {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow, .nonBlocking]),
      let bytes = try? file.readAll(limit: longest)
    else { return [:] }
    return parse(bytes) ?? [:]
  }

  /// Each reason behind a line with its service and its length in bytes, and `end` at last.
  static func bytes(of reasons: [ServiceName: String]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (service, reason) in reasons.sorted(by: { $0.key < $1.key }) {
      bytes += Array("\(service) \(reason.utf8.count)\n\(reason)\n".utf8)
    }
    return bytes + Array("end\n".utf8)
  }

  static func parse(_ bytes: [UInt8]) -> [ServiceName: String]? {
    var rest = bytes[...]
    var reasons: [ServiceName: String] = [:]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let head = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
      rest = rest[(end + 1)...]
      if head == ["end"] { return rest.isEmpty ? reasons : nil }
      guard head.count == 2, let service = ServiceName(head[0]), let length = Int(head[1]),
        length >= 0, length < rest.count, rest[rest.startIndex + length] == UInt8(ascii: "\n")
      else { return nil }
      reasons[service] = String(decoding: rest.prefix(length), as: UTF8.self)
      rest = rest.dropFirst(length + 1)
    }
    return nil
  }
}
