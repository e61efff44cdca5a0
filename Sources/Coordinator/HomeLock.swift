// Lock of a home: one coordinator or one inspector at a time.
// Errors: if another process has the lock, the failure states whether it inspects the bank or has opened it.

import Glibc
import Posix
import Time
import Wire

final class HomeLock {
  private var lock: LockFile?

  /// Time to wait for an inspector of a closed bank.
  private static let patience = TimeSpan.seconds(5)
  /// Time to wait for the lock on a new lock file. It is short, because the open bank is blocked meanwhile.
  private static let shortPatience = TimeSpan.milliseconds(100)

  /// Takes the lock, or throws the reason why it cannot be taken.
  /// - Parameter inherited: Lock that a guardian has taken and shares with this coordinator.
  init(_ home: BankHome, inherited: consuming FileDescriptor? = nil) throws(Failure) {
    let outcome: LockFile.Outcome
    do throws(SystemError) {
      if let inherited = consume inherited {
        outcome = try Self.join(inherited, home.lock)
      } else {
        outcome = try LockFile.acquire(path: home.lock, patience: Self.patience)
      }
    } catch { throw Failure(.badHome, subject: home.path, detail: error.description) }
    lock = try Self.lock(outcome, home)
  }

  /// Keeps coordinators and other inspectors out for the lifetime of this object.
  init(inspecting home: BankHome) throws(Failure) {
    let outcome: LockFile.Outcome
    do throws(SystemError) { outcome = try LockFile.acquireForInspection(path: home.lock) } catch {
      throw Failure(.badHome, subject: home.path, detail: error.description)
    }
    lock = try Self.lock(outcome, home)
  }

  /// Returns the acquired lock, or throws the reason why another process excludes this one.
  private static func lock(_ outcome: consuming LockFile.Outcome, _ home: BankHome) throws(Failure)
    -> LockFile
  {
    switch consume outcome {
    case .acquired(let lock): return lock
    case .heldBy(let pid):
      throw Failure(.alreadyOpen, subject: pid.map { String($0) } ?? "", detail: home.path)
    case .underInspection: throw Failure(.inspected, subject: home.path)
    }
  }

  /// Joins the guardian's lock. If that fails, for example because the lock file was removed meanwhile, takes the lock
  /// on the file that has the name now.
  private static func join(
    _ inherited: consuming FileDescriptor, _ path: String
  ) throws(SystemError) -> LockFile.Outcome {
    switch try LockFile.join(inherited, path: path) {
    case .acquired(let lock): return .acquired(lock)
    default: return try LockFile.acquire(path: path, patience: patience)
    }
  }

  /// Descriptor that lets a guardian share the lock.
  func share() throws(SystemError) -> FileDescriptor {
    guard lock != nil else { throw SystemError(call: "flock", subject: "", code: EBADF) }
    return try lock!.share()
  }

  /// Takes the lock again after its file was removed. Returns false if that failed.
  func retake(_ home: BankHome) -> Bool {
    // The file may have been moved away and put back.
    if lock != nil, lock!.isAt(path: home.lock) { return true }
    guard case .acquired(let fresh)? = try? LockFile.acquire(path: home.lock, patience: Self.shortPatience)
    else { return false }
    lock = consume fresh
    return true
  }

  /// Releases the lock, even if other processes share it.
  func release() { if let lock = lock.take() { lock.unlock() } }
}
