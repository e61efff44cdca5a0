// Home directory of a bank: its paths, and the check that it can be used.
// Invariant: a home that `prepare()` has accepted belongs to the user of this process, and no other user can write to
// its directory.

import BankModel
import ByteText
import Glibc
import Posix
import Wire

struct BankHome: Sendable {
  let path: String

  init(_ path: String) { self.path = path }

  var database: String { Paths.join(path, "bank.db") }
  /// File of the lock that the coordinator and its guardian share.
  var lock: String { Paths.join(path, "bank.lock") }
  /// Directory of sockets and marker files.
  var run: String { Paths.join(path, "run") }
  /// Control socket, for clients.
  var socket: String { Paths.join(run, "bank.sock") }
  /// Socket on which the guardian's answers to heartbeats arrive.
  var heartbeatReplies: String { Paths.join(run, "answers.sock") }
  var stockSocket: String { Paths.join(run, "stock.sock") }
  /// Marker file with the numbers of windows, for a coordinator that starts after a crash.
  var windows: String { Paths.join(run, "windows") }
  /// Marker file with the reasons of paused services.
  var pauses: String { Paths.join(run, "pauses") }
  /// Table of customers in flight at commands and workers.
  var inFlightTable: String { Paths.join(run, "inflight") }
  /// Copy of the configuration file, for a coordinator that starts after a crash.
  var configurationCopy: String { Paths.join(run, "configuration.json") }
  /// Marker file that names the opened database.
  var storeMarkerFile: String { Paths.join(run, "store") }
  /// Marker file that exists if a command may have been started since the last search for processes left by
  /// commands.
  var commandsMarkerFile: String { Paths.join(run, "commands") }
  /// Output of commands, in one directory per day.
  var output: String { Paths.join(path, "output") }
  var logs: String { Paths.join(path, "logs") }
  /// Path of the log of a process, by its name.
  func log(of worker: String) -> String { Paths.join(logs, worker + ".log") }

  /// Default name of this home's branch in a shared database.
  var branchName: String { "\(LocalHost.name):\(path)" }

  /// Socket for outside workers.
  var workerSocket: String { Paths.join(run, "worker.sock") }

  /// Standard error of the coordinator and of child processes.
  var standardError: String { Paths.join(logs, "bankd.stderr") }

  /// Standard error of a child process: the file ``standardError``, or `.null` if the file cannot be opened.
  var standardErrorOutput: ChildProcess.Output {
    let isThere =
      (try? FileDescriptor.open(standardError, [.writeOnly, .create, .append], mode: 0o600)) != nil
    return isThere ? .append(path: standardError) : .null
  }

  /// Longest path of a database that SQLite opens, with room for the names of the files beside it. See
  /// MAX_PATHNAME in https://sqlite.org/src/file/src/os_unix.c.
  private static let longestDatabase = 500

  /// Creates the home and its directories `run` and `logs` if they are missing. Refuses a home that belongs to
  /// another user. From a directory made for a bank, the permissions of other users are removed; any other directory
  /// is refused if other users can write to it.
  func prepare() throws(Failure) {
    guard database.utf8.count <= Self.longestDatabase else {
      let most = Self.longestDatabase - (database.utf8.count - path.utf8.count)
      throw Failure(
        .badHome, subject: path, messageDetail: MessageDetail(.pathTooLong, path.utf8.count, most))
    }
    do throws(SystemError) {
      try Directory.create(path: path)
      guard let facts = try FileMetadata.inspect(path), facts.isDirectory else {
        throw SystemError(call: "mkdir", subject: path, code: ENOTDIR)
      }
      guard facts.owner == geteuid() else { throw SystemError(call: "open", subject: path, code: EPERM) }
    } catch { throw failure(error) }
    do throws(SystemError) {
      if let facts = try FileMetadata.inspect(path), facts.mode & 0o077 != 0 {
        try restrictPermissions(facts)
      }
      try Directory.create(path: run)
      try Directory.create(path: logs)
      guard path.withByteString({ access($0, W_OK | X_OK) }) == 0 else {
        throw SystemError(call: "access", subject: path, code: errno)
      }
    } catch { throw failure(error) }
  }

  /// Names that may exist in a home before its database.
  private static let allowedNames: Set<String> = ["bank.json", "bank.lock", "logs", "run"]

  /// Removes the permissions of other users from a home. The mode of a directory that was not made for a bank, such as
  /// /tmp, is not changed.
  private func restrictPermissions(_ facts: FileMetadata) throws(SystemError) {
    let names = try Directory.entries(of: path)
    let isShared = facts.mode & 0o1000 != 0
    if !isShared, names.contains("bank.db") || names.allSatisfy(Self.allowedNames.contains) {
      _ = path.withByteString { chmod($0, 0o700) }
    } else if facts.mode & 0o022 != 0 {
      throw SystemError(call: "chmod", subject: path, code: EPERM)
    }
  }

  /// Refuses a database file that is empty although the bank was open before, or missing although its write-ahead
  /// log has contents.
  ///
  /// A crash during creation can leave an empty file, which SQLite treats as a new database. The coordinator creates
  /// its own log after the database. So if this log has contents, the empty database file has lost its contents.
  func examineDatabase() throws(Failure) {
    let wal = database + "-wal"
    if (try? FileMetadata.inspect(database, followLinks: false)) ?? nil == nil,
      let facts = try? FileMetadata.inspect(wal), facts.size > 0
    {
      throw Failure(.removed, subject: database, detail: wal)
    }
    guard let facts = try? FileMetadata.inspect(database), facts.isFile, facts.size == 0,
      let log = try? FileMetadata.inspect(log(of: "coordinator")), log.size > 0
    else { return }
    throw Failure(.damaged, subject: database, messageDetail: MessageDetail(.emptyAfterOpening))
  }

  private func failure(_ error: SystemError) -> Failure {
    let messageDetail =
      switch (error.call, error.code) {
      case ("mkdir", EEXIST), (_, ENOTDIR): MessageDetail(.notDirectory)
      case ("open", EPERM): MessageDetail(.belongsToOther)
      case ("chmod", EPERM): MessageDetail(.writableByOthers)
      default: MessageDetail(quoting: error.description)
      }
    return Failure(.badHome, subject: path, messageDetail: messageDetail)
  }
}
