// Owns where a bank lives: the paths under its home, and whether the home may be used at all.
// It knows no database and no socket. Invariant: the home and everything in it belongs to this user alone.
// A home that cannot be used is a failure with its reason, and nothing is left behind in it.

import Glibc
import Posix
import Wire

/// The paths of one bank.
struct BankHome: Sendable {
  /// The home itself, absolute.
  let path: String

  init(_ path: String) { self.path = path }

  /// The coordinator's database.
  var database: String { Paths.join(path, "bank.db") }
  /// The lock that keeps two coordinators off one home.
  var lock: String { Paths.join(path, "bank.lock") }
  /// Where sockets are.
  var run: String { Paths.join(path, "run") }
  /// The control socket.
  var socket: String { Paths.join(run, "bank.sock") }
  /// The note of how many windows are wanted.
  var windows: String { Paths.join(run, "windows") }
  /// Where logs are.
  var logs: String { Paths.join(path, "logs") }
  /// The log of a worker.
  func log(of worker: String) -> String { Paths.join(logs, worker + ".log") }
  /// Where whatever the coordinator says outside its log goes, such as the last words of a broken invariant.
  var standardError: String { Paths.join(logs, "bankd.stderr") }

  /// Makes the home where it is missing, and refuses one that is another user's or open to others.
  func prepare() throws(Failure) {
    do throws(SystemError) {
      try Directory.create(path: path)
      guard let facts = try Directory.inspect(path), facts.isDirectory else {
        throw SystemError(call: "mkdir", subject: path, code: ENOTDIR)
      }
      guard facts.owner == geteuid() else {
        throw SystemError(call: "open", subject: path, code: EPERM)
      }
    } catch {
      throw failure(error)
    }
    do throws(SystemError) {
      if let facts = try Directory.inspect(path), facts.mode & 0o077 != 0 {
        _ = path.withCString { chmod($0, 0o700) }
      }
      try Directory.create(path: run)
      try Directory.create(path: logs)
      guard path.withCString({ access($0, W_OK | X_OK) }) == 0 else {
        throw SystemError(call: "access", subject: path, code: errno)
      }
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: SystemError) -> Failure {
    let isForeign = error.call == "open" && error.code == EPERM
    return Failure(
      .badHome, subject: path,
      detail: isForeign ? "it belongs to another user" : error.description)
  }
}
