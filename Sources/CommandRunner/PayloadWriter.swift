// Writing end of a command's standard input, and the part of the payload that is not written yet.
// Invariant: as long as this process runs and ``close()`` is not called, the command reads the end of file
// only after the last byte. A payload that fits into the pipe is written completely before the command
// starts, so the command receives it even if this process is killed. A command that does not read its input
// does not block this process. Errors: if the command closes its standard input, the rest of the payload is dropped
// without an error, because a command need not read its payload.
import Posix

/// Writes a payload into a pipe as fast as the command reads it, and then closes the pipe.
final class PayloadWriter {
  private let loop: EventLoop
  private var pipe: FileDescriptor?
  private var payload: [UInt8]
  /// Number of bytes that are in the pipe or were read by the command.
  private var written = 0
  private var registration: Registration?

  /// Writes as much as fits into the pipe. The loop writes the rest, if the pipe cannot be made as large as the
  /// payload.
  ///
  /// Create the writer before the command is started. If this process is killed while it is still writing, the
  /// command reads an end of file in the middle of its payload.
  ///
  /// This process must ignore SIGPIPE. See `ProcessStart.prepare(as:)`.
  init(_ payload: [UInt8], into pipe: consuming FileDescriptor, on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    self.payload = payload
    let number = pipe.rawValue
    if !payload.isEmpty { try pipe.setNonBlocking(true) }
    // If the kernel does not permit a pipe of this size, the loop writes the payload piece by piece.
    if payload.count > DescriptorPair.pipeCapacity { try? pipe.widenPipe(to: payload.count) }
    self.pipe = consume pipe
    write()
    if !isDone {
      registration = try loop.register(fd: number, interest: .write) { [weak self] _ in self?.write() }
    }
  }

  deinit { close() }

  /// True if everything was written, or the reader has closed its end.
  var isDone: Bool {
    switch pipe {
    case .some: false
    case .none: true
    }
  }

  func close() {
    if let registration { loop.deregister(registration) }
    registration = nil
    pipe = nil
    payload = []
  }

  /// Writes as much of the payload as the pipe accepts now, and closes the pipe after the last byte.
  private func write() {
    while written < payload.count {
      switch writeOnce() {
      case .bytes(let count): written += count
      case .wouldBlock: return
      case .peerClosed: return close()
      }
    }
    close()
  }

  private func writeOnce() -> WriteResult {
    switch pipe {
    case .some(let open):
      payload.withUnsafeBytes { bytes in
        // If writing to the pipe fails, the pipe counts as one without a reader.
        (try? open.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))) ?? .peerClosed
      }
    case .none: .peerClosed
    }
  }
}
