// Owns the lock that keeps two processes off one thing: a file that is locked for as long as its holder lives. One that
// only visits keeps holders and other visitors off for a while, and whoever wants to hold the lock can tell.
// Invariant: the kernel releases the lock when the last holder ends, however it ends, so a lock is never stale.
// The file itself is never unlinked: removing it would let two processes lock two files of the same name.
// Failure: SystemError; a lock that somebody else holds is an outcome.
import CLinux
import Glibc
import Time

/// A held lock, released when the value ends. `flock(2)`
public struct LockFile: ~Copyable {
  private let descriptor: FileDescriptor

  /// What trying to take a lock came to.
  public enum Outcome: ~Copyable {
    case acquired(LockFile)
    /// Another process has it; its pid where the file tells.
    case heldBy(pid: pid_t?)
    /// Nobody holds it, but somebody visits.
    case visited
  }

  /// Takes the lock if nobody holds it, and writes the own pid into the file for others to read.
  ///
  /// The lock belongs to the open file, is not passed on to spawned children, and conflicts also within one
  /// process.
  /// - Parameter patience: how long visitors are waited for; a holder never is.
  /// - Throws: ELOOP where the path is a symbolic link, ENOENT where its directory is missing, and so on.
  public static func acquire(path: String, patience: TimeSpan = .zero) throws(SystemError) -> Outcome {
    let descriptor = try FileDescriptor.open(path, [.readWrite, .create, .noFollow], mode: 0o600)
    let number = descriptor.rawValue
    let deadline = SystemClock.monotonic() + patience
    while try !lock(number, LOCK_EX, path) {
      // A holder admits nobody, and visitors share: whoever gets the lock of a visitor knows that there is no holder.
      guard try lock(number, LOCK_SH, path) else { return .heldBy(pid: holder(in: descriptor)) }
      _ = uninterrupted { Kernel.lock(number, LOCK_UN) }
      guard SystemClock.monotonic() < deadline else { return .visited }
      _ = poll(nil, 0, 1)
    }
    note(pid: CurrentProcess.pid, in: descriptor)
    return .acquired(LockFile(descriptor: descriptor))
  }

  /// Keeps everybody off as the one visitor, if nobody holds the lock or visits. Writes nothing, never waits.
  public static func visit(path: String) throws(SystemError) -> Outcome {
    var descriptor: FileDescriptor
    var isWritable = true
    do throws(SystemError) {
      descriptor = try FileDescriptor.open(path, [.readWrite, .create, .noFollow], mode: 0o600)
    } catch {
      guard error.code == EROFS else { throw error }
      isWritable = false
      descriptor = try openWhereNobodyWrites(path)
    }
    let number = descriptor.rawValue
    guard try lock(number, LOCK_SH, path) else { return .heldBy(pid: holder(in: descriptor)) }
    // A lock of the other kind wants a file that can be written to. Visitors who change nothing do not disturb each other.
    guard isWritable else { return .acquired(LockFile(descriptor: descriptor)) }
    do throws(SystemError) {
      // Visitors keep each other off by a lock of another kind, of which holders know nothing.
      try systemCall("fcntl", on: path) { linux_lock_exclusively(number) }
    } catch {
      guard error.code == EAGAIN || error.code == EACCES else { throw error }
      return .visited
    }
    return .acquired(LockFile(descriptor: descriptor))
  }

  /// The lock file on a file system that cannot be written to: a holder may see it by another way. Where there is none its
  /// directory takes its place, because nobody can make one.
  private static func openWhereNobodyWrites(_ path: String) throws(SystemError) -> FileDescriptor {
    do throws(SystemError) { return try FileDescriptor.open(path, [.readOnly, .noFollow]) } catch {
      guard error.code == ENOENT else { throw error }
      return try FileDescriptor.open(Paths.directory(of: path), [.readOnly, .directory])
    }
  }

  /// Takes a lock of this kind unless somebody else keeps it off.
  private static func lock(_ number: CInt, _ kind: CInt, _ path: String) throws(SystemError) -> Bool {
    if uninterrupted({ Kernel.lock(number, kind | LOCK_NB) }) == 0 { return true }
    guard errno == EWOULDBLOCK else { throw SystemError(call: "flock", subject: path, code: errno) }
    return false
  }

  /// Takes part in a lock that was passed on: a descriptor that ``share()`` has made, inherited.
  ///
  /// - Parameter isHolder: whether the file is to name this process as the one that holds what is locked, and no longer
  ///   whoever shares the lock with it.
  /// - Returns: `heldBy` where the descriptor does not belong to the file that has this name now, or another open
  ///   file has the lock. Where nobody has it, it is taken.
  public static func join(
    _ inherited: consuming FileDescriptor, path: String, isHolder: Bool = true
  ) throws(SystemError) -> Outcome {
    let number = inherited.rawValue
    guard LockFile(descriptor: try inherited.duplicate()).isAt(path: path) else { return .heldBy(pid: nil) }
    // Nothing happens where this open file has the lock already, which is the rule.
    guard try lock(number, LOCK_EX, path) else { return .heldBy(pid: holder(in: inherited)) }
    if isHolder { note(pid: CurrentProcess.pid, in: inherited) }
    return .acquired(LockFile(descriptor: inherited))
  }

  /// A descriptor with which a child takes part in the lock: it stays held until the last of those who share it has
  /// ended, or one of them unlocks it.
  public borrowing func share() throws(SystemError) -> FileDescriptor { try descriptor.duplicate() }

  /// Whether the file that has this name now is the one that is locked; false where somebody has removed it.
  public borrowing func isAt(path: String) -> Bool {
    guard let own = try? descriptor.facts(), let named = try? FileFacts.inspect(path) else { return false }
    return named.identity == own.identity
  }

  /// Ends the share of this value. Where nobody shares the lock it is free now; the same as letting the value end.
  public consuming func release() {}

  /// Frees the lock now, also for those who share it.
  public consuming func unlock() {
    // It can only fail for what is no lock.
    _ = uninterrupted { Kernel.lock(descriptor.rawValue, LOCK_UN) }
  }

  private init(descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// For a person who looks. A full disk takes no pid, and the lock is held all the same.
  private static func note(pid: pid_t, in descriptor: borrowing FileDescriptor) {
    try? descriptor.truncate(to: 0)
    // By offset: those who share an open file share its position too.
    Array("\(pid)\n".utf8).withUnsafeBytes { bytes in _ = try? descriptor.write(bytes, at: 0) }
  }

  /// The pid in the file, if the holder has written it by now. It is a help for a person, not a proof.
  private static func holder(in descriptor: borrowing FileDescriptor) -> pid_t? {
    guard let bytes = try? descriptor.readAll(limit: 64) else { return nil }
    return pid_t(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
