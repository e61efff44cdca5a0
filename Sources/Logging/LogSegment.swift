// One open file of a log, present or rotated.
// Invariant: the descriptor refers to the same file also after a rename, and the inode number is not reused while the
// file is open.
// Errors: `LogFailure.system`.
import Glibc
import Posix

/// One open file of a log.
final class LogSegment {
  private let descriptor: FileDescriptor
  let identity: FileMetadata.Identity
  /// Size at opening, in bytes.
  let sizeAtOpening: Int64
  /// Number of bytes read from the file so far.
  private(set) var bytesRead: Int64 = 0

  /// Opens a log file; nil if it is missing or not a regular file.
  static func open(_ path: String) throws(LogFailure) -> LogSegment? {
    do throws(SystemError) {
      // If a pipe has this name, `open` must not block until the pipe has a writer.
      return try LogSegment(FileDescriptor.open(path, [.readOnly, .nonBlocking]))
    } catch {
      if error.isMissing { return nil }
      throw .system(error)
    }
  }

  /// Uses an open file; nil if it is not a regular file.
  private init?(_ descriptor: consuming FileDescriptor) throws(SystemError) {
    let facts = try descriptor.metadata()
    guard facts.isFile else { return nil }
    identity = facts.identity
    sizeAtOpening = facts.size
    self.descriptor = descriptor
  }

  /// Identifies a finished file after it was closed. The inode number alone is not enough, because it may have been
  /// reused.
  struct Fingerprint: Equatable {
    let identity: FileMetadata.Identity
    let size: Int64
    /// Time of the last write, in nanoseconds since 1970.
    let written: Int64
  }

  /// Fingerprint of the file in its present state.
  func fingerprint() throws(LogFailure) -> Fingerprint {
    try asLogFailure { () throws(SystemError) in
      Fingerprint(identity: identity, size: try descriptor.size(), written: try descriptor.modificationTime())
    }
  }

  func size() throws(LogFailure) -> Int64 {
    try asLogFailure { () throws(SystemError) in try descriptor.size() }
  }

  /// Reads at an offset. Returns fewer bytes than the size of the buffer at the present end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(LogFailure) -> Int {
    let count = try asLogFailure { () throws(SystemError) in try descriptor.read(into: buffer, at: offset) }
    bytesRead += Int64(count)
    return count
  }

  /// Reads a range of the file. Returns fewer bytes if the file has become shorter.
  func read(_ range: Range<Int64>) throws(LogFailure) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 1)
    defer { buffer.deallocate() }
    let count = try read(into: buffer, at: range.lowerBound)
    return Array(buffer[..<count])
  }
}
