// Text that a worker program writes to standard output and standard error, read from one pipe and split into lines.
// Invariant: the program is not blocked for long, because everything is read. The stored bytes of a line, the lines per
// second and the bytes read per iteration are limited. Dropped lines are counted, and the last lines before the end of
// the output are passed on in any case.

import Glibc
import Posix
import Time

final class WorkerOutputReader {
  /// Maximum length in bytes of a value in the log. One more byte of a line is stored.
  static let longestLine = 4_096
  /// Lines and bytes passed on in one second.
  static let (linesInASecond, bytesInASecond) = (200, 128 << 10)
  /// Lines stored for the message about a program that has exited.
  static let lastLines = 3
  private static let pieceSize = 64 << 10
  /// Bytes read before other events are handled.
  private static let maximumPerRead = 4 * pieceSize
  /// By default an unprivileged process can enlarge a pipe to 1 MiB (see `pipe(7)`), so this limit covers all its
  /// contents.
  private static let maxBytesAtEnd = 2 << 20

  /// Called with each line that is not dropped, without its line feed. The bytes need not be UTF-8.
  var onLine: ([UInt8]) -> Void = { _ in }
  /// Called with the number of dropped lines.
  var onOmitted: (Int64) -> Void = { _ in }

  private let loop: EventLoop
  private let number: CInt
  private var pipe: FileDescriptor?
  private var registration: Registration?
  /// Stored bytes of the line that has not ended yet.
  private var line: [UInt8] = []
  /// Number of dropped lines that were not reported yet.
  private var omitted: Int64 = 0
  /// Last lines, and how many of them, counted from the end, were dropped.
  private var lastOutput: [[UInt8]] = []
  private var unreportedCount = 0
  /// Lines and bytes that may still be passed on in the present second.
  private var budget = (lines: linesInASecond, bytes: bytesInASecond)
  private var second = MonotonicTime(nanoseconds: 0)

  /// Takes ownership of the read end of a pipe and reads from it in the loop.
  init(_ pipe: consuming FileDescriptor, on loop: EventLoop) throws(SystemError) {
    try pipe.setNonBlocking(true)
    self.loop = loop
    number = pipe.rawValue
    self.pipe = consume pipe
    registration = try loop.register(fd: number, interest: .read) { [weak self] _ in
      self?.read(atMost: Self.maximumPerRead)
    }
  }

  deinit { if let registration { loop.deregister(registration) } }

  /// Reads the remaining output, passes on the last lines and closes the pipe, even if another process still has
  /// the write end open.
  func finish() {
    read(atMost: Self.maxBytesAtEnd)
    close()
  }

  /// Last lines as one text for a message, without control characters and shortened.
  var lastOutputText: String? {
    let lines = lastOutput.map { line in
      String(decoding: line.prefix(300), as: UTF8.self).unicodeScalars
        .map { Self.isShown($0) ? Character($0) : " " }
    }.map { String($0).split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
    return lines.isEmpty ? nil : lines.joined(separator: " | ")
  }

  /// True if a character may appear in a message.
  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
    default: true
    }
  }

  /// Reads up to this number of bytes, as long as the pipe contains any.
  private func read(atMost most: Int) {
    withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { piece in
      var done = 0
      while done < most {
        switch readOnce(into: piece) {
        case .bytes(let count):
          receive(UnsafeRawBufferPointer(rebasing: piece[..<count]))
          done += count
        case .wouldBlock: return
        case .endOfFile: return close()
        }
      }
    }
  }

  private func readOnce(into piece: UnsafeMutableRawBufferPointer) -> ReadResult {
    switch pipe {
    // If reading fails, the pipe counts as ended.
    case .some(let open): (try? open.read(into: piece)) ?? .endOfFile
    case .none: .endOfFile
    }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while let base = rest.baseAddress, let feed = memchr(base, 0x0a, rest.count) {
      let length = UnsafeRawPointer(feed) - base
      append(UnsafeRawBufferPointer(rebasing: rest[..<length]))
      endLine()
      rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
    }
    append(rest)
  }

  /// Appends bytes to the present line, up to the limit.
  private func append(_ bytes: UnsafeRawBufferPointer) {
    // One byte beyond the limit makes the log mark the line as shortened.
    line.append(contentsOf: bytes.prefix(Self.longestLine + 1 - line.count))
  }

  /// Passes on the finished line, or drops it if too much was passed on in this second.
  private func endLine() {
    defer { line.removeAll(keepingCapacity: true) }
    if lastOutput.count == Self.lastLines { lastOutput.removeFirst() }
    lastOutput.append(line)
    renewBudget()
    guard budget.lines > 0, budget.bytes >= line.count else {
      omitted += 1
      unreportedCount = min(unreportedCount + 1, lastOutput.count)
      return
    }
    if omitted > 0 { reportOmitted() }
    budget.lines -= 1
    budget.bytes -= line.count
    onLine(line)
  }

  /// Permits the full number of lines and bytes again after a second.
  private func renewBudget() {
    let now = SystemClock.monotonic()
    guard now.since(second) >= .seconds(1) else { return }
    (second, budget) = (now, (Self.linesInASecond, Self.bytesInASecond))
  }

  private func reportOmitted() {
    onOmitted(omitted)
    (omitted, unreportedCount) = (0, 0)
  }

  /// Closes the pipe after passing on what remains.
  private func close() {
    guard let registration else { return }
    loop.deregister(registration)
    self.registration = nil
    pipe = nil
    if !line.isEmpty { endLine() }
    guard omitted > 0 else { return }
    // The last lines contain the reason of an exit, so they are passed on in any case.
    let kept = lastOutput.suffix(unreportedCount)
    if omitted > Int64(kept.count) { onOmitted(omitted - Int64(kept.count)) }
    for line in kept { onLine(line) }
    (omitted, unreportedCount) = (0, 0)
  }
}
