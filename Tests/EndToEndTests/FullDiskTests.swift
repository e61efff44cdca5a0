// Bank on a small disk that is filled to the last byte, by its own customers and by another program. New customers are
// refused with the reason, every customer with a ticket is served, orders are answered, and service continues without a
// restart when there is space.
import Foundation
import Glibc
import Testing

@Suite("Full disk", .serialized)
struct FullDiskTests {
  /// State of the coordinator while the disk is full.
  enum CoordinatorFault: CaseIterable { case lives, isKilled, isReopened }

  @Test(
    "every ticket is served with no byte free; a larger disk accepts new customers",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement), arguments: [4, 16], CoordinatorFault.allCases)
  func everyCustomerIsServed(mebibytes: Int, coordinatorFault: CoordinatorFault) throws {
    try withScratchBank { branch in
      let disk = try SmallDisk(kibibytes: mebibytes << 10, under: branch)
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      var issued = 0
      if mebibytes > 4 { try disk.fill(leaving: 3 << 20) }
      // The bank's own customers fill as much of the disk as it accepts.
      for size in [5_000, 500, 50] {
        while true {
          let outcome = try branch.run("enqueue", "\(size)", "--json")
          if outcome.code != 0 {
            #expect(outcome.code == 75, outcome.story)
            #expect(try outcome.json()["error"]["code"].text == "disk_full", outcome.story)
            break
          }
          issued += size
          try #require(issued < 1_000_000, "a disk of \(mebibytes) MB gets full")
        }
      }
      #expect(issued > 2_000, "the disk is used")
      // Another program fills the rest.
      try disk.fill()
      switch coordinatorFault {
      case .lives: break
      case .isKilled:
        let pid = try branch.status().pid
        branch.processes.signal(pid, SIGKILL)
        try branch.waitUntil("the guardian has restarted the coordinator", within: .seconds(30)) {
          let outcome = try branch.run("status", "--json")
          return try outcome.code == 0 && outcome.json()["bank"]["pid"].integer != pid
        }
      case .isReopened:
        try branch.killCoordinator()
        try branch.reopen("--speed", "max")
      }
      #expect(try branch.status().queue("issued") == issued)
      // The database log may have room for a few more, also some time after a refusal, when it has been copied.
      var refusals = 0
      while refusals < 10 {
        let outcome = try branch.run("enqueue", "1000", "--json")
        guard outcome.code != 0 else {
          (issued, refusals) = (issued + 1_000, 0)
          try #require(issued < 1_000_000, "a full disk stays full")
          continue
        }
        refusals += 1
        #expect(outcome.code == 75, outcome.story)
        #expect(try outcome.json()["error"]["code"].text == "disk_full", outcome.story)
      }
      #expect(try branch.status().queue("issued") == issued)
      // A command that meets the full disk is refused, and space is made for the next one.
      for arguments in [["resume"], ["pause", "loan"], ["resume", "loan"]] {
        try branch.waitUntil("\(arguments) succeeds") { try branch.launch(arguments).finish().code == 0 }
      }
      let wait = try branch.launch(["wait", "--timeout", "120s"]).finish(within: .seconds(150))
      #expect(wait.code == 0, wait.story)
      #expect(try branch.status().queue("served") == issued)
      try branch.expectClean()
      try disk.grow(toKibibytes: (mebibytes + 16) << 10)
      try branch.waitUntil("customers are accepted again") { try branch.run("enqueue", "10").code == 0 }
      try branch.runSuccessfully("wait")
      #expect(try branch.status().queue("served") == issued + 10)
      try branch.expectClean()
      try branch.runSuccessfully("stop")
      try branch.expectClean()
    }
  }

  @Test(
    "a bank short of space refuses a reset, closes cleanly, and opens again short of space",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement))
  func orders() throws {
    try withScratchBank { branch in
      let disk = try SmallDisk(kibibytes: 8 << 10, under: branch)
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "3000")
      try disk.fill()
      try branch.waitUntil("the full disk is noticed") { try branch.run("enqueue", "100").code == 75 }
      let issued = try branch.status().queue("issued")
      try branch.runSuccessfully("cancel", "1")
      try branch.expectRefusal(75, "disk_full", of: "enqueue", "3000")
      try branch.expectRefusal(75, "disk_full", of: "reset")
      #expect(try branch.status().queue("issued") == issued, "a refused request adds no customer")
      let stop = try branch.launch(["stop", "--now"]).finish(within: .seconds(30))
      #expect(stop.code == 0, stop.story)
      try branch.expectClean()
      try branch.reopen("--speed", "max")
      #expect(try branch.status().queue("issued") == issued)
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(issued)
      disk.makeRoom()
      try branch.waitUntil("customers are accepted again") { try branch.run("enqueue", "10").code == 0 }
      try branch.runSuccessfully("wait")
      try branch.expectClean()
    }
  }

  @Test(
    "a busy bank accepts new customers soon after there is space, and not only when its queue is empty",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement))
  func busy() throws {
    try withScratchBank { branch in
      let disk = try SmallDisk(kibibytes: 16 << 10, under: branch)
      // More than a hundred are served each second, with a commit every few milliseconds, for over a minute.
      try branch.start("--speed", "70", "--deposit", "1", "--loan", "0")
      try branch.runSuccessfully("enqueue", "8000", "--service", "deposit")
      try disk.fill()
      try branch.waitUntil("the bank uses its reserve") {
        branch.log("coordinator").contains("event=disk_reserve_in_use")
      }
      try branch.expectRefusal(75, "disk_full", of: "enqueue", "1", "--service", "deposit")
      disk.makeRoom()
      try branch.waitUntil("customers are accepted again", within: .seconds(5)) {
        try branch.run("enqueue", "1", "--service", "deposit").code == 0
      }
      #expect(try branch.status().queue("waiting") > 0, "they are accepted while others wait")
      try branch.runSuccessfully("stop", "--now")
      try branch.expectClean()
    }
  }

  @Test(
    "every customer that has ordered a juice gets it with no byte free",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement))
  func juice() throws {
    try withScratchBank { branch in
      let disk = try SmallDisk(kibibytes: 16 << 10, under: branch)
      try branch.start("--speed", "max")
      try branch.runSuccessfully("stock", "set", "kiwi", "3000")
      try branch.runSuccessfully("pause")
      let order = try branch.launch(["juice", "order", "kiwi", "700", "--timeout", "5m", "--json"])
      try branch.waitUntil("all customers have ordered") { try branch.status().queue("issued") == 700 }
      try disk.fill()
      try branch.waitUntil("the full disk is noticed") { try branch.run("enqueue", "1000").code == 75 }
      try branch.waitUntil("resume succeeds") { try branch.launch(["resume"]).finish().code == 0 }
      #expect(try order.finish(within: .seconds(60)).code == 0)
      let status = try branch.status()
      #expect(status.queue("served") == 700 && status.queue("dead") == 0)
      #expect(try branch.stock()["kiwi"] == 900)
      try branch.expectClean()
      disk.makeRoom()
      try branch.waitUntil("the stock can be changed again") {
        try branch.launch(["stock", "set", "kiwi", "5"]).finish().code == 0
      }
      try branch.expectClean()
    }
  }
}
