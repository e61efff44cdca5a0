// A request for very many customers beside a bank that serves: the others are served and what they were told is kept,
// and of the request all is there or nothing, whatever happens while it comes in.
import Foundation
import Glibc
import Testing

@Suite("A request for very many customers", .serialized)
struct LargeRequestTests {
  private static let many = Int64(3_000_000)

  /// A client that has asked for very many loans under a key, of whom the first have come in.
  private func askForMany(_ branch: Branch) throws -> RawClient {
    let client = try RawClient(branch, patience: 60)
    client.send(Message.hello().frame)
    let order = Message.fields([
      (1, .number(Self.many)), (2, .number(2)), (3, .number(3)), (6, .number(1)), (7, .text("many")),
    ])
    client.send(Message.request(1, 4, order).frame)
    // A word of welcome, and the first word of progress.
    let answer = client.listen(until: 2)
    #expect(answer.replies.count == 1, "\(answer)")
    return client
  }

  @Test("others are served and kept meanwhile, status answers at once, and a kill leaves nothing of it")
  func killed() throws {
    try withBranch { branch in
      try branch.start("--deposit", "2", "--loan", "0", "--speed", "max")
      try branch.done("pause", "deposit")
      try branch.done("enqueue", "20000", "--service", "deposit")
      let client = try askForMany(branch)
      try branch.done("resume", "deposit")
      try branch.waitUntil("a thousand are served") { try branch.status().queue("served") >= 1_000 }
      let before = try branch.status()
      #expect(before.queue("issued") == 20_000, "the request came in too soon for this test")
      branch.processes.signal(before.pid, SIGKILL)
      #expect(client.listen().frames.allSatisfy { $0.count < 200 }, "its connection ends without tickets")
      try branch.waitUntil("another coordinator is at work") {
        try branch.statusIfAnswered().map { $0.pid != before.pid } ?? false
      }
      // What was served long before the kill was committed, though the request was half taken in.
      let after = try branch.status()
      #expect(after.queue("served") >= 500, "of \(before.queue("served"))")
      #expect(after.queue("issued") == 20_000)
      // Their numbers are free, and so is the key.
      let next = try branch.json(
        "enqueue", "5", "--service", "deposit", "--key", "many", "--wait", timeout: .seconds(60))
      #expect(next["first"].integer == 20_001 && next["last"].integer == 20_005, "\(next)")
      try branch.waitUntil("all are served", within: .seconds(60)) {
        try branch.status().queue("served") == 20_005
      }
      try branch.expectClean()
    }
  }
}
