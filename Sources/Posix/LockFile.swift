// Owns the lock that keeps two processes off one thing: a file that is locked for as long as its holder
// lives.
// It must not know what is protected.
// Invariant: the kernel releases the lock when the holder ends, however it ends, so a lock is never stale.
// The file itself is never unlinked: removing it would let two processes lock two files of the same name.
// Failure: SystemError; a lock that somebody else holds is an outcome.
import CLinux
import Glibc

/// A held lock, released when the value ends. `flock(2)`
public struct LockFile: ~Copyable {
  private let descriptor: FileDescriptor

  /// What trying to take a lock came to.
  public enum Outcome: ~Copyable {
    /// It is ours.
    case acquired(LockFile)
    /// Another process has it; its pid where the file tells.
    case heldBy(pid: pid_t?)
  }

  /// Takes the lock if it is free, and writes the own pid into the file for others to read. Never waits.
  ///
  /// The lock belongs to the open file, is not passed on to spawned children, and conflicts also within one
  /// process.
  /// - Throws: ELOOP where the path is a symbolic link, ENOENT where its directory is missing, and so on.
  public static func acquire(path: String) throws(SystemError) -> Outcome {
    let descriptor = try FileDescriptor.open(path, [.readWrite, .create, .noFollow], mode: 0o600)
    let number = descriptor.rawValue
    do throws(SystemError) {
      try systemCall("flock", on: path) { flock(number, LOCK_EX | LOCK_NB) }
    } catch {
      guard error.code == EWOULDBLOCK else { throw error }
      return .heldBy(pid: holder(in: descriptor))
    }
    try write(pid: getpid(), to: descriptor)
    return .acquired(LockFile(descriptor: descriptor))
  }

  /// Releases the lock now; the same as letting the value end.
  public consuming func release() {}

  private init(descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  private static func write(pid: pid_t, to descriptor: borrowing FileDescriptor) throws(SystemError) {
    try descriptor.truncate(to: 0)
    try descriptor.writeAll(Array("\(pid)\n".utf8))
  }

  /// The pid in the file, if the holder has written it by now. It is a help for a person, not a proof.
  private static func holder(in descriptor: borrowing FileDescriptor) -> pid_t? {
    guard let bytes = try? descriptor.readAll(limit: 64) else { return nil }
    return pid_t(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
