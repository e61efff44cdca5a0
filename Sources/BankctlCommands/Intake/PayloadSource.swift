// Reader of the payload of `enqueue` from its options, and of the input of `run` from standard input.
// Invariant: reading stops at the first portion that exceeds the limit.
// Errors: a sentence with the option or the file, before any request is sent.
import Arguments
import BankModel
import ByteText
import Glibc
import Posix

/// Reads payloads from options, files and standard input.
enum PayloadSource {
  /// Payload of the customers; nil without the options.
  static func read(_ session: Session) throws(CommandError) -> [UInt8]? {
    if let text = session.invocation.text("payload") {
      let bytes = ByteText.bytes(of: text)
      guard bytes.count <= Limits.payloadLength else {
        throw tooLong(session.messages.payloadOption, session)
      }
      return bytes
    }
    guard let path = session.invocation.text("payload-file") else { return nil }
    let bytes: [UInt8]?
    do throws(SystemError) { bytes = try contents(of: path) } catch {
      throw .commandFailure(.unreadableFile, session.messages.unreadablePayload(path, error))
    }
    guard let bytes else { throw tooLong(session.messages.file(path), session) }
    return bytes
  }

  /// All of standard input, as the input of a command.
  static func standardInput(_ session: Session) throws(CommandError) -> [UInt8] {
    let bytes: [UInt8]?
    do throws(SystemError) { bytes = try contents(of: "-") } catch {
      throw .commandFailure(.unreadableFile, session.messages.unreadablePayload("-", error))
    }
    guard let bytes else { throw .usage(session.messages.inputTooLong) }
    return bytes
  }

  /// Error for a payload above the limit.
  private static func tooLong(_ place: String, _ session: Session) -> CommandError {
    .usage(session.messages.payloadTooLong(place))
  }

  /// Contents of a file; nil if they are longer than the limit of a payload.
  private static func contents(of path: String) throws(SystemError) -> [UInt8]? {
    path == "-"
      ? try contents(of: FileDescriptor(owning: STDIN_FILENO))
      : try contents(of: try FileDescriptor.open(path, .readOnly))
  }

  /// Reads a stream to its end; nil if it is longer than the limit of a payload.
  private static func contents(of stream: consuming FileDescriptor) throws(SystemError) -> [UInt8]? {
    var bytes: [UInt8] = []
    try stream.forEachPortion(of: 64 << 10) { portion throws(SystemError) in
      bytes.append(contentsOf: portion)
      return bytes.count <= Limits.payloadLength
    }
    return bytes.count <= Limits.payloadLength ? bytes : nil
  }
}
