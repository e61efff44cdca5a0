// File with the reasons of services that the queue has paused, for the next coordinator.
// Errors: a file that cannot be written or read counts as missing, and the service is paused without a reason.

import BankModel
import Posix

enum PauseMarkerFile {
  /// Largest size in bytes of a file that is read.
  private static let longest = 1 << 22

  /// Stores the reasons, or removes the file if there are none.
  static func write(_ reasons: [ServiceName: String], at path: String) {
    guard !reasons.isEmpty else { return _ = try? Directory.unlink(path) }
    RecoveryMarkerFile.write(bytes(of: reasons), at: path)
  }

  /// Stored reasons; empty if the file is missing or invalid.
  static func read(from path: String) -> [ServiceName: String] {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow, .nonBlocking]),
      let bytes = try? file.readAll(limit: longest)
    else { return [:] }
    return parse(bytes) ?? [:]
  }

  /// Contents of the file: each reason follows a line with its service and its length in bytes; the last line is `end`.
  static func bytes(of reasons: [ServiceName: String]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (service, reason) in reasons.sorted(by: { $0.key < $1.key }) {
      bytes += Array("\(service) \(reason.utf8.count)\n\(reason)\n".utf8)
    }
    return bytes + Array("end\n".utf8)
  }

  /// Reasons in the contents of a file; nil if the contents are invalid.
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
