// Words of 64 bits in a file, as memory of this process: a word that was written is there for the next process that maps the file,
// however this one ends. No call of the kernel is made for it, and no disk is waited for: a machine that loses its power keeps
// any of them.
// A page of a file can be taken away (the file is cut, the disk is full), and a process that touches it gets SIGBUS. The words are worth
// less than the process: such a page is empty memory from then on.
// Invariant: the words stay usable, whatever happens to the file; a fault anywhere else ends the process as ever.
// Failure: SystemError where the file cannot be made, or has no room.

import Glibc
import Posix

/// A file of words in memory. There is one of it in a process. `mmap(2)`
final class MappedWords {
  /// The words. They are valid for as long as this object is held.
  let words: UnsafeMutableBufferPointer<UInt64>
  private let base: UnsafeMutableRawPointer
  private let bytes: Int

  /// Maps a file, which is made or brought to this length where it has another one.
  ///
  /// - Parameter count: words, at least 1.
  /// - Throws: EBUSY for a second one in this process; what `open(2)`, `posix_fallocate(3)` and `mmap(2)` say.
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
    guarded = Guarded(first: first, end: first + UInt(bytes), page: UInt(sysconf(CInt(_SC_PAGESIZE))))
    Self.survive()
  }

  deinit {
    guarded.first = 0
    guarded.end = 0
    munmap(base, bytes)
  }

  /// Continues in another file at this path, with the words as they are: the former file has lost its name.
  ///
  /// - Throws: what `open(2)`, `posix_fallocate(3)`, `pwrite(2)` and `mmap(2)` say; the words stay usable.
  func move(to path: String) throws(SystemError) {
    let file = try Self.file(at: path, bytes: bytes)
    // Copied here and not by the kernel, for which a page that was taken away is an error: here it is empty memory.
    try file.writeAll([UInt8](UnsafeRawBufferPointer(start: base, count: bytes)))
    guard mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.rawValue, 0) != MAP_FAILED
    else {
      throw SystemError(call: "mmap", subject: path, code: errno)
    }
  }

  /// A file of this length. Every page has its place on the disk before it is touched.
  private static func file(at path: String, bytes: Int) throws(SystemError) -> FileDescriptor {
    let file = try FileDescriptor.open(path, [.readWrite, .create, .noFollow, .nonBlocking], mode: 0o600)
    guard try file.facts().isFile else { throw SystemError(call: "open", subject: path, code: EINVAL) }
    let missing = posix_fallocate(file.rawValue, 0, off_t(bytes))
    guard missing == 0 else { throw SystemError(call: "posix_fallocate", subject: path, code: missing) }
    guard ftruncate(file.rawValue, off_t(bytes)) == 0 else {
      throw SystemError(call: "ftruncate", subject: path, code: errno)
    }
    return file
  }

  private static func survive() {
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { signal, info, _ in
      let place = UInt(bitPattern: info?.pointee._sifields._sigfault.si_addr)
      if guarded.first <= place, place < guarded.end {
        let page = UnsafeMutableRawPointer(bitPattern: place & ~(guarded.page - 1))
        let fresh = mmap(
          page, Int(guarded.page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
        if fresh != MAP_FAILED { return }
      }
      // The same instruction faults again, and ends the process.
      var standard = sigaction()
      standard.__sigaction_handler.sa_handler = SIG_DFL
      sigaction(signal, &standard, nil)
    }
    action.sa_flags = SA_SIGINFO
    sigaction(SIGBUS, &action, nil)
  }
}

private struct Guarded {
  var first: UInt = 0
  var end: UInt = 0
  var page: UInt = 4_096
}

/// Read by the handler, and written where there is no mapping yet or any more.
private nonisolated(unsafe) var guarded = Guarded()
