// Owns what goes to standard output: gathered, so that a long list costs few writes, and flushed before anything waits.
// Invariant: lines come out whole and in order; after the reader has gone nothing more is written. Standard output that
// is a file never counts as left.
// Failure: CommandError, `readerGone` where nobody reads any more, `system` for a full disk.
import ByteText
import Logbook
import Posix

package final class Output {
  /// The colours that this output takes; none unless it is a terminal.
  package let palette: Palette
  let isTerminal: Bool
  private var buffer: [UInt8] = []
  private let sink: ([UInt8]) throws(SystemError) -> StandardStreams.Outcome

  private static let capacity = 64 << 10

  /// Takes a sink, which tests replace.
  init(
    isTerminal: Bool, palette: Palette,
    sink: @escaping ([UInt8]) throws(SystemError) -> StandardStreams.Outcome = {
      bytes throws(SystemError) in try StandardStreams.write(bytes, to: .output)
    }
  ) {
    self.isTerminal = isTerminal
    self.palette = palette
    self.sink = sink
  }

  func line(_ text: String) throws(CommandError) {
    buffer.append(contentsOf: ByteText.shown(text).utf8)
    try finishLine()
  }

  func line(_ document: JSONValue) throws(CommandError) {
    document.append(to: &buffer)
    try finishLine()
  }

  func line(_ record: LogRecord, as presentation: LogPresentation) throws(CommandError) {
    presentation.append(record, to: &buffer)
    try flushIfFull()
  }

  func write(_ bytes: ArraySlice<UInt8>) throws(CommandError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  func write(_ text: String) { buffer.append(contentsOf: ByteText.shown(text).utf8) }

  private func finishLine() throws(CommandError) {
    buffer.append(UInt8(ascii: "\n"))
    try flushIfFull()
  }

  private func flushIfFull() throws(CommandError) { if buffer.count >= Self.capacity { try flush() } }

  /// Writes what was gathered. Whoever waits for something next calls it before.
  func flush() throws(CommandError) {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    if try fromSystem(sink(buffer)) == .readerGone { throw .readerGone }
  }
}

enum Notes {
  /// Says a line, in several where the terminal is too narrow for it. Where even that is not possible there is nobody
  /// left to tell.
  static func say(_ text: String) {
    write(lines(text, columns: Terminal.size(of: StandardStreams.Stream.error.fd)?.columns))
  }

  /// What is written for a text, on a terminal that wide.
  static func lines(_ text: String, columns: Int?) -> String {
    ByteText.shown(text).split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { Screen.folded(String($0), columns: columns) }.reduce(into: "") { $0 += $1 + "\n" }
  }

  static func write(_ text: String) { _ = try? StandardStreams.write(text, to: .error) }
}

/// Notices that nobody reads standard output any more, also while there is nothing to write. What cannot be watched is
/// noticed with the next write.
final class ReaderWatch {
  private let loop: EventLoop
  private var registration: Registration?
  private(set) var isGone = false

  init(on loop: EventLoop) {
    self.loop = loop
    // A pipe without a reader is an error unasked. A file cannot be waited for, and does not go away either.
    registration = try? loop.register(fd: StandardStreams.Stream.output.fd, interest: []) { [weak self] _ in
      self?.isGone = true
    }
  }

  deinit { if let registration { loop.deregister(registration) } }
}
