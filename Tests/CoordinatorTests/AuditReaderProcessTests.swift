// The process that reads the rows for an audit, played by a script that reports its findings and then stays.
// It is ended after the report, and belongs to the bank until it is reaped.

import BankModel
import Glibc
import Posix
import QueueCore
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("The reader of the rows for an audit")
struct AuditReaderProcessTests {
  @Test("it is ended when the rows are reported, and counts as the bank's process until it is reaped")
  func told() async {
    await #expect(processExitsWith: .success) {
      let bank = try TestBank()
      let loop = bank.coordinator.context.loop
      var report = AuditReport(StoreAudit())
      report.issued = 7
      var said: [UInt8] = []
      try FrameEncoder().append(
        BankMessage.reply(ControlReply(number: 1, answer: .audit(report))), to: &said,
        limit: FrameLimits.control)
      let program = bank.home + "/run/reader"
      try Self.write(said, to: program + ".said", mode: 0o600)
      try Self.write(
        Array("#!/bin/sh\n/bin/cat '\(program).said' >&3\nexec /bin/sleep 1000\n".utf8), to: program,
        mode: 0o700)
      var heard: [AuditReport?] = []
      let count = try AuditReaderProcess(
        home: BankHome(bank.home), program: program, environment: [:], loop: loop
      ) { heard.append($0) }
      bank.coordinator.audits.register(count)
      let pid = try #require(count.pid)
      defer { kill(pid, SIGKILL) }
      #expect(bank.coordinator.audits.knownProcesses.contains(pid))
      let deadline = SystemClock.monotonic() + .seconds(120)
      while heard.isEmpty || count.pid != nil, SystemClock.monotonic() < deadline {
        try loop.runOnce(until: deadline)
      }
      #expect(heard == [report])
      #expect(count.pid == nil && !ProcessTable.alive(pid))
      #expect(!bank.coordinator.audits.knownProcesses.contains(pid))
    }
  }

  private static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws {
    let file = try FileDescriptor.open(path, [.writeOnly, .create], mode: mode)
    try file.writeAll(bytes)
    try file.close()
  }
}
