// The note of the shared database that a home has joined: it is read as it was written, and any other content
// is refused.

import Foundation
import QueueCore
import Testing

@testable import Coordinator

@Suite struct SharedStoreMarkerFileTests {
  private static let mark = SharedStoreProgress(
    bankID: -7, system: 8, timeline: 2, day: 3, ticket: 40, epoch: 5, commits: 60)
  private static let note = SharedStoreMarkerFile(
    address: "postgres://bank@db/bank", branch: "m:/h", mark: mark)

  @Test("it is read as it was written")
  func kept() {
    let path = NSTemporaryDirectory() + "/database-\(UUID().uuidString)"
    defer { unlink(path) }
    #expect(SharedStoreMarkerFile.read(from: path) == nil)
    Self.note.write(at: path)
    #expect(SharedStoreMarkerFile.read(from: path) == Self.note)
  }

  @Test("of a branch of another name it gives only the database")
  func renamed() {
    #expect(Self.note.mark(of: "m:/h") == Self.mark)
    let other = Self.note.mark(of: "other")
    #expect((other.bankID, other.ticket, other.epoch, other.commits) == (-7, 40, 0, 0))
  }

  @Test(
    "a malformed note is not read",
    arguments: ["", "a\nb\n1 2 3 4 5 6 7\n", "a\nb\n1 2 3 4 5 6\nend\n", "a\nb\n1 2 3 4 5 6 x\nend\n"])
  func refused(text: String) { #expect(SharedStoreMarkerFile.parse(text) == nil) }

  @Test("a database is older if its day or epoch is behind the known one")
  func ahead() {
    #expect(Self.mark.isAhead(day: 3, ticket: 39) && Self.mark.isAhead(day: 2, ticket: 99))
    #expect(!Self.mark.isAhead(day: 3, ticket: 40) && !Self.mark.isAhead(day: 4, ticket: 0))
    #expect(Self.mark.isAhead(epoch: 5, commits: 59) && Self.mark.isAhead(epoch: 4, commits: 99))
    #expect(!Self.mark.isAhead(epoch: 5, commits: 60) && !Self.mark.isAhead(epoch: 6, commits: 0))
  }
}
