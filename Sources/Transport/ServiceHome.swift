// Paths of a service process in the home directory of a bank, such as `stock.db` of the stock, and checks whether they
// can be used. Invariant: no existing file is changed, except that the holder of the lock writes its pid into
// the lock file. Missing directories are created with access only for this user. Errors: a Failure with the
// reason why the home cannot be used.
import Glibc
import BankModel
import Posix
import Time
import Wire

/// Paths of one service process of one bank.
public struct ServiceHome: Sendable {
  /// Home directory, absolute.
  public let path: String
  /// Base name of the service's files: `stock`.
  public let name: String

  public init(path: String, name: String) { (self.path, self.name) = (path, name) }

  /// Path of the service's database.
  public var database: String { Paths.join(path, name + ".db") }
  /// Write-ahead log of the database.
  public var databaseLog: String { database + "-wal" }
  /// Disk space reserved for the database.
  public var databaseReserve: String { database + "-reserve" }
  /// Path of the lock file that prevents two services of this name in one home.
  public var lock: String { Paths.join(path, name + ".lock") }
  /// Directory of the sockets.
  public var run: String { Paths.join(path, "run") }
  /// Path of the service's socket.
  public var socket: String { Paths.join(run, name + ".sock") }
  /// Directory of the logs.
  public var logs: String { Paths.join(path, "logs") }
  /// Path of the service's log.
  public var log: String { Paths.join(logs, name + ".log") }

  /// Creates missing directories. Refuses a home that belongs to another user, and one that other users can
  /// write to, unless it has the sticky bit.
  public func prepare() throws(Failure) {
    do throws(SystemError) {
      for directory in [path, run, logs] { try Directory.create(path: directory) }
      guard let facts = try FileMetadata.inspect(path) else {
        throw SystemError(call: "stat", subject: path, code: ENOENT)
      }
      guard facts.owner == geteuid(), facts.mode & 0o022 == 0 || facts.mode & 0o1000 != 0 else {
        throw SystemError(call: "open", subject: path, code: EPERM)
      }
    } catch {
      throw Failure(.badHome, subject: path, detail: error.description)
    }
  }

  /// Refuses a database file that is empty although the service has a log, and, if `mustExist` is true, a missing one.
  /// Without a log, an empty file is normal after a crash during its creation. The service creates its log after its
  /// database, so a log proves that there was a database.
  ///
  /// - Parameter mustExist: true if there was a database when the bank was opened. If that database is missing,
  ///   the service must not create an empty one in its place.
  public func examineDatabase(mustExist: Bool = false) throws(Failure) {
    if mustExist, ((try? FileMetadata.inspect(database)) ?? nil) == nil {
      let words = "\(database) was removed or renamed while the bank was open"
      throw Failure(.removed, subject: database, detail: words)
    }
    guard let facts = try? FileMetadata.inspect(database), facts.isFile, facts.size == 0,
      let log = try? FileMetadata.inspect(log), log.size > 0
    else { return }
    throw Failure(.damaged, subject: database, messageDetail: MessageDetail(.emptyBesideLog))
  }

  /// Takes the lock that one process of this service in this home holds. Retries for a while, because a process that is
  /// just exiting may still hold it.
  public func takeLock(_ loop: EventLoop) throws(Failure) -> LockFile {
    let until = SystemClock.monotonic() + .seconds(3)
    do throws(SystemError) {
      while true {
        var holder: pid_t?
        switch try LockFile.acquire(path: lock) {
        case .acquired(let lock): return lock
        case .heldBy(let pid): holder = pid
        case .underInspection: break
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
