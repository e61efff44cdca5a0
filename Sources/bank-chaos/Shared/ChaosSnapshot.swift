// Owns a snapshot of the books that somebody keeps open for ten minutes at a time while everything else is done, as a backup
// or a forgotten session does: for it the server keeps every customer who is gone. It reads nothing, so it locks nothing.
// Invariant: no session of it is left at the server when it was ended, and no process.
// Failure: where none can be opened it is tried again; how long one was kept says so.
import Posix
import Time

final class ChaosSnapshot {
  /// For how long one is kept.
  static let length = TimeSpan.minutes(10)
  private static let application = "chaos-snapshot"
  /// From one that has ended, as each does with its server, to the next.
  private static let pause = TimeSpan.seconds(1)

  /// The longest that was kept so far.
  private(set) var longest = TimeSpan.zero
  private let server: ChaosServer
  private var process: ChildProcess?
  private var since = MonotonicTime(nanoseconds: 0)
  private var nextAttempt = MonotonicTime(nanoseconds: 0)

  init(at server: ChaosServer) { self.server = server }

  /// To be called in each turn of the loop.
  func turn(_ now: MonotonicTime) {
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

  /// Ends it, at the server first: a session that sleeps does not notice that its client has gone.
  func end() {
    _ = server.sql(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '\(Self.application)'"
    )
    guard let process else { return }
    self.process = nil
    if process.reap() == nil { process.end() }
  }
}
