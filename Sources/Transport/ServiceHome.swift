// Owns where a service lives in the home of a bank, such as the stock in `stock.db`, and whether that may be used at all.
// It knows no database and no message. Invariant: nothing that is there is changed; what is missing is made for this user
// alone. A home that cannot be used is a failure with its reason.
import Glibc
import BankModel
import Posix
import Wire

/// The paths of one service of one bank.
public struct ServiceHome: Sendable {
  /// The home itself, absolute.
  public let path: String
  /// The service, as its files are called: `stock`.
  public let name: String

  public init(path: String, name: String) { (self.path, self.name) = (path, name) }

  /// The service's database.
  public var database: String { Paths.join(path, name + ".db") }
  /// The log of the database.
  public var databaseLog: String { database + "-wal" }
  /// The room that is held back for the database.
  public var databaseReserve: String { database + "-reserve" }
  /// The lock that keeps two such services off one home.
  public var lock: String { Paths.join(path, name + ".lock") }
  /// The directory of the sockets.
  public var run: String { Paths.join(path, "run") }
  /// The service's socket.
  public var socket: String { Paths.join(run, name + ".sock") }
  /// The directory of the logs.
  public var logs: String { Paths.join(path, "logs") }
  /// The service's log.
  public var log: String { Paths.join(logs, name + ".log") }

  /// Makes the directories that are missing, and refuses a home of another user or one that others can write to.
  public func prepare() throws(Failure) {
    do throws(SystemError) {
      for directory in [path, run, logs] { try Directory.create(path: directory) }
      guard let facts = try FileFacts.inspect(path) else {
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
  /// the log comes after the database, so a service that has logged had one.
  ///
  /// - Parameter mustExist: whether there was a database when the bank was opened. One that was removed since is not
  ///   replaced by a new one, which would have forgotten everything.
  public func examineDatabase(mustExist: Bool = false) throws(Failure) {
    if mustExist, ((try? FileFacts.inspect(database)) ?? nil) == nil {
      let words = "\(database) was removed or renamed while the bank was open"
      throw Failure(.removed, subject: database, detail: words)
    }
    guard let facts = try? FileFacts.inspect(database), facts.isFile, facts.size == 0,
      let log = try? FileFacts.inspect(log), log.size > 0
    else { return }
    throw Failure(.damaged, subject: database, remark: Remark(.emptyBesideLog))
  }

  /// Takes the lock. One that has just died gives it up within a moment, so the lock is asked for more than once.
  public func takeLock(_ loop: EventLoop) throws(Failure) -> LockFile {
    let until = SystemClock.monotonic() + .seconds(3)
    do throws(SystemError) {
      while true {
        var holder: pid_t?
        switch try LockFile.acquire(path: lock) {
        case .acquired(let lock): return lock
        case .heldBy(let pid): holder = pid
        case .visited: break
        }
        guard SystemClock.monotonic() < until else {
          throw SystemError(call: "flock", subject: holder.map { String($0) } ?? "", code: EWOULDBLOCK)
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
