// Owns noticing that whoever read standard output has left, for commands that may have nothing to write for a long time.
// Invariant: standard output that is a file never counts as left.
// Failure: none; what cannot be watched is noticed with the next write.
import Posix

final class ReaderWatch {
  private let loop: EventLoop
  private var registration: Registration?
  private(set) var isGone = false

  init(on loop: EventLoop) {
    self.loop = loop
    // A pipe without a reader is an error unasked. A file cannot be waited for, and does not go away either.
    registration = try? loop.register(fd: StandardStreams.Stream.output.fd, interest: []) { [weak self] _ in
      self?.isGone = true
    }
  }

  deinit { if let registration { loop.deregister(registration) } }
}
