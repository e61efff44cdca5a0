// Owns the lock of a home: one coordinator, or one inspector, at a time.
// A lock that a coordinator has is a failure that names its pid; an inspector is waited for, and then one of its own.

import Glibc
import Posix
import Time
import Wire

final class HomeLock {
  private var lock: LockFile?

  /// How long whoever only looks into a closed bank is waited for.
  private static let patience = TimeSpan.seconds(5)
  /// The same, where an open bank waits meanwhile.
  private static let shortPatience = TimeSpan.milliseconds(100)

  /// Takes the lock, or says who has it.
  /// - Parameter inherited: the lock that a guardian has taken for this coordinator, and shares.
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

  /// Keeps coordinators and other inspectors off, for as long as this object lives.
  init(visiting home: BankHome) throws(Failure) {
    let outcome: LockFile.Outcome
    do throws(SystemError) { outcome = try LockFile.visit(path: home.lock) } catch {
      throw Failure(.badHome, subject: home.path, detail: error.description)
    }
    lock = try Self.lock(outcome, home)
  }

  private static func lock(_ outcome: consuming LockFile.Outcome, _ home: BankHome) throws(Failure)
    -> LockFile
  {
    switch consume outcome {
    case .acquired(let lock): return lock
    case .heldBy(let pid):
      throw Failure(.alreadyOpen, subject: pid.map { String($0) } ?? "", detail: home.path)
    case .visited: throw Failure(.inspected, subject: home.path)
    }
  }

  /// A lock whose file was removed while the guardian had it is worth nothing; the one that has its name now may be
  /// free.
  private static func join(
    _ inherited: consuming FileDescriptor, _ path: String
  ) throws(SystemError) -> LockFile.Outcome {
    switch try LockFile.join(inherited, path: path) {
    case .acquired(let lock): return .acquired(lock)
    default: return try LockFile.acquire(path: path, patience: patience)
    }
  }

  /// A descriptor with which a guardian takes part in the lock.
  func share() throws(SystemError) -> FileDescriptor {
    guard lock != nil else { throw SystemError(call: "flock", subject: "", code: EBADF) }
    return try lock!.share()
  }

  /// Takes the lock again after somebody has removed its file. Where somebody else is quicker, the lock that SQLite
  /// keeps on the database still holds him off.
  /// - Returns: false where somebody else has the file that has its name now, as one does who is just being refused.
  func retake(_ home: BankHome) -> Bool {
    // Whoever had moved it away may have put it back.
    if lock != nil, lock!.isAt(path: home.lock) { return true }
    guard case .acquired(let fresh)? = try? LockFile.acquire(path: home.lock, patience: Self.shortPatience)
    else { return false }
    lock = consume fresh
    return true
  }

  /// Gives the lock back, whoever shares it.
  /// Gives the lock back, whoever shares it.
  func release() { if let lock = lock.take() { lock.unlock() } }
}
