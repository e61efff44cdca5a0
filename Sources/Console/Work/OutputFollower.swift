// Owns the reading of what a command writes, while it runs and afterwards: from its file, as long as there is one, and else
// from what was kept with the receipt.
// Invariant: a byte is passed on once; of an attempt that is begun anew everything, after what was said of the one before.
// Failure: a file that cannot be read is one that is not there.

import BankModel
import Glibc
import Posix

final class OutputFollower {
  private let path: String
  private let sink: (ArraySlice<UInt8>) throws(CommandError) -> Void
  /// Told before the first byte of a later attempt.
  private let onNewAttempt: () -> Void
  private var file: (number: CInt, identity: FileFacts.Identity)?
  /// Bytes of the present attempt that were passed on.
  private(set) var count: Int64 = 0

  init(
    _ path: String, onNewAttempt: @escaping () -> Void = {},
    to sink: @escaping (ArraySlice<UInt8>) throws(CommandError) -> Void
  ) {
    (self.path, self.sink, self.onNewAttempt) = (path, sink, onNewAttempt)
  }

  deinit { close() }

  /// Passes on whatever has come since it was asked last.
  func pump() throws(CommandError) {
    try readOn()
    // A new attempt writes a new file.
    guard let facts = try? FileFacts.inspect(path), facts.isFile, facts.identity != file?.identity else {
      return
    }
    guard let fresh = try? FileDescriptor.open(path, .readOnly) else { return }
    if file != nil {
      close()
      if count > 0 { onNewAttempt() }
    }
    count = 0
    file = (fresh.take(), facts.identity)
    try readOn()
  }

  /// Passes on the rest of it, of a command that is over.
  /// - Parameter kept: What was kept with the receipt; nil where there is none.
  /// - Returns: how many bytes of it nobody has kept.
  func finish(_ kept: Excerpt?) throws(CommandError) -> Int64 {
    try pump()
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

  private func readOn() throws(CommandError) {
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
