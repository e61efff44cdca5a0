// Buffered standard output, so that a long list needs few writes.
// Invariant: lines are complete and in order. After the reader has closed the pipe nothing is written.
// Errors: `CommandError`; `readerGone` without a reader, `system` for example for a full disk.
import ByteText
import Logging
import Posix

/// Standard output of a command, with a buffer.
package final class Output {
  /// Colours of this output.
  package let palette: Palette
  let isTerminal: Bool
  private var buffer: [UInt8] = []
  private let sink: ([UInt8]) throws(SystemError) -> StandardStreams.Outcome

  /// Number of buffered bytes at which the buffer is written.
  private static let capacity = 64 << 10

  /// An output with an empty buffer.
  /// - Parameter sink: Writes the bytes.
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

  /// Adds a JSON document on one line.
  func line(_ document: JSONValue) throws(CommandError) {
    document.append(to: &buffer)
    try finishLine()
  }

  /// Adds a log line in the given presentation.
  func line(_ record: LogRecord, as presentation: LogPresentation) throws(CommandError) {
    presentation.append(record, to: &buffer)
    try flushIfFull()
  }

  /// Adds bytes unchanged.
  func write(_ bytes: ArraySlice<UInt8>) throws(CommandError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  /// Adds text without a line break.
  func write(_ text: String) { buffer.append(contentsOf: ByteText.shown(text).utf8) }

  /// Ends the present line.
  private func finishLine() throws(CommandError) {
    buffer.append(UInt8(ascii: "\n"))
    try flushIfFull()
  }

  /// Writes the buffer if it has reached its capacity.
  private func flushIfFull() throws(CommandError) { if buffer.count >= Self.capacity { try flush() } }

  /// Writes the buffered bytes. Call before every wait.
  func flush() throws(CommandError) {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    if try fromSystem(sink(buffer)) == .readerGone { throw .readerGone }
  }
}

/// Functions that print messages on standard error.
enum StandardErrorNotes {
  /// Prints a message on standard error, folded to the width of the terminal. A failure is ignored, because
  /// it could not be reported anywhere else.
  static func say(_ text: String) {
    write(lines(text, columns: Terminal.size(of: StandardStreams.Stream.error.fd)?.columns))
  }

  /// The text, folded for a terminal with `columns` columns.
  static func lines(_ text: String, columns: Int?) -> String {
    ByteText.shown(text).split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { Screen.folded(String($0), columns: columns) }.reduce(into: "") { $0 += $1 + "\n" }
  }

  /// Writes text to standard error as it is; ignores a failure.
  static func write(_ text: String) { _ = try? StandardStreams.write(text, to: .error) }
}

/// Detects that the reader of standard output has closed it, even while nothing is written. If the descriptor
/// cannot be watched, the next write detects it.
final class OutputReaderMonitor {
  private let loop: EventLoop
  private var registration: Registration?
  /// True if the reader of standard output has closed it.
  private(set) var isGone = false

  init(on loop: EventLoop) {
    self.loop = loop
    // epoll reports a pipe without a reader as an error even if no event was requested. It refuses regular
    // files, whose reader cannot disappear.
    registration = try? loop.register(fd: StandardStreams.Stream.output.fd, interest: []) { [weak self] _ in
      self?.isGone = true
    }
  }

  deinit { if let registration { loop.deregister(registration) } }
}
