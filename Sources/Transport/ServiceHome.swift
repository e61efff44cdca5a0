// Owns where the stock lives in the home of a bank, and whether that may be used at all.
// It knows no database and no socket. Invariant: nothing that is there is changed; what is missing is made for this user
// alone. A home that cannot be used is a failure with its reason.

import Glibc
import Posix
import Wire

/// The paths of the stock of one bank.
struct StockHome: Sendable {
  /// The home itself, absolute.
  let path: String

  var database: String { Paths.join(path, "stock.db") }
  /// The lock that keeps two stock services off one home.
  var lock: String { Paths.join(path, "stock.lock") }
  var run: String { Paths.join(path, "run") }
  var socket: String { Paths.join(run, "stock.sock") }
  var logs: String { Paths.join(path, "logs") }
  var log: String { Paths.join(logs, "stock.log") }

  /// Makes the directories that are missing, and refuses a home of another user or one that others can write to.
  func prepare() throws(Failure) {
    do throws(SystemError) {
      for directory in [path, run, logs] { try Directory.create(path: directory) }
      guard let facts = try Directory.inspect(path) else {
        throw SystemError(call: "stat", subject: path, code: ENOENT)
      }
      guard facts.owner == geteuid(), facts.mode & 0o022 == 0 || facts.mode & 0o1000 != 0 else {
        throw SystemError(call: "open", subject: path, code: EPERM)
      }
    } catch {
      throw Failure(.badHome, subject: path, detail: error.description)
    }
  }

  /// Refuses a database that has lost its contents: an empty file is what a crash while it is made leaves behind, but
  /// the log comes after the database, so a stock that has logged had one.
  func examineDatabase() throws(Failure) {
    guard let facts = try? FileFacts.inspect(database), facts.isFile, facts.size == 0,
      let log = try? FileFacts.inspect(log), log.size > 0
    else { return }
    throw Failure(
      .damaged, subject: database, detail: "the file is empty, and the stock has been open before")
  }

  /// Takes the lock. One that has just died gives it up within a moment, so the lock is asked for more than once.
  func takeLock(_ loop: EventLoop) throws(Failure) -> LockFile {
    let until = SystemClock.monotonic() + .seconds(3)
    do throws(SystemError) {
      while true {
        switch try LockFile.acquire(path: lock) {
        case .acquired(let lock): return lock
        case .heldBy(let pid):
          guard SystemClock.monotonic() < until else {
            throw SystemError(call: "flock", subject: pid.map { String($0) } ?? "", code: EWOULDBLOCK)
          }
        case .visited:
          guard SystemClock.monotonic() < until else {
            throw SystemError(call: "flock", subject: "", code: EWOULDBLOCK)
          }
        }
        let pause = SystemClock.monotonic() + .milliseconds(20)
        while SystemClock.monotonic() < pause { try loop.runOnce(until: pause) }
      }
    } catch {
      if error.code == EWOULDBLOCK { throw Failure(.alreadyOpen, subject: error.subject, detail: path) }
      throw Failure(.badHome, subject: path, detail: error.description)
    }
  }
}
