// Owns one open file of a worker's log: the present one, or one that was rotated away. Invariant: it is the
// same file for as long as it is open, whatever it is called by now, and its number on the disk is not given
// to another file as long. Failure: LogFailure.system.
import Glibc
import Posix

final class LogSegment {
  private let descriptor: FileDescriptor
  let identity: FileFacts.Identity
  /// The size when it was opened, in bytes.
  let sizeAtOpening: Int64
  private(set) var bytesRead: Int64 = 0

  /// Opens a log file; nil where there is none of this name, or something that is no file.
  static func open(_ path: String) throws(LogFailure) -> LogSegment? {
    do throws(SystemError) {
      // Somebody may have put a pipe there: opening it must not wait for a writer.
      return try LogSegment(FileDescriptor.open(path, [.readOnly, .nonBlocking]))
    } catch {
      if error.isMissing { return nil }
      throw .system(error)
    }
  }

  private init?(_ descriptor: consuming FileDescriptor) throws(SystemError) {
    let facts = try descriptor.facts()
    guard facts.isFile else { return nil }
    identity = facts.identity
    sizeAtOpening = facts.size
    self.descriptor = descriptor
  }

  /// What a file that nobody writes to any more is known again by, after it was closed. Its number on the
  /// disk alone may have been given to another file.
  struct Fingerprint: Equatable {
    let identity: FileFacts.Identity
    let size: Int64
    let written: Int64
  }

  func fingerprint() throws(LogFailure) -> Fingerprint {
    try asLogFailure { () throws(SystemError) in
      Fingerprint(identity: identity, size: try descriptor.size(), written: try descriptor.lastWritten())
    }
  }

  func size() throws(LogFailure) -> Int64 {
    try asLogFailure { () throws(SystemError) in try descriptor.size() }
  }

  /// Reads at an offset; fewer bytes than there is room for mean the present end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(LogFailure) -> Int {
    let count = try asLogFailure { () throws(SystemError) in try descriptor.read(into: buffer, at: offset) }
    bytesRead += Int64(count)
    return count
  }

  /// Reads a range of the file, less where it has become shorter.
  func read(_ range: Range<Int64>) throws(LogFailure) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 1)
    defer { buffer.deallocate() }
    let count = try read(into: buffer, at: range.lowerBound)
    return Array(buffer[..<count])
  }
}
