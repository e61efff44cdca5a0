// Growing files on pages: the log of a worker, and the output of a ticket's command.
// Invariant: the number of bytes that are read is limited. A piece of output has the same number and start whenever it
// is read, unless a line is longer than a piece.
import Posix
import WebPages

/// Reads the ends of growing files.
enum FileTail {
  /// Maximum number of log lines on a page.
  static let lines = 200
  /// Minimum number of bytes that are read from the end of a longer file. The first byte is at a multiple of the piece
  /// size.
  static let tailSize: Int64 = 64 << 10
  /// Piece size in bytes: a piece of output ends at the first line break at or after a multiple of this number.
  private static let chunkSize: Int64 = 4 << 10

  /// The last lines of a log. The number of a line is its byte offset. Nil if the file cannot be opened.
  static func log(_ name: String, in directory: String) -> [LogLine]? {
    guard let (bytes, start) = tail(of: Paths.join(directory, name + ".log")) else { return nil }
    var lines: [LogLine] = []
    var begin = start == 0 ? 0 : (bytes.firstIndex(of: 10).map { $0 + 1 } ?? bytes.count)
    while let stop = bytes[begin...].firstIndex(of: 10) {
      lines.append(
        LogLine(number: start + Int64(begin), text: String(decoding: bytes[begin..<stop], as: UTF8.self)))
      begin = stop + 1
    }
    return lines.suffix(Self.lines)
  }

  /// Last pieces of the output of a ticket's command, standard output first. `isCut` is true if an earlier part is
  /// omitted.
  static func output(
    ofTicket ticket: Int64, day: Int64, in directory: String
  ) -> (chunks: [OutputChunk], isCut: Bool) {
    let base = Paths.join(directory, String(day), String(ticket))
    let output = chunks(of: base + ".out", isError: false)
    let errors = chunks(of: base + ".err", isError: true)
    return (output.chunks + errors.chunks, output.isCut || errors.isCut)
  }

  /// Splits the end of an output file into pieces. `isCut` is true if an earlier part is omitted.
  private static func chunks(of path: String, isError: Bool) -> (chunks: [OutputChunk], isCut: Bool) {
    guard let (bytes, start) = tail(of: path) else { return ([], false) }
    var chunks: [OutputChunk] = []
    var begin = 0
    var number = start / chunkSize
    if start > 0 { begin = bytes.firstIndex(of: 10).map { $0 + 1 } ?? 0 }
    while begin < bytes.count {
      let from = min(bytes.count, max(begin, Int((number + 1) * chunkSize - start)))
      let stop = bytes[from...].firstIndex(of: 10).map { $0 + 1 } ?? bytes.count
      chunks.append(
        OutputChunk(
          number: 2 * number + (isError ? 1 : 0), text: String(decoding: bytes[begin..<stop], as: UTF8.self),
          isError: isError))
      begin = stop
      number += 1
    }
    return (chunks, start > 0)
  }

  /// The last bytes of a file, and their offset, which is a multiple of the piece size; nil if it cannot be read.
  private static func tail(of path: String) -> (bytes: [UInt8], start: Int64)? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow, .nonBlocking]),
      let size = try? file.size()
    else { return nil }
    let start = max(0, size - tailSize) / chunkSize * chunkSize
    var bytes = [UInt8](repeating: 0, count: Int(size - start))
    let count = (try? bytes.withUnsafeMutableBytes { try file.read(into: $0, at: start) }) ?? 0
    return (Array(bytes.prefix(count)), start)
  }
}
