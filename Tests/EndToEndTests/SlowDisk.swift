// Disk that delays one sync, or every row, for as long as a test requires: a library preloaded into the processes of a
// branch; see Tests/SlowDisk. It is in the directory of this test bundle.
// Invariant: the disk is slow for the processes of one branch only, and delays none after the test.
import Foundation
import Glibc
import Testing

/// Disk that is slow when a test requires it.
struct SlowDisk {
  private let directory: String
  private let branch: ScratchBank

  /// Environment of the command that opens the bank.
  let environment: [String: String]

  init(of branch: ScratchBank) throws {
    self.branch = branch
    directory = branch.path("disk")
    mkdir(directory, 0o700)
    let library = Binaries.besideTests("libSlowDisk.so")
    try #require(access(library, R_OK) == 0, "\(library) was not built")
    environment = ["LD_PRELOAD": library, "SLOW_DISK": directory]
  }

  /// Opens the bank on this disk.
  func start(_ arguments: [String], at location: SourceLocation = #_sourceLocation) throws {
    let outcome = try branch.launch(["start", "--json"] + arguments, environment: environment).finish(
      at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
  }

  /// Blocks the next sync of a process for this time, and returns when it continues.
  ///
  /// - Parameter cause: Makes the process write, if it does not write anyway.
  func stall(
    _ program: String, for span: Duration, at location: SourceLocation = #_sourceLocation,
    because cause: () throws -> Void = {}
  ) throws {
    try hold(program, "sync")
    try cause()
    try branch.waitUntil("\(program) waits for its disk", at: location) { exists(program, "syncing") }
    let begin = ContinuousClock.now
    try branch.waitUntil("the process has waited for \(span)", at: location) {
      ContinuousClock.now - begin >= span
    }
    try branch.waitUntil("the sync is done", at: location) {
      resumeWaiting(program, "syncing")
      return !exists(program, "syncing")
    }
  }

  /// Lets a process read one row after each pause, for as long as `isReading` returns true.
  ///
  /// - Returns: Number of rows read.
  func readSlowly(
    _ program: String, every pause: Duration, at location: SourceLocation = #_sourceLocation,
    while isReading: () -> Bool
  ) throws -> Int {
    try hold(program, "row")
    // Open at both ends, so that the reader blocks until a byte comes, and continues when this is closed.
    let fifo = open(path(program, "row"), O_RDWR | O_CLOEXEC)
    defer {
      unlink(path(program, "row"))
      close(fifo)
    }
    var rows = 0
    var last = ContinuousClock.now
    while isReading() {
      try branch.waitUntil("a row is due, or the process reads no more", at: location) {
        !isReading() || ContinuousClock.now - last >= pause && isEmpty(fifo)
      }
      last = ContinuousClock.now
      rows += write(fifo, "r", 1)
    }
    return rows
  }

  /// True if the last byte was read.
  private func isEmpty(_ fifo: Int32) -> Bool {
    var item = pollfd(fd: fifo, events: Int16(POLLIN), revents: 0)
    return poll(&item, 1, 0) == 0
  }

  /// Releases a process that waits at a FIFO, once it has opened it.
  private func resumeWaiting(_ program: String, _ kind: String) {
    let fifo = open(path(program, kind), O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    if fifo >= 0 { close(fifo) }
  }

  private func path(_ program: String, _ kind: String) -> String { "\(directory)/\(program).\(kind)" }

  private func exists(_ program: String, _ kind: String) -> Bool { access(path(program, kind), F_OK) == 0 }

  private func hold(_ program: String, _ kind: String) throws {
    try #require(mkfifo(path(program, kind), 0o600) == 0)
  }
}
