// Files that cannot grow (RLIMIT_FSIZE) act as a full disk for the limited process: it does not exit, a refusal has its
// reason, no customer becomes a dead letter, and service continues when the limit is lifted. The limit is set on
// running processes, so it needs no privileges.
import Foundation
import Glibc
import Testing

@Suite("Files that cannot grow", .serialized)
struct FileLimitTests {
  @Test("a stock that cannot write leaves its customers in line for any time, and serves them when it can")
  func stock() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let stock = try #require(try branch.status().worker("stock")?.pid)
      try branch.limit(stock, bytes: 4_096)
      let orders = try (1...3).map { _ in
        try branch.launch(["juice", "order", "banana", "--timeout", "5m", "--json"])
      }
      // Five quick failures once made a dead letter; a delayed station asks again.
      try branch.waitUntil("the station is delayed") {
        branch.log("juice-1").contains("event=waiting_for_stock")
      }
      try branch.waitUntil("all customers have ordered") { try branch.status().queue("issued") == 3 }
      let waiting = try branch.status()
      #expect(waiting.queue("dead") == 0 && waiting.queue("delayed") == 0 && waiting.queue("served") == 0)
      #expect(waiting.worker("stock")?.pid == stock, "the stock still runs")
      try branch.limit(stock, bytes: nil)
      for order in orders { #expect(try order.finish().json()["outcome"].text == "made") }
      #expect(try branch.stock()["banana"] == 4)
      #expect(try branch.status().queue("dead") == 0)
      try branch.expectClean()
    }
  }

  @Test(
    "closing at once does not wait for a juice that cannot start, and its customer waits for the next day"
  )
  func stop() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let stock = try #require(try branch.status().worker("stock")?.pid)
      try branch.limit(stock, bytes: 4_096)
      let order = try branch.launch(["juice", "order", "banana", "--timeout", "5m"])
      try branch.waitUntil("the station is delayed") {
        branch.log("juice-1").contains("event=waiting_for_stock")
      }
      let stop = try branch.launch(["stop", "--now"]).finish(within: .seconds(30))
      #expect(stop.code == 0, stop.story)
      order.end()
      try branch.reopen("--speed", "max")
      try branch.waitUntil("the juice is made") { try branch.status().queue("served") == 1 }
      #expect(try branch.stock()["banana"] == 8)
      try branch.expectClean()
    }
  }

  @Test("a bank that cannot write refuses new customers, and a wait that starts meanwhile gets its answer")
  func coordinator() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20", "--deposit", "1", "--loan", "0")
      try branch.runSuccessfully("enqueue", "40", "--service", "deposit")
      let pid = try branch.status().pid
      let client = try RawClient(branch, patience: 60)
      client.send(Message.hello().frame)
      #expect(client.listen(until: 1).frames.count == 1)
      try branch.waitUntil("a customer is served") { try branch.status().queue("served") > 1 }
      try branch.limit(pid, bytes: 4_096)
      try branch.expectRefusal(75, "disk_full", of: "enqueue", "1000")
      // None of this is on disk.
      try branch.waitUntil("all customers are served") { try branch.status().queue("served") == 40 }
      let day = try Int64(branch.status().day)
      client.send(
        Message.request(2, 11, .fields([(1, .number(day)), (2, .number(1)), (3, .number(40))])).frame)
      try branch.expectRefusal(75, "disk_full", of: "enqueue", "1000")
      #expect(try branch.status().pid == pid, "the coordinator still runs")
      try branch.limit(pid, bytes: nil)
      // A loan would wait for ever: it has no window.
      try branch.waitUntil("customers are accepted again") {
        try branch.run("enqueue", "1", "--service", "deposit").code == 0
      }
      #expect(client.listen(until: 1).replies.count == 1, "the client receives the end of its tickets")
      try branch.runSuccessfully("wait")
      try branch.expectClean()
    }
  }
}

extension ScratchBank {
  /// Limits the size of the files that a process writes; nil for no limit.
  func limit(_ pid: Int, bytes: Int?, at location: SourceLocation = #_sourceLocation) throws {
    let arguments = ["--pid", "\(pid)", "--fsize=\(bytes.map { "\($0):unlimited" } ?? "unlimited")"]
    let outcome = try launch(arguments, program: "/usr/bin/prlimit").finish(at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
  }
}
