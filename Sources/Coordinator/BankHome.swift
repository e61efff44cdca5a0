// Owns where a bank lives: the paths under its home, and whether the home may be used at all.
// It knows no database and no socket. Invariant: the home and everything in it belongs to this user alone.
// A home that cannot be used is a failure with its reason, and nothing is left behind in it.

import BankModel
import ByteText
import Glibc
import Posix
import Wire

struct BankHome: Sendable {
  let path: String

  init(_ path: String) { self.path = path }

  var database: String { Paths.join(path, "bank.db") }
  var lock: String { Paths.join(path, "bank.lock") }
  var run: String { Paths.join(path, "run") }
  var socket: String { Paths.join(run, "bank.sock") }
  /// Where the guardian answers the coordinator's signs of progress.
  var answers: String { Paths.join(run, "answers.sock") }
  var stockSocket: String { Paths.join(run, "stock.sock") }
  var windows: String { Paths.join(run, "windows") }
  /// Why services have paused by themselves.
  var pauses: String { Paths.join(run, "pauses") }
  /// The customers in the hands of commands and workers.
  var hands: String { Paths.join(run, "hands") }
  var configurationCopy: String { Paths.join(run, "configuration.json") }
  /// Which books the bank has opened.
  var storeNote: String { Paths.join(run, "store") }
  /// There where a command may have been started, and nobody has looked since for what is left of those of before.
  var commandsNote: String { Paths.join(run, "commands") }
  /// What commands have written, in a directory for each day.
  var output: String { Paths.join(path, "output") }
  var logs: String { Paths.join(path, "logs") }
  func log(of worker: String) -> String { Paths.join(logs, worker + ".log") }

  /// What the branch in this home is called among those that share its books, where nobody has named it.
  var branchName: String { "\(Machine.name):\(path)" }

  /// Where programs connect that serve customers and come by themselves.
  var workerSocket: String { Paths.join(run, "worker.sock") }

  /// Where whatever the coordinator says outside its log goes, such as the last words of a broken invariant.
  var standardError: String { Paths.join(logs, "bankd.stderr") }

  /// The same for a child; nowhere while somebody has removed the place.
  var placeForErrors: ChildProcess.Output {
    let isThere =
      (try? FileDescriptor.open(standardError, [.writeOnly, .create, .append], mode: 0o600)) != nil
    return isThere ? .append(path: standardError) : .null
  }

  /// The longest path of a database that SQLite opens, with room for the names of the files beside it. See
  /// MAX_PATHNAME in https://sqlite.org/src/file/src/os_unix.c.
  private static let longestDatabase = 500

  /// Makes the home where it is missing, and refuses one that is another user's or open to others.
  func prepare() throws(Failure) {
    guard database.utf8.count <= Self.longestDatabase else {
      let most = Self.longestDatabase - (database.utf8.count - path.utf8.count)
      throw Failure(.badHome, subject: path, remark: Remark(.pathTooLong, path.utf8.count, most))
    }
    do throws(SystemError) {
      try Directory.create(path: path)
      guard let facts = try FileFacts.inspect(path), facts.isDirectory else {
        throw SystemError(call: "mkdir", subject: path, code: ENOTDIR)
      }
      guard facts.owner == geteuid() else { throw SystemError(call: "open", subject: path, code: EPERM) }
    } catch { throw failure(error) }
    do throws(SystemError) {
      if let facts = try FileFacts.inspect(path), facts.mode & 0o077 != 0 { try shut(facts) }
      try Directory.create(path: run)
      try Directory.create(path: logs)
      guard path.withByteString({ access($0, W_OK | X_OK) }) == 0 else {
        throw SystemError(call: "access", subject: path, code: errno)
      }
    } catch { throw failure(error) }
  }

  /// What stands in a home before its database, whoever put it there.
  private static let ownNames: Set<String> = ["bank.json", "bank.lock", "logs", "run"]

  /// Closes a home that is open to others. A directory that was not made for a bank is not ours to close (it may be
  /// /tmp): it stays as it is, where nobody else can put something in the place of what is ours.
  private func shut(_ facts: FileFacts) throws(SystemError) {
    let names = try Directory.entries(of: path)
    let isShared = facts.mode & 0o1000 != 0
    if !isShared, names.contains("bank.db") || names.allSatisfy(Self.ownNames.contains) {
      _ = path.withByteString { chmod($0, 0o700) }
    } else if facts.mode & 0o022 != 0 {
      throw SystemError(call: "chmod", subject: path, code: EPERM)
    }
  }

  /// Refuses a database that has lost its contents, or that is missing beside its log.
  ///
  /// An empty file is what a crash while it is made leaves behind, and SQLite takes it for a new one. But the log
  /// comes after the database, so a bank that has logged had one.
  func examineDatabase() throws(Failure) {
    let wal = database + "-wal"
    if (try? FileFacts.inspect(database, followLinks: false)) ?? nil == nil,
      let facts = try? FileFacts.inspect(wal), facts.size > 0
    {
      throw Failure(.removed, subject: database, detail: wal)
    }
    guard let facts = try? FileFacts.inspect(database), facts.isFile, facts.size == 0,
      let log = try? FileFacts.inspect(log(of: "coordinator")), log.size > 0
    else { return }
    throw Failure(.damaged, subject: database, remark: Remark(.emptyAfterOpening))
  }

  private func failure(_ error: SystemError) -> Failure {
    let remark =
      switch (error.call, error.code) {
      case ("mkdir", EEXIST), (_, ENOTDIR): Remark(.notDirectory)
      case ("open", EPERM): Remark(.belongsToOther)
      case ("chmod", EPERM): Remark(.writableByOthers)
      default: Remark(quoting: error.description)
      }
    return Failure(.badHome, subject: path, remark: remark)
  }
}
