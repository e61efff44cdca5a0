// Owns the reading end of one pipe of a command, and what is kept of what comes through it.
// Invariant: the memory that it takes does not depend on how much comes; the loop is never held up by a command that
// talks without end, because a turn reads only so much. Failure: a pipe that cannot be read has ended; a file that cannot
// be written says so in what was captured, and the command goes on.
import Posix

/// Takes what comes from one pipe.
public final class OutputCapture {
  /// What is kept.
  public struct Bounds: Sendable, Hashable {
    /// So many of the first bytes.
    public var first: Int
    /// So many of the last.
    public var last: Int
    /// Where everything goes, up to ``fileLength``; nil for nowhere.
    public var file: String?
    /// The most bytes that the file may have.
    public var fileLength: Int64

    public init(first: Int = 32 << 10, last: Int = 32 << 10, file: String? = nil, fileLength: Int64 = .max) {
      (self.first, self.last, self.file, self.fileLength) = (first, last, file, fileLength)
    }
  }

  private static let pieceSize = 64 << 10
  /// A pipe holds 64 KiB, and 1 MiB where its user has asked for more: so much is certainly all that is there.
  private static let mostInOneTurn = 1 << 20

  private let loop: EventLoop
  private var pipe: FileDescriptor?
  private let number: CInt
  private var registration: Registration?
  private var ends: OutputEnds
  private let file: OutputFile?
  private let piece: UnsafeMutableRawBufferPointer

  /// Takes over the reading end of a pipe. Nothing is read before ``attend()``.
  public init(
    _ pipe: consuming FileDescriptor, keeping bounds: Bounds, on loop: EventLoop
  ) throws(SystemError) {
    try pipe.setNonBlocking(true)
    self.loop = loop
    ends = OutputEnds(firstLimit: bounds.first, lastLimit: bounds.last)
    file = bounds.file.map { OutputFile(path: $0, bound: bounds.fileLength) }
    piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
    number = pipe.rawValue
    self.pipe = consume pipe
  }

  /// Has the loop read what comes, from now on. Until then a pipe takes 64 KiB, and whoever writes more waits.
  public func attend() throws(SystemError) {
    guard registration == nil, !isAtEnd else { return }
    registration = try loop.register(fd: number, interest: .read) { [weak self] _ in
      self?.read(atMost: 4 * Self.pieceSize, untilEmpty: false)
    }
  }

  deinit {
    if let registration { loop.deregister(registration) }
    piece.deallocate()
  }

  /// Whether nothing more can come: every writer has closed its end, or ``finish()`` was called.
  public var isAtEnd: Bool {
    switch pipe {
    case .some: false
    case .none: true
    }
  }

  /// What has come so far.
  public var captured: CapturedOutput {
    CapturedOutput(
      first: ends.first, last: ends.last, length: ends.length, lengthOfFile: file?.length ?? 0,
      fileFailure: file?.failure)
  }

  /// Reads what is there, without waiting, and the end where that is there.
  public func readWhatIsThere() { read(atMost: Self.mostInOneTurn, untilEmpty: true) }

  /// Reads what is there and closes the pipe, whoever still holds the other end.
  public func finish() {
    readWhatIsThere()
    close()
  }

  private func read(atMost most: Int, untilEmpty: Bool) {
    var done = 0
    while done < most, !isAtEnd {
      switch readOnce() {
      case .bytes(let count):
        let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
        ends.take(bytes)
        file?.append(bytes)
        done += count
        // A pipe that had less than there was room for was emptied: what has come since, or the end, is told by the loop.
        if count < piece.count && !untilEmpty { return }
      case .wouldBlock: return
      case .endOfFile: return close()
      }
    }
  }

  private func readOnce() -> ReadResult {
    switch pipe {
    // A pipe of ours that cannot be read has nothing more to say.
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
