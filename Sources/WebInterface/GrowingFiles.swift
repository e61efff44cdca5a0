// Owns what pages show of files that grow: the log of a worker, and what the command of a ticket has written. It knows no page.
// Invariant: at most a few kilobytes of a file are read, however large it is, and no name leads out of its directory. A piece
// has the same number and the same beginning whenever it is read.
import Posix
import WebPages

enum GrowingFiles {
  /// Lines of a log that are shown.
  static let lines = 200
  /// Bytes of a file that are read at its end.
  static let window: Int64 = 64 << 10
  private static let piece: Int64 = 4 << 10

  /// The last lines of a log; a line is called by where it begins.
  static func log(_ name: String, in directory: String) -> [LogLine]? {
    guard let (bytes, start) = end(of: Paths.join(directory, name + ".log")) else { return nil }
    var lines: [LogLine] = []
    var begin = start == 0 ? 0 : (bytes.firstIndex(of: 10).map { $0 + 1 } ?? bytes.count)
    while let stop = bytes[begin...].firstIndex(of: 10) {
      lines.append(
        LogLine(number: start + Int64(begin), text: String(decoding: bytes[begin..<stop], as: UTF8.self)))
      begin = stop + 1
    }
    return lines.suffix(Self.lines)
  }

  /// What a command has written, its standard output first, and whether something in front of it is left out.
  static func output(
    ofTicket ticket: Int64, day: Int64, in directory: String
  ) -> (chunks: [OutputChunk], isCut: Bool) {
    let place = Paths.join(directory, String(day), String(ticket))
    let output = chunks(of: place + ".out", isError: false)
    let errors = chunks(of: place + ".err", isError: true)
    return (output.chunks + errors.chunks, output.isCut || errors.isCut)
  }

  /// A piece ends behind the first line break from each multiple of its size on, so no letter and no line is torn by it.
  private static func chunks(of path: String, isError: Bool) -> (chunks: [OutputChunk], isCut: Bool) {
    guard let (bytes, start) = end(of: path) else { return ([], false) }
    var chunks: [OutputChunk] = []
    var begin = 0
    var number = start / piece
    if start > 0 { begin = bytes.firstIndex(of: 10).map { $0 + 1 } ?? 0 }
    while begin < bytes.count {
      let from = min(bytes.count, max(begin, Int((number + 1) * piece - start)))
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

  /// The last bytes of a file, and where they begin, which is a multiple of the size of a piece.
  private static func end(of path: String) -> (bytes: [UInt8], start: Int64)? {
    guard let file = try? FileDescriptor.open(path, [.readOnly, .noFollow, .nonBlocking]),
      let size = try? file.size()
    else { return nil }
    let start = max(0, size - window) / piece * piece
    var bytes = [UInt8](repeating: 0, count: Int(size - start))
    let count = (try? bytes.withUnsafeMutableBytes { try file.read(into: $0, at: start) }) ?? 0
    return (Array(bytes.prefix(count)), start)
  }
}
