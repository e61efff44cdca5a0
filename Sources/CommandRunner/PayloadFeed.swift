// Owns the writing end of a command's standard input, and what is still to be written.
// Invariant: the end comes after the last byte and never before, for as long as this process lives; what the pipe takes as a
// whole is there before the command begins, whatever becomes of this process. A command that reads nothing holds nobody up.
// Failure: none that matters: a command need not read its payload, so a reader that is gone ends the feed.
import Posix

/// Writes a payload into a pipe as its reader takes it, and closes it.
final class PayloadFeed {
  private let loop: EventLoop
  private var pipe: FileDescriptor?
  private var payload: [UInt8]
  private var written = 0
  private var registration: Registration?

  /// Writes what the pipe takes at once, and leaves the rest to the loop, which is nothing where pipes may be as wide as a
  /// payload is long.
  ///
  /// To be made before the command is started: where this process is killed while it still writes, the command reads an end
  /// in the middle of its payload, and the kernel kills it only a moment later.
  ///
  /// This process ignores SIGPIPE. See `ProcessStart.prepare(as:)`
  init(_ payload: [UInt8], into pipe: consuming FileDescriptor, on loop: EventLoop) throws(SystemError) {
    self.loop = loop
    self.payload = payload
    let number = pipe.rawValue
    if !payload.isEmpty { try pipe.setNonBlocking(true) }
    // Where it may not be so wide it is fed piece by piece.
    if payload.count > DescriptorPair.pipeCapacity { try? pipe.widenPipe(to: payload.count) }
    self.pipe = consume pipe
    write()
    if !isDone {
      registration = try loop.register(fd: number, interest: .write) { [weak self] _ in self?.write() }
    }
  }

  deinit { close() }

  /// Whether everything was taken, or nobody takes it any more.
  var isDone: Bool {
    switch pipe {
    case .some: false
    case .none: true
    }
  }

  /// Gives up what was not taken.
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
        // A pipe of ours that cannot be written to has no reader.
        (try? open.write(UnsafeRawBufferPointer(rebasing: bytes[written...]))) ?? .peerClosed
      }
    case .none: .peerClosed
    }
  }
}
