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
      (1, .number(Self.many)), (2, .text("loan")), (3, .number(3)), (6, .number(1)), (7, .text("many")),
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

  @Test("others keep their throughput while very many customers come in, and small requests do not wait")
  func fair() throws {
    try withBranch { branch in
      try branch.start("--deposit", "2", "--loan", "0", "--speed", "max")
      try branch.done("pause", "deposit")
      try branch.done("enqueue", "200000", "--service", "deposit")
      try branch.done("resume", "deposit")
      try branch.waitUntil("some are served") { try branch.status().queue("served") >= 500 }
      let before = try branch.pace(of: 10_000, within: .seconds(10))
      let client = try askForMany(branch)
      // It is to be more than half. A busy machine may take both cores from a look that lasts for a tenth of a second, but not
      // from each of several; a bank that serves others too slowly does so in all of them.
      var during: [Double] = []
      var best = 0.0
      while during.count < 5, best <= before / 5 {
        during.append(try branch.pace(of: 10_000, within: .seconds(10)))
        best = max(best, during.last ?? 0)
      }
      #expect(best > before / 5, "\(during) customers a second were served, and \(before) before")
      let small = try branch.json("enqueue", "3", "--service", "deposit", timeout: .seconds(60))
      #expect(small["first"].integer == 200_001, "\(small)")
      // All of this was beside it, and nobody has to wait for its end: the bank closes without it.
      #expect(try branch.status().queue("issued") == 200_003, "the request came in too soon for this test")
      try branch.done("stop", "--now", timeout: .seconds(60))
      #expect(client.listen().frames.allSatisfy { $0.count < 400 }, "it is answered without tickets")
      try branch.start("--deposit", "2", "--loan", "0", "--speed", "max")
      let next = try branch.json("enqueue", "5", "--service", "loan", timeout: .seconds(60))
      #expect(next["first"].integer == 200_004, "\(next)")
      try branch.expectClean()
    }
  }
}
