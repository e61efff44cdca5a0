// A database snapshot that is held open for a long time, as by a backup or a forgotten session. While it is open,
// the server cannot remove deleted rows. Its transaction reads no table, so it locks none.
// Invariant: after `end()` the snapshot has no session at the server and no process.
// Errors: if a snapshot cannot be opened, another attempt follows; `longest` shows how long one was held open.
import Posix
import Time

final class ChaosSnapshot {
  /// Duration of one snapshot.
  static let length = TimeSpan.minutes(10)
  /// Application name of the session at the server.
  private static let application = "chaos-snapshot"
  /// Pause before the next snapshot. A snapshot also ends whenever its server ends.
  private static let pause = TimeSpan.seconds(1)

  /// The longest duration so far.
  private(set) var longest = TimeSpan.zero
  private let server: ChaosServer
  private var process: ChildProcess?
  /// Time when the present snapshot was opened.
  private var since = MonotonicTime(nanoseconds: 0)
  private var nextAttempt = MonotonicTime(nanoseconds: 0)

  init(at server: ChaosServer) { self.server = server }

  /// Opens the next snapshot if the last one has ended. Call in each iteration of the loop.
  func runIteration(_ now: MonotonicTime) {
    if let process {
      guard process.reap() != nil else {
        longest = max(longest, now.since(since))
        return
      }
      self.process = nil
      nextAttempt = now + Self.pause
    }
    guard now >= nextAttempt else { return }
    (since, nextAttempt) = (now, now + Self.pause)
    process = server.beginStatements(
      "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_sleep(\(Int64(Self.length.inSeconds)))",
      application: Self.application)
  }

  /// Ends the snapshot, at the server first: a sleeping session does not notice that its client has gone.
  func end() {
    _ = server.sql(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '\(Self.application)'"
    )
    guard let process else { return }
    self.process = nil
    if process.reap() == nil { process.end() }
  }
}
