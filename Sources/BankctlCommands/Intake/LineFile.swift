// A text that is read line by line more than once; a stream is copied to an unnamed file first.
// Invariant: memory contains one portion and one line, independent of the length of the text.
// Errors: `SystemError`. A line above the limit is passed on as `tooLong` and not stored completely.
import BankModel
import Glibc
import Posix

/// Text that can be read line by line several times.
final class LineFile {
  /// One line without its line break, or the information that the line is too long.
  enum Line {
    case bytes(ArraySlice<UInt8>)
    case tooLong
  }

  /// Maximum line length in bytes: the longest payload with each byte as a six-character escape, and the
  /// other fields.
  static let limit = 6 * Limits.payloadLength + 64 << 10

  private static let portion = 1 << 20
  /// U+FEFF in UTF-8.
  fileprivate static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private let file: FileDescriptor

  /// Opens a file. Standard input (`-`) and other streams are copied.
  init(path: String) throws(SystemError) {
    if path == "-" {
      file = try Self.copyToFile(FileDescriptor(owning: STDIN_FILENO))
      return
    }
    let opened = try FileDescriptor.open(path, .readOnly)
    // A stream cannot be read twice.
    file = try FileMetadata.inspect(path)?.isFile == true ? opened : Self.copyToFile(opened)
  }

  /// Takes ownership of a seekable file.
  init(_ file: consuming FileDescriptor) { self.file = file }

  /// Copies a stream to an unnamed temporary file, at most until `InputPrecheck` shows that the input is refused.
  private static func copyToFile(_ stream: consuming FileDescriptor) throws(SystemError) -> FileDescriptor {
    let directory = Environment.value("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    let path = Paths.join(directory, "bankctl-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())")
    let file = try FileDescriptor.open(path, [.readWrite, .create, .exclusive])
    try Directory.unlink(path)
    var need = InputPrecheck()
    try stream.forEachPortion(of: portion) { portion throws(SystemError) in
      try file.writeAll(portion)
      return !need.isExceeded(by: portion)
    }
    return file
  }

  /// Passes the lines to `body`, with their numbers from 1.
  /// - Parameter failure: Returns the error to throw if the text cannot be read.
  func forEachLine<Failure: Error>(
    refusing failure: (SystemError) -> Failure, _ body: (Int64, Line) throws(Failure) -> Void
  ) throws(Failure) {
    var cutter = LineSplitter(limit: Self.limit)
    var offset: Int64 = 0
    var portion = [UInt8](repeating: 0, count: Self.portion)
    while true {
      let count: Int
      do throws(SystemError) { count = try read(&portion, at: offset) } catch { throw failure(error) }
      // Some editors write a byte order mark at the start of a text.
      let begin = offset == 0 && portion[..<count].starts(with: Self.mark) ? Self.mark.count : 0
      offset += Int64(count)
      if count == 0 { return try cutter.finish(body) }
      try cutter.consume(portion[begin..<count], body)
    }
  }

  /// Reads bytes from an offset. Returns their number; 0 at the end.
  private func read(_ portion: inout [UInt8], at offset: Int64) throws(SystemError) -> Int {
    var outcome: Result<Int, SystemError> = .success(0)
    portion.withUnsafeMutableBytes { buffer in
      do throws(SystemError) { outcome = .success(try file.read(into: buffer, at: offset)) } catch {
        outcome = .failure(error)
      }
    }
    return try outcome.get()
  }
}

extension FileDescriptor {
  /// Passes input of a stream to `body`, at most `most` bytes at a time, until `body` returns false or the
  /// stream ends. Waits for a stream that is in non-blocking mode, which another process may have set.
  borrowing func forEachPortion(
    of most: Int, _ body: (UnsafeRawBufferPointer) throws(SystemError) -> Bool
  ) throws(SystemError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      switch try read(into: buffer) {
      case .bytes(let count):
        guard try body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
      case .wouldBlock: Pause.briefly()
      case .endOfFile: return
      }
    }
  }
}

/// Detects early that the input will be refused, so that the input need not be stored completely. A stream may be
/// endless.
struct InputPrecheck {
  private var lineLength = 0
  private var isObject = false
  private var customers: Int64 = 0

  /// True if a line is too long or there are too many customers in the input up to this portion. Later input cannot
  /// change this result.
  mutating func isExceeded(by portion: UnsafeRawBufferPointer) -> Bool {
    guard var place = portion.baseAddress else { return false }
    let end = place + portion.count
    while place < end {
      if lineLength == 0 { isObject = place.load(as: UInt8.self) == UInt8(ascii: "{") }
      let newline = memchr(place, CInt(UInt8(ascii: "\n")), end - place).map { UnsafeRawPointer($0) }
      lineLength += (newline ?? end) - place
      if lineLength > LineFile.limit { return true }
      guard let newline else { return false }
      // A line that starts with white space may be blank, so it is not counted.
      if isObject { customers += 1 }
      if customers > Limits.customersPerCommand { return true }
      (lineLength, isObject) = (0, false)
      place = newline + 1
    }
    return false
  }
}

/// Divides portions of a text into numbered lines.
struct LineSplitter {
  private let limit: Int
  private var number: Int64 = 0
  private var rest: [UInt8] = []
  private var isSkipping = false

  init(limit: Int) { self.limit = limit }

  /// Passes the lines that end in this portion to `body`, and keeps the rest.
  mutating func consume<Failure: Error>(
    _ portion: ArraySlice<UInt8>, _ body: (Int64, LineFile.Line) throws(Failure) -> Void
  ) throws(Failure) {
    var portion = portion
    while let newline = portion.firstIndex(of: UInt8(ascii: "\n")) {
      try complete(portion[..<newline], body)
      portion = portion[(newline + 1)...]
    }
    guard !isSkipping else { return }
    if rest.count + portion.count > limit {
      isSkipping = true
      rest = []
    } else {
      rest += portion
    }
  }

  /// Passes the last line to `body` if it does not end in a newline.
  mutating func finish<Failure: Error>(
    _ body: (Int64, LineFile.Line) throws(Failure) -> Void
  ) throws(Failure) {
    guard isSkipping || !rest.isEmpty else { return }
    try complete([], body)
  }

  /// Passes the kept rest and the given bytes to `body` as one line.
  private mutating func complete<Failure: Error>(
    _ end: ArraySlice<UInt8>, _ body: (Int64, LineFile.Line) throws(Failure) -> Void
  ) throws(Failure) {
    number += 1
    defer {
      rest.removeAll(keepingCapacity: true)
      isSkipping = false
    }
    if isSkipping || rest.count + end.count > limit { return try body(number, .tooLong) }
    if rest.isEmpty { return try body(number, .bytes(end)) }
    rest += end
    try body(number, .bytes(rest[...]))
  }
}
