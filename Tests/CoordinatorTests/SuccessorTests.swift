// The successor of a process that had ended before it was asked to go. That end was not settled, because its
// children still held its channel.

import BankModel
import Configuration
import Glibc
import Logging
import Posix
import Supervision
import Testing
import Time

@testable import Coordinator

@Suite("The successor of a process that has ended", .timeLimit(.minutes(5)))
struct SuccessorTests {
  private let loop: EventLoop
  private let log: LogFile

  init() throws {
    loop = try EventLoop()
    log = try LogFile(path: "/dev/null", worker: "coordinator", generation: 1, limit: 0, keep: 0)
  }

  private func run(_ keepTime: (Moment) -> Void, until condition: () -> Bool) throws {
    while !condition() {
      try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(20))
      keepTime(loop.moment())
    }
  }

  @Test("a service is not ended by a request that its predecessor got after its end")
  func service() throws {
    let tellerSupervisor = ServiceSupervisor(loop: loop, log: log, policy: RestartPolicy(), seed: 1)
    tellerSupervisor.open(
      SupervisedService.Specification(
        name: "stock", peerRole: .stock, workerRole: .stock, program: "/bin/sh",
        arguments: ["-c", "sleep 0.5 & exit 0"]),
      at: loop.moment())
    let slot = tellerSupervisor.slots[0]
    while slot.exitStatus == nil { try loop.runOnce(until: nil) }
    try #require(slot.generation == 1 && slot.channel != nil)
    tellerSupervisor.replace(slot, at: loop.moment())
    try #require(slot.killAt != nil)
    try run(tellerSupervisor.runTimers) { slot.generation > 1 }
    #expect(slot.killAt == nil)
    tellerSupervisor.closeAll(at: loop.moment())
    tellerSupervisor.killAll()
    try run(tellerSupervisor.runTimers) { tellerSupervisor.count == 0 }
  }

  @Test("a teller is not ended by it either")
  func teller() throws {
    let directory = "/tmp/bank-successor-\(CurrentProcess.pid)-\(RandomSeed.fromSystem())"
    try Directory.create(path: directory)
    let program = directory + "/bank-teller"
    defer {
      unlink(program)
      rmdir(directory)
    }
    // Another process writes it: a child that a concurrent test starts just then would inherit the
    // descriptor, and a program that is open for writing cannot be run.
    let words = "printf '#!/bin/sh\\nsleep 0.5 & exit 0\\n' > '\(program)' && chmod 700 '\(program)'"
    let writer = try ChildProcess.spawn(
      executable: "/bin/sh", arguments: ["-c", words], environment: Environment.all())
    #expect(writer.wait().isSuccess)
    let tellerSupervisor = TellerSupervisor(
      home: directory, loop: loop, log: log, programs: ProgramPaths(in: directory),
      services: ServiceDirectory(),
      policy: RestartPolicy(), seed: 1)
    tellerSupervisor.hasOpened = true
    let window = Window(service: .deposit, place: 1)
    tellerSupervisor.open(window, at: loop.moment())
    let slot = try #require(tellerSupervisor.slots[window])
    while slot.exitStatus == nil { try loop.runOnce(until: nil) }
    try #require(slot.generation == 1 && slot.channel != nil)
    tellerSupervisor.dismiss(window, at: loop.moment())
    try #require(slot.killAt != nil)
    try run(tellerSupervisor.runTimers) { slot.generation > 1 }
    #expect(slot.killAt == nil)
    tellerSupervisor.closeAll()
    tellerSupervisor.killAll()
    try run(tellerSupervisor.runTimers) { tellerSupervisor.isEmpty }
  }
}
