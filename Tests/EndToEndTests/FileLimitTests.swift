// Files that may not grow (RLIMIT_FSIZE) are a full disk, for whichever process is limited: nobody dies of it, what is
// refused says why, nobody becomes a dead letter, and everything goes on when the limit is gone. The limit is set on
// processes that run, so it needs no right that a user does not have.
import Foundation
import Glibc
import Testing

@Suite("Files that may not grow", .serialized)
struct FileLimitTests {
  @Test("a stock that cannot write leaves its customers in line, however long, and serves them when it can")
  func stock() throws {
    try withBranch { branch in
      try branch.start("--speed", "max")
      let stock = try #require(try branch.status().worker("stock")?.pid)
      try branch.limit(stock, bytes: 4_096)
      let orders = try (1...3).map { _ in
        try branch.launch(["juice", "order", "banana", "--timeout", "5m", "--json"])
      }
      // Five failures once made a dead letter, and each took a moment; a station that is put off asks again.
      try branch.waitUntil("the station was put off") { branch.log("juice-1").contains("event=delayed") }
      try branch.waitUntil("all have ordered") { try branch.status().queue("issued") == 3 }
      let waiting = try branch.status()
      #expect(waiting.queue("dead") == 0 && waiting.queue("delayed") == 0 && waiting.queue("served") == 0)
      #expect(waiting.worker("stock")?.pid == stock, "it lives")
      try branch.limit(stock, bytes: nil)
      for order in orders { #expect(try order.finish().json()["outcome"].text == "made") }
      #expect(try branch.stock()["banana"] == 4)
      #expect(try branch.status().queue("dead") == 0)
      try branch.expectClean()
    }
  }

  @Test(
    "a bank that is closed at once does not wait for a juice that cannot be begun, and its customer waits for the next day"
  )
  func stop() throws {
    try withBranch { branch in
      try branch.start("--speed", "max")
      let stock = try #require(try branch.status().worker("stock")?.pid)
      try branch.limit(stock, bytes: 4_096)
      let order = try branch.launch(["juice", "order", "banana", "--timeout", "5m"])
      try branch.waitUntil("the station was put off") { branch.log("juice-1").contains("event=delayed") }
      let stop = try branch.launch(["stop", "--now"]).finish(within: .seconds(30))
      #expect(stop.code == 0, stop.story)
      order.end()
      try branch.reopen("--speed", "max")
      try branch.waitUntil("it is made after all") { try branch.status().queue("served") == 1 }
      #expect(try branch.stock()["banana"] == 8)
      try branch.expectClean()
    }
  }

  @Test("a bank that cannot write refuses newcomers, and whoever begins to wait meanwhile is told the end")
  func coordinator() throws {
    try withBranch { branch in
      try branch.start("--speed", "20", "--deposit", "1", "--loan", "0")
      try branch.done("enqueue", "40", "--service", "deposit")
      let pid = try branch.status().pid
      let client = try RawClient(branch, patience: 60)
      client.send(Message.hello().frame)
      #expect(client.listen(until: 1).frames.count == 1)
      try branch.waitUntil("somebody is served") { try branch.status().queue("served") > 1 }
      try branch.limit(pid, bytes: 4_096)
      try branch.expectRefusal(75, "disk_full", of: "enqueue", "1000")
      // Nothing of this is on disk.
      try branch.waitUntil("everybody is served") { try branch.status().queue("served") == 40 }
      let day = try Int64(branch.status().day)
      client.send(
        Message.request(2, 11, .fields([(1, .number(day)), (2, .number(1)), (3, .number(40))])).frame)
      try branch.expectRefusal(75, "disk_full", of: "enqueue", "1000")
      #expect(try branch.status().pid == pid, "it lives")
      try branch.limit(pid, bytes: nil)
      // A loan would wait for ever: there is no window for it.
      try branch.waitUntil("customers are taken again") {
        try branch.run("enqueue", "1", "--service", "deposit").code == 0
      }
      #expect(client.listen(until: 1).replies.count == 1, "the end of the tickets is told")
      try branch.done("wait")
      try branch.expectClean()
    }
  }
}

extension Branch {
  /// Lets a process write no file beyond so many bytes; nil for as many as it likes.
  func limit(_ pid: Int, bytes: Int?, at location: SourceLocation = #_sourceLocation) throws {
    let words = ["--pid", "\(pid)", "--fsize=\(bytes.map { "\($0):unlimited" } ?? "unlimited")"]
    let outcome = try launch(words, program: "/usr/bin/prlimit").finish(at: location)
    try #require(outcome.code == 0, outcome.story, sourceLocation: location)
  }
}
