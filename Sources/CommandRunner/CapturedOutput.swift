// Owns what is known of a stream once it was captured. Invariant: the first and the last bytes never overlap.
// These are values, and whoever stores them decides what to keep. Failure: none but the file's, which is told.
import Posix

/// What came from one stream of a command.
public struct CapturedOutput: Sendable, Hashable {
  /// The first bytes.
  public var first: [UInt8]
  /// The last of those that came after the first.
  public var last: [UInt8]
  /// How many there were in all.
  public var length: Int64
  /// How many of them, from the first on, are in the file.
  public var lengthOfFile: Int64
  /// Why the file is shorter than it could be; nil where it is not, or where there was to be none.
  public var fileFailure: SystemError?

  public init(
    first: [UInt8] = [], last: [UInt8] = [], length: Int64 = 0, lengthOfFile: Int64 = 0,
    fileFailure: SystemError? = nil
  ) {
    (self.first, self.last, self.length) = (first, last, length)
    (self.lengthOfFile, self.fileFailure) = (lengthOfFile, fileFailure)
  }

  /// How many bytes between the first and the last are in neither.
  public var omitted: Int64 { max(0, length - Int64(first.count) - Int64(last.count)) }
}
