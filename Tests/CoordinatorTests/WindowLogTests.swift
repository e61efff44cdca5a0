// Lines of the coordinator's log about the process at a window.

import BankModel
import Posix
import Testing
import Time

@testable import Coordinator

@Suite("Log lines about the process at a window")
struct WindowLogTests {
  private func keys(of line: Substring) -> [String] {
    line.matches(of: /(?:^| )([a-z_]+)=/).map { String($0.output.1) }
  }

  @Test("a stuck teller and one that violates the protocol are named beside the coordinator, no field twice")
  func killed() throws {
    let bank = try TestBank()
    let supervisor = bank.coordinator.tellerSupervisor
    let window = Window(service: .deposit, place: 1)
    let slot = supervisor.add(window)
    let child = try ChildProcess.spawn(
      executable: "/bin/sleep", arguments: ["1000"], environment: Environment.all())
    defer { child.end() }
    (slot.child, slot.generation) = (child, 7)
    supervisor.abort(window, 7, at: SystemClock.moment())
    supervisor.expel(window, 7, reason: "sent a message out of turn", at: SystemClock.moment())
    for event in ["stuck", "protocol_violation"] {
      let line = try #require(bank.log.split(separator: "\n").first { $0.contains(" event=\(event) ") })
      let keys = keys(of: line)
      #expect(Set(keys).count == keys.count, "\(line)")
      #expect(line.contains(" worker=coordinator pid=\(CurrentProcess.pid) gen=1 "), "\(line)")
      #expect(line.contains(" window=deposit-1 child=\(child.pid) child_gen=7"), "\(line)")
    }
  }
}
