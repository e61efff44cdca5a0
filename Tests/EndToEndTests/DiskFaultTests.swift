// Disk faults: it is full, or its fsync fails, or the coordinator is killed during one. A refusal changes nothing, what
// was acknowledged is never lost, and every customer is served exactly once.
import Foundation
import Glibc
import Testing

@Suite("Disk faults", .serialized)
struct DiskFaultTests {
  @Test(
    "disk full while customers come: they are refused, none is lost, and service continues with free space",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement))
  func fullWhileEnqueuing() throws {
    try withScratchBank { branch in
      let disk = try SmallDisk(kibibytes: 12 << 10, under: branch)
      let file = try branch.configuration(depositWork: "2ms", loanWork: "2ms")
      try branch.start("--config", file)
      var issued = try branch.json("enqueue", "300")["count"].integer ?? 0
      try disk.fill()
      var refusals = 0
      for _ in 1...40 where refusals < 3 {
        let outcome = try branch.run("enqueue", "200", "--json")
        if outcome.code == 0 {
          issued += 200
          continue
        }
        #expect(outcome.code == 75, outcome.story)
        #expect(try outcome.json()["error"]["code"].text == "disk_full", outcome.story)
        let status = try branch.status()
        #expect(status.queue("issued") == issued, "a refused request adds no customer")
        #expect(status.isBalanced)
        refusals += 1
      }
      #expect(refusals == 3, "\(disk.free) bytes are free")
      disk.makeRoom()
      try branch.waitUntil("customers are accepted again") { try branch.run("enqueue", "10").code == 0 }
      issued += 10
      try branch.runSuccessfully("wait")
      #expect(try branch.status().queue("served") == issued)
      try branch.expectOneReceiptEach(issued)
      try branch.expectClean()
      #expect(try branch.json("stop")["served"].integer == issued)
      try branch.expectClean()
    }
  }

  @Test(
    "disk full while customers are served: all are served once, at the latest when there is space",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement), arguments: [false, true])
  func fullWhileServing(isKilled: Bool) throws {
    try withScratchBank { branch in
      let disk = try SmallDisk(kibibytes: 12 << 10, under: branch)
      let file = try branch.configuration(depositWork: "3ms", loanWork: "3ms")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "400")
      try branch.waitUntil("some customers are served") { try branch.status().queue("served") > 20 }
      try disk.fill()
      try branch.waitUntil("new customers are refused, or all customers are served") {
        try branch.status().queue("served") == 400 || branch.run("enqueue", "1000").code == 75
      }
      let issued = try branch.status().queue("issued")
      #expect(try branch.status().isBalanced)
      // A served customer that was not acknowledged is served again; still no customer has two receipts.
      if isKilled { try branch.killCoordinator() }
      disk.makeRoom()
      if isKilled { try branch.reopen("--config", file) }
      try branch.runSuccessfully("wait")
      #expect(try branch.status().queue("issued") == issued)
      try branch.expectOneReceiptEach(issued)
      try branch.expectClean()
    }
  }

  @Test(
    "a coordinator whose n-th fsync fails, or that is killed there, loses nothing, for every n of a short day",
    .enabled(if: FaultInjection.isPossible, FaultInjection.requirement),
    arguments: [FaultInjection.Fault.inputOutputError, .killed])
  func sync(fault: FaultInjection.Fault) throws {
    var number = 0
    var isClean = false
    while !isClean {
      number += 1
      try #require(number <= 40, "a short day has few commits")
      try withScratchBank { branch in isClean = try day(branch, with: fault, at: number) }
    }
    #expect(number > 3, "five tickets, their receipts and the end of the day need at least three syncs")
  }

  /// Five customers come, are served, and the bank closes.
  ///
  /// - Returns: True if the fault hit no sync.
  private func day(_ branch: ScratchBank, with fault: FaultInjection.Fault, at number: Int) throws -> Bool {
    try branch.start("--speed", "max")
    let pid = try branch.status().pid
    let tracer = try FaultInjection.attach(fault, at: number, to: branch)
    let enqueue = try branch.launch(["enqueue", "5", "--key", "five", "--json"])
    try branch.waitUntil("the enqueue or the coordinator has exited") {
      !enqueue.isRunning || !branch.processes.isAlive(pid)
    }
    // Each of these may find the bank closed, or lose it while running.
    let wait = try branch.launch(["wait"])
    try branch.waitUntil("the wait or the coordinator has exited") {
      !wait.isRunning || !branch.processes.isAlive(pid)
    }
    let stop = try branch.processes.isAlive(pid) ? branch.launch(["stop", "--json"]) : nil
    try branch.waitUntil("the coordinator has exited") { !branch.processes.isAlive(pid) }
    let trace = try tracer.finish()
    let wasHit = trace.err.contains("INJECTED") || trace.err.contains("killed by SIGKILL")
    if wasHit {
      // They must not connect to the next coordinator.
      wait.end()
      stop?.end()
    } else {
      let outcome = try stop?.finish()
      #expect(outcome?.code == 0, outcome?.story ?? "the bank has exited by itself")
    }
    // After the last receipt only the log remains to be copied, and a failure of that is not an error of the day.
    if wasHit, fault == .inputOutputError, stop == nil || !trace.err.contains("exited with 0") {
      #expect(trace.err.contains("exited with 1"), "\(trace)")
      #expect(branch.events("store_failed", in: "coordinator").count == 1, "\(branch.log("coordinator"))")
    }
    try branch.reopen("--speed", "max")
    let first = try enqueue.finish()
    let again = try branch.json("enqueue", "5", "--key", "five")
    #expect(again["count"].integer == 5 && again["first"].integer == 1, "\(again)")
    if first.code == 0 {
      #expect(
        try first.json().tickets == again.tickets && again.wasAlreadyIssued,
        "the same key returns the same tickets")
    }
    try branch.runSuccessfully("wait")
    try branch.expectOneReceiptEach(5, day: again["day"].integer ?? 0)
    #expect(try branch.receipts().count == 5)
    try branch.expectClean()
    try branch.runSuccessfully("stop")
    try branch.expectClean()
    return !wasHit
  }

  @Test(
    "a coordinator killed at any fsync of its first start leaves a home that opens",
    .enabled(if: FaultInjection.isPossible, FaultInjection.requirement))
  func creation() throws {
    for number in 1...50 {
      var isClean = false
      try withScratchBank { branch in
        let start = try FaultInjection.open(.killed, at: number, branch)
        try branch.waitUntil("the bank is open, or has failed to open") {
          try !start.isRunning || branch.run("status").code == 0
        }
        isClean = start.isRunning
        guard !isClean else { return }
        try branch.reopen("--speed", "max")
        try branch.runSuccessfully("enqueue", "3", "--wait")
        try branch.expectOneReceiptEach(3)
        try branch.expectClean()
      }
      if isClean { return }
    }
    Issue.record("an empty home opens with fewer than fifty syncs")
  }
}
