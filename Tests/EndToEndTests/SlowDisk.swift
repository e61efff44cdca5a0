// A disk that takes seconds for one sync, or its time for every row, on demand: a library that is loaded before all others into
// the processes of a branch. What it does is said in Tests/SlowDisk. It lies where this test bundle does.
// Invariant: the disk is slow for the processes of one branch alone.
import Foundation
import Glibc
import Testing

/// A disk that is slow when a test says so.
struct SlowDisk {
  private let directory: String
  private let branch: Branch

  /// What has to stand in the environment of whoever opens the bank.
  let environment: [String: String]

  init(of branch: Branch) throws {
    self.branch = branch
    directory = branch.path("disk")
    mkdir(directory, 0o700)
    let library = Binaries.besideTests("libSlowDisk.so")
    try #require(access(library, R_OK) == 0, "\(library) was not built")
    environment = ["LD_PRELOAD": library, "SLOW_DISK": directory]
  }

  /// Opens the bank on this disk.
  func start(_ words: String..., at location: SourceLocation = #_sourceLocation) throws {
    let outcome = try branch.launch(["start", "--json"] + words, environment: environment).finish(
      at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
  }

  /// The next sync of a process takes this long; returns when it is over.
  ///
  /// - Parameter cause: What makes the process write, where it does not write anyway.
  func stall(
    _ program: String, milliseconds: Int, at location: SourceLocation = #_sourceLocation,
    because cause: () throws -> Void = {}
  ) throws {
    try order(program, "sync", milliseconds)
    try cause()
    try branch.waitUntil("\(program) waits for its disk", at: location) { !exists(program, "sync") }
    try branch.waitUntil("the disk has done it", at: location) { !exists(program, "syncing") }
  }

  /// From now on every row that a process reads takes this long, until it takes no time again.
  func slow(_ program: String, milliseconds: Int) throws {
    if milliseconds > 0 { return try order(program, "row", milliseconds) }
    unlink(path(program, "row"))
  }

  private func path(_ program: String, _ kind: String) -> String { "\(directory)/\(program).\(kind)" }

  private func exists(_ program: String, _ kind: String) -> Bool { access(path(program, kind), F_OK) == 0 }

  /// Whole at once: the process may look at any moment.
  private func order(_ program: String, _ kind: String, _ milliseconds: Int) throws {
    let draft = path(program, "draft")
    try Data("\(milliseconds)".utf8).write(to: URL(fileURLWithPath: draft))
    try #require(rename(draft, path(program, kind)) == 0)
  }
}
