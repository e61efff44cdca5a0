// Owns the memory into which sockets are read: one block for each thread, shared by all channels of its loop.
// It must not know channels. What was read is copied out before the thread reads again.
// Invariant: no two users at a time, because a thread reads one socket at a time and never from within a read.
// Failure: a process without memory for the block ends; nothing useful could follow.

import Glibc

/// The thread's block for reading.
///
/// Its pages cost memory only once they are written to, so a process with small messages pays for small reads.
enum ReadBuffer {
  /// Bytes that one read can bring.
  static let size = 64 << 10

  /// The block of the present thread.
  static var current: UnsafeMutableRawBufferPointer {
    if let block = pthread_getspecific(key) { return .init(start: block, count: size) }
    guard let block = malloc(size) else { preconditionFailure("there are \(size) bytes of memory") }
    let result = pthread_setspecific(key, block)
    precondition(result == 0, "a thread can keep a pointer")
    return .init(start: block, count: size)
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key) { free($0) }
    precondition(result == 0, "the process has a thread key left")
    return key
  }()
}
