// Reader of a command's output, during and after its run: from the output file while that exists, otherwise
// from the excerpt in the receipt.
// Invariant: no byte of an attempt is passed on twice. After a restart of the command the output of the new attempt
// follows from its start.
// Errors: an unreadable file counts as missing.

import BankModel
import Glibc
import Posix

/// Passes on the bytes of one output file as they are written.
final class OutputFollower {
  private let path: String
  private let sink: (ArraySlice<UInt8>) throws(CommandError) -> Void
  /// Called before the output of a later attempt if bytes of an earlier one were passed on.
  private let onNewAttempt: () -> Void
  private var file: (number: CInt, identity: FileMetadata.Identity)?
  /// Bytes of the present attempt that were passed on.
  private(set) var count: Int64 = 0

  init(
    _ path: String, onNewAttempt: @escaping () -> Void = {},
    to sink: @escaping (ArraySlice<UInt8>) throws(CommandError) -> Void
  ) {
    (self.path, self.sink, self.onNewAttempt) = (path, sink, onNewAttempt)
  }

  deinit { close() }

  /// Passes on the bytes written since the last call.
  func forwardNew() throws(CommandError) {
    try readAvailable()
    // A new attempt writes a new file.
    guard let facts = try? FileMetadata.inspect(path), facts.isFile, facts.identity != file?.identity else {
      return
    }
    guard let fresh = try? FileDescriptor.open(path, .readOnly) else { return }
    if file != nil {
      close()
      if count > 0 { onNewAttempt() }
    }
    count = 0
    file = (fresh.take(), facts.identity)
    try readAvailable()
  }

  /// Passes on the remaining output of an ended command; `kept` is the excerpt in its receipt. Returns the number of
  /// bytes that are missing, because they were not stored or their file is gone.
  func finish(_ kept: TruncatedOutput?) throws(CommandError) -> Int64 {
    try forwardNew()
    guard let kept else { return 0 }
    if count == 0 {
      try sink(kept.bytes[...])
      return kept.length - Int64(kept.bytes.count)
    }
    if !kept.isCut, count < kept.length {
      try sink(kept.bytes[Int(count)...])
      return 0
    }
    return max(0, kept.length - count)
  }

  /// Passes on the bytes between the last read and the present end of the open file.
  private func readAvailable() throws(CommandError) {
    guard let file else { return }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let got = bytes.withUnsafeMutableBytes { Glibc.read(file.number, $0.baseAddress, $0.count) }
      guard got > 0 else { return }
      count += Int64(got)
      try sink(bytes[..<got])
    }
  }

  private func close() {
    if let file { _ = FileDescriptor(owning: file.number) }
    file = nil
  }
}
