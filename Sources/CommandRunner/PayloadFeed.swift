// Writing end of a command's standard input, and the part that is still to be written.
// Invariant: the end of file comes only after the last byte, for as long as this process runs. A payload that
// fits into the pipe is there completely before the command starts, even if this process is killed. A command
// that reads nothing blocks nothing. Errors: none that matter: a command need not read its payload, so a
// closed reader ends the feed.
import Posix

/// Writes a payload into a pipe as its reader reads it, and closes it.
final class PayloadFeed {
  private let loop: EventLoop
  private var pipe: FileDescriptor?
  private var payload: [UInt8]
  private var written = 0
  private var registration: Registration?

  /// Writes as much as fits into the pipe and leaves the rest to the loop. There is no rest if the pipe may
  /// be as large as the payload.
  ///
  /// Make it before the command is started. If this process is killed while it is still writing, the command
  /// reads an end of file in the middle of its payload, and the kernel kills it only a moment later.
  ///
  /// This process ignores SIGPIPE. See `ProcessStart.prepare(as:)`
  init(_ payload: [UInt8], into pipe: consuming FileDescriptor, on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    self.payload = payload
    let number = pipe.rawValue
    if !payload.isEmpty { try pipe.setNonBlocking(true) }
    // If the pipe may not grow that much, the loop writes the payload piece by piece.
    if payload.count > DescriptorPair.pipeCapacity { try? pipe.widenPipe(to: payload.count) }
    self.pipe = consume pipe
    write()
    if !isDone {
      registration = try loop.register(fd: number, interest: .write) { [weak self] _ in self?.write() }
    }
  }

  deinit { close() }

  /// True if everything was written, or the reader has closed.
  var isDone: Bool {
    switch pipe {
    case .some: false
    case .none: true
    }
  }

  /// Discards the part that was not written.
  func close() {
    if let registration { loop.deregister(registration) }
    registration = nil
    pipe = nil
    payload = []
  }

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
        // A failing write to our own pipe means that it has no reader.
        (try? open.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))) ?? .peerClosed
      }
    case .none: .peerClosed
    }
  }
}
