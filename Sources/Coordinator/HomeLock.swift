// Owns the lock of a home: one coordinator, or one inspector, at a time. It knows nothing of what is locked.
// A lock that somebody else has is a failure that names the holder's pid.

import Glibc
import Posix
import Wire

/// The lock of a home, as long as this object lives or until it is released.
final class HomeLock {
  private var lock: LockFile?

  /// Takes the lock, or says who has it.
  ///
  /// - Parameter inherited: the lock that a guardian has taken for this coordinator, and shares.
  init(_ home: BankHome, inherited: consuming FileDescriptor? = nil) throws(Failure) {
    do throws(SystemError) {
      let outcome: LockFile.Outcome
      if let inherited = consume inherited {
        outcome = try Self.join(inherited, home.lock)
      } else {
        outcome = try LockFile.acquire(path: home.lock)
      }
      switch consume outcome {
      case .acquired(let lock): self.lock = consume lock
      case .heldBy(let pid):
        throw SystemError(call: "flock", subject: pid.map { String($0) } ?? "", code: 0)
      }
    } catch {
      if error.call == "flock", error.code == 0 {
        throw Failure(.alreadyOpen, subject: error.subject, detail: home.path)
      }
      throw Failure(.badHome, subject: home.path, detail: error.description)
    }
  }

  /// A lock whose file was removed while the guardian had it is worth nothing; the one that has its name now may be
  /// free.
  private static func join(
    _ inherited: consuming FileDescriptor, _ path: String
  ) throws(SystemError) -> LockFile.Outcome {
    switch try LockFile.join(inherited, path: path) {
    case .acquired(let lock): return .acquired(lock)
    case .heldBy: return try LockFile.acquire(path: path)
    }
  }

  /// A descriptor with which a guardian takes part in the lock.
  func share() throws(SystemError) -> FileDescriptor {
    guard lock != nil else { throw SystemError(call: "flock", subject: "", code: EBADF) }
    return try lock!.share()
  }

  /// Takes the lock again after somebody has removed its file. Where somebody else is quicker, the lock that SQLite
  /// keeps on the database still holds him off.
  func retake(_ home: BankHome) {
    guard let outcome = try? LockFile.acquire(path: home.lock) else { return }
    if case .acquired(let fresh) = consume outcome { lock = consume fresh }
  }

  /// Gives the lock back, whoever shares it.
  func release() {
    guard let lock = lock.take() else { return }
    lock.unlock()
  }
}
