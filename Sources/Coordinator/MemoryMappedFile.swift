// Array of 64-bit words in a file mapped into memory. A written word is available to the next process that maps the
// file, after any kind of exit of this one. A write needs no system call. After a power failure any subset of the words
// may have been stored.
// A page of the file can become unavailable (the file was truncated, the disk is full), and an access then raises
// SIGBUS. The process matters more than the words, so the handler of the signal replaces this page by zeroed memory.
// The next process does not see what is written there.
// Invariant: after damage to the file the words stay usable, as long as the kernel has memory for zeroed pages. A fault
// at any other address ends the process as usual.
// Errors: SystemError if the file cannot be opened, extended to its length or mapped.

import Glibc
import Posix

/// Array of 64-bit words in a file that is mapped into memory. At most one exists per process. See `mmap(2)`.
final class MemoryMappedFile {
  /// Valid while this object is retained.
  let words: UnsafeMutableBufferPointer<UInt64>
  private let base: UnsafeMutableRawPointer
  private let bytes: Int

  /// Maps a file, which is created or resized to this length if necessary.
  ///
  /// - Parameter count: Number of words, at least 1.
  /// - Throws: EBUSY for a second instance in this process; EINVAL if the path is not a regular file; errors of
  ///   `open(2)`, `fstat(2)`, `posix_fallocate(3)`, `ftruncate(2)` and `mmap(2)`.
  init(path: String, count: Int) throws(SystemError) {
    precondition(count > 0, "there is at least one word")
    bytes = count * MemoryLayout<UInt64>.stride
    let file = try Self.file(at: path, bytes: bytes)
    guard guarded.first == 0 else { throw SystemError(call: "mmap", subject: path, code: EBUSY) }
    let mapped = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0)
    guard let mapped, mapped != MAP_FAILED else {
      throw SystemError(call: "mmap", subject: path, code: errno)
    }
    base = mapped
    words = UnsafeMutableBufferPointer(
      start: mapped.bindMemory(to: UInt64.self, capacity: count), count: count)
    let first = UInt(bitPattern: mapped)
    guarded = GuardedRange(first: first, end: first + UInt(bytes), page: UInt(sysconf(CInt(_SC_PAGESIZE))))
    Self.installSIGBUSHandler()
  }

  deinit {
    guarded.first = 0
    guarded.end = 0
    munmap(base, bytes)
  }

  /// Moves the words to the file at this path, which is created if it is missing.
  ///
  /// - Throws: Errors of the initializer other than EBUSY, and errors of writing the file. The words stay usable,
  ///   unless the error is of `mmap(2)`.
  func move(to path: String) throws(SystemError) {
    let file = try Self.file(at: path, bytes: bytes)
    // The words are copied in user space first: a system call would fail on an unavailable page, which the
    // signal handler replaces by zeroed memory.
    try file.writeAll([UInt8](UnsafeRawBufferPointer(start: base, count: bytes)))
    guard mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.rawValue, 0) != MAP_FAILED
    else {
      throw SystemError(call: "mmap", subject: path, code: errno)
    }
  }

  /// Opens or creates the file with this length. All its disk space is allocated before its memory is accessed.
  private static func file(at path: String, bytes: Int) throws(SystemError) -> FileDescriptor {
    let file = try FileDescriptor.open(path, [.readWrite, .create, .noFollow, .nonBlocking], mode: 0o600)
    guard try file.metadata().isFile else { throw SystemError(call: "open", subject: path, code: EINVAL) }
    let missing = posix_fallocate(file.rawValue, 0, off_t(bytes))
    guard missing == 0 else { throw SystemError(call: "posix_fallocate", subject: path, code: missing) }
    guard ftruncate(file.rawValue, off_t(bytes)) == 0 else {
      throw SystemError(call: "ftruncate", subject: path, code: errno)
    }
    return file
  }

  /// Handles SIGBUS: replaces an unavailable page of the words by zeroed memory.
  private static func installSIGBUSHandler() {
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { signal, info, _ in
      let place = UInt(bitPattern: info?.pointee._sifields._sigfault.si_addr)
      if guarded.first <= place, place < guarded.end {
        let page = UnsafeMutableRawPointer(bitPattern: place & ~(guarded.page - 1))
        let fresh = mmap(
          page, Int(guarded.page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
        if fresh != MAP_FAILED { return }
      }
      // With the default action the repeated fault ends the process.
      var standard = sigaction()
      standard.__sigaction_handler.sa_handler = SIG_DFL
      sigaction(signal, &standard, nil)
    }
    action.sa_flags = SA_SIGINFO
    sigaction(SIGBUS, &action, nil)
  }
}

/// Addresses of the mapped words, in which the handler of SIGBUS replaces unavailable pages.
private struct GuardedRange {
  var first: UInt = 0
  var end: UInt = 0
  var page: UInt = 4_096
}

/// Range of the mapped words, for the signal handler. Written only while no word is accessed.
private nonisolated(unsafe) var guarded = GuardedRange()
