// Reading end of one pipe of a command, and the retained part of its data.
// Invariant: memory use does not depend on the amount of data. A command that writes without end cannot block
// the loop, because each iteration reads a bounded amount. Errors: a pipe that cannot be read counts as ended.
// A failure to write the file is reported in the captured output, and the command continues.
import Posix

/// Reads one output stream of a command from its pipe, and retains its first and last bytes.
public final class OutputCapture {
  /// Numbers of bytes that are retained of a stream: from its start, from its end, and in a file.
  public struct Bounds: Sendable, Hashable {
    /// Maximum number of bytes kept from the start of the stream.
    public var first: Int
    /// Maximum number of bytes kept from the end of the stream.
    public var last: Int
    /// Path of a file that receives all data, up to ``fileLength``; nil for no file.
    public var file: String?
    /// Maximum size of the file in bytes.
    public var fileLength: Int64

    public init(first: Int = 32 << 10, last: Int = 32 << 10, file: String? = nil, fileLength: Int64 = .max) {
      (self.first, self.last, self.file, self.fileLength) = (first, last, file, fileLength)
    }
  }

  private static let pieceSize = 64 << 10
  /// Capacity to which an unprivileged process can enlarge a pipe by default. Reading this many bytes usually empties
  /// the pipe. `pipe(7)`
  private static let maximumPerRead = 1 << 20

  private let loop: EventLoop
  private var pipe: FileDescriptor?
  private let number: CInt
  private var registration: Registration?
  private var ends: HeadTailBuffer
  private let file: OutputFile?
  private let piece: UnsafeMutableRawBufferPointer

  /// Takes ownership of the reading end of a pipe. Nothing is read before ``startReading()``.
  public init(
    _ pipe: consuming FileDescriptor, keeping bounds: Bounds, on loop: EventLoop
  ) throws(SystemError) {
    try pipe.setNonBlocking(true)
    self.loop = loop
    ends = HeadTailBuffer(firstLimit: bounds.first, lastLimit: bounds.last)
    file = bounds.file.map { OutputFile(path: $0, bound: bounds.fileLength) }
    piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
    number = pipe.rawValue
    self.pipe = consume pipe
  }

  /// Makes the loop read the data from now on. Before this call, a process that writes more than the pipe holds
  /// blocks.
  public func startReading() throws(SystemError) {
    guard registration == nil, !isAtEnd else { return }
    registration = try loop.register(fd: number, interest: .read) { [weak self] _ in
      self?.read(atMost: 4 * Self.pieceSize, untilEmpty: false)
    }
  }

  deinit {
    if let registration { loop.deregister(registration) }
    piece.deallocate()
  }

  /// True if no more data can be read: every writer has closed its end, reading has failed, or ``finish()``
  /// was called.
  public var isAtEnd: Bool {
    switch pipe {
    case .some: false
    case .none: true
    }
  }

  /// The data captured so far.
  public var captured: CapturedOutput {
    CapturedOutput(
      first: ends.first, last: ends.last, length: ends.length, fileLength: file?.length ?? 0,
      fileFailure: file?.failure)
  }

  /// Reads the available data without waiting, and the end of file if every writer has closed its end.
  public func readAvailable() { read(atMost: Self.maximumPerRead, untilEmpty: true) }

  /// Reads the available data and closes the pipe, even if other processes hold the writing end.
  public func finish() {
    readAvailable()
    close()
  }

  /// Reads until this many bytes are read, or until a short read unless `untilEmpty` is true.
  private func read(atMost most: Int, untilEmpty: Bool) {
    var done = 0
    while done < most, !isAtEnd {
      switch readOnce() {
      case .bytes(let count):
        let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
        ends.append(bytes)
        file?.append(bytes)
        done += count
        // A short read has emptied the pipe. The loop reports later data or the end of file.
        if count < piece.count && !untilEmpty { return }
      case .wouldBlock: return
      case .endOfFile: return close()
      }
    }
  }

  private func readOnce() -> ReadResult {
    switch pipe {
    // If reading from the pipe fails, the pipe counts as ended.
    case .some(let open): (try? open.read(into: piece)) ?? .endOfFile
    case .none: .endOfFile
    }
  }

  private func close() {
    if let registration { loop.deregister(registration) }
    registration = nil
    pipe = nil
    file?.close()
  }
}
