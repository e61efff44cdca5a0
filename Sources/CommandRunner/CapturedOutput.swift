// Captured output of one stream, as values.
// Invariant: `first` and `last` do not overlap. Errors: those of the output file, in ``CapturedOutput/fileFailure``.
import Posix

/// Captured output of one stream of a command.
public struct CapturedOutput: Sendable, Hashable {
  /// The first bytes of the stream.
  public var first: [UInt8]
  /// The last of the bytes that follow `first`.
  public var last: [UInt8]
  /// Length of the whole stream in bytes.
  public var length: Int64
  /// Length of the file in bytes. The file contains the start of the stream.
  public var fileLength: Int64
  /// Error because of which the file is shorter than its limit allows; nil if there was none, or if no file was
  /// requested.
  public var fileFailure: SystemError?

  public init(
    first: [UInt8] = [], last: [UInt8] = [], length: Int64 = 0, fileLength: Int64 = 0,
    fileFailure: SystemError? = nil
  ) {
    (self.first, self.last, self.length) = (first, last, length)
    (self.fileLength, self.fileFailure) = (fileLength, fileFailure)
  }

  /// Bytes between `first` and `last` that are in neither.
  public var omitted: Int64 { max(0, length - Int64(first.count) - Int64(last.count)) }
}
