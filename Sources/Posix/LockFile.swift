// Lock that excludes other processes: a file that is locked until the holder of the lock releases it or exits. A
// visitor is a process that excludes holders for a short time, for example while it inspects a closed bank. It also
// excludes other visitors, unless the file system is read-only.
// Invariant: the kernel releases the lock when the last holder exits, for any reason, so a lock is never stale.
// The file itself must not be unlinked: if it were, two processes could lock two files with the same name.
// Errors: SystemError; a lock held by another process is an outcome.
import CLinux
import Glibc
import Time

/// A held lock. It is released when the value is destroyed. `flock(2)`
public struct LockFile: ~Copyable {
  private let descriptor: FileDescriptor

  /// Result of an attempt to take a lock.
  public enum Outcome: ~Copyable {
    /// This process has the lock now.
    case acquired(LockFile)
    /// Another process holds the lock, or the lock that was to be joined belongs to another file. The pid is nil if it
    /// is unknown.
    case heldBy(pid: pid_t?)
    /// No process holds the lock, but a visitor excludes holders and other visitors.
    case underInspection
  }

  /// Takes the lock if it is free, and writes the pid of this process into the file for others to read. Waits
  /// at most `patience`, and only for inspections.
  ///
  /// The lock belongs to the open file description, so it also conflicts with a second lock of the same process.
  /// - Throws: errors of `open(2)`, such as ELOOP if the path is a symbolic link and ENOENT if its directory is
  ///   missing.
  public static func acquire(path: String, patience: TimeSpan = .zero) throws(SystemError) -> Outcome {
    let descriptor = try FileDescriptor.open(path, [.readWrite, .create, .noFollow], mode: 0o600)
    let number = descriptor.rawValue
    let deadline = SystemClock.monotonic() + patience
    while try !lock(number, LOCK_EX, path) {
      // A holder excludes shared locks, and visitors use shared locks. So if a shared lock succeeds, there is
      // no holder.
      guard try lock(number, LOCK_SH, path) else { return .heldBy(pid: holder(in: descriptor)) }
      _ = uninterrupted { Kernel.lock(number, LOCK_UN) }
      guard SystemClock.monotonic() < deadline else { return .underInspection }
      _ = poll(nil, 0, 1)
    }
    recordHolder(pid: CurrentProcess.pid, in: descriptor)
    return .acquired(LockFile(descriptor: descriptor))
  }

  /// Takes the lock for an inspection, which excludes holders and other inspections, if it is free. On a read-only
  /// file system there may be several inspections. Creates a missing file, writes nothing into it and does not wait.
  public static func acquireForInspection(path: String) throws(SystemError) -> Outcome {
    var descriptor: FileDescriptor
    var isWritable = true
    do throws(SystemError) {
      descriptor = try FileDescriptor.open(path, [.readWrite, .create, .noFollow], mode: 0o600)
    } catch {
      guard error.code == EROFS else { throw error }
      isWritable = false
      descriptor = try openReadOnly(path)
    }
    let number = descriptor.rawValue
    guard try lock(number, LOCK_SH, path) else { return .heldBy(pid: holder(in: descriptor)) }
    // The lock between visitors needs a writable file. Visitors of a read-only file change nothing, so they
    // need not exclude each other.
    guard isWritable else { return .acquired(LockFile(descriptor: descriptor)) }
    do throws(SystemError) {
      // Visitors exclude each other by a lock of `fcntl(2)`, which holders do not use.
      try systemCall("fcntl", on: path) { linux_lock_exclusively(number) }
    } catch {
      guard error.code == EAGAIN || error.code == EACCES else { throw error }
      return .underInspection
    }
    return .acquired(LockFile(descriptor: descriptor))
  }

  /// Opens the lock file for an inspection on a read-only file system: a holder may have the same file mounted writable
  /// elsewhere. If the file is missing, the directory is locked instead, because the file cannot be created.
  private static func openReadOnly(_ path: String) throws(SystemError) -> FileDescriptor {
    do throws(SystemError) { return try FileDescriptor.open(path, [.readOnly, .noFollow]) } catch {
      guard error.code == ENOENT else { throw error }
      return try FileDescriptor.open(Paths.directory(of: path), [.readOnly, .directory])
    }
  }

  /// Tries to take a lock of this kind. Returns false if another open file description excludes it.
  private static func lock(_ number: CInt, _ kind: CInt, _ path: String) throws(SystemError) -> Bool {
    if uninterrupted({ Kernel.lock(number, kind | LOCK_NB) }) == 0 { return true }
    guard errno == EWOULDBLOCK else { throw SystemError(call: "flock", subject: path, code: errno) }
    return false
  }

  /// Joins a lock that another process shares: `inherited` is a descriptor from its ``share()``. With `isHolder`, the
  /// pid in the file becomes that of this process.
  ///
  /// - Returns: `heldBy` if the descriptor does not belong to the file that has this path now, or if another
  ///   open file description has the lock. If the lock is free, it is taken.
  public static func join(
    _ inherited: consuming FileDescriptor, path: String, isHolder: Bool = true
  ) throws(SystemError) -> Outcome {
    let number = inherited.rawValue
    guard LockFile(descriptor: try inherited.duplicate()).isAt(path: path) else { return .heldBy(pid: nil) }
    // The call has no effect if this open file description has the lock already.
    guard try lock(number, LOCK_EX, path) else { return .heldBy(pid: holder(in: inherited)) }
    if isHolder { recordHolder(pid: CurrentProcess.pid, in: inherited) }
    return .acquired(LockFile(descriptor: inherited))
  }

  /// Returns a descriptor with which a child joins the lock. The lock stays held until all descriptors
  /// that share it are closed, or a process unlocks it.
  public borrowing func share() throws(SystemError) -> FileDescriptor { try descriptor.duplicate() }

  /// True if the file that has this path now is the locked one; false if the locked file was removed or renamed,
  /// or if the path cannot be examined.
  public borrowing func isAt(path: String) -> Bool {
    guard let own = try? descriptor.metadata(), let named = try? FileMetadata.inspect(path) else {
      return false
    }
    return named.identity == own.identity
  }

  /// Closes the descriptor of this value, as its destruction does. The lock is free if no other descriptor shares it.
  public consuming func release() {}

  /// Frees the lock now, also for all processes that share it.
  public consuming func unlock() {
    // The call fails only for an invalid descriptor.
    _ = uninterrupted { Kernel.lock(descriptor.rawValue, LOCK_UN) }
  }

  private init(descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Writes the holder's pid into the file, as a hint for people. On a full disk the pid is missing.
  private static func recordHolder(pid: pid_t, in descriptor: borrowing FileDescriptor) {
    try? descriptor.truncate(to: 0)
    // Write at an offset, because all processes that share an open file description also share its position.
    Array("\(pid)\n".utf8).withUnsafeBytes { bytes in _ = try? descriptor.write(bytes, at: 0) }
  }

  /// The pid in the file, if the holder has written it already. It is a hint for people.
  private static func holder(in descriptor: borrowing FileDescriptor) -> pid_t? {
    guard let bytes = try? descriptor.readAll(limit: 64) else { return nil }
    return pid_t(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
