// Owns how many customers a second are served when their work takes no time: what is left is the bank's own doing.
// The queue is filled before, the windows are opened at once, and the clock stops when nobody waits or is served.
// Logging is on as by default: two lines a customer. Failure: BenchFailure.

import BankModel
import ControlClient
import Posix
import Wire

extension Bench {
  func measureServing() throws(BenchFailure) {
    try measureServing("served, 2 deposit and 1 loan teller", BankSetting(), shares: [.deposit: 2, .loan: 1])
    try measureServing("served, 3 deposit tellers", BankSetting(deposit: 3, loan: 0), shares: [.deposit: 3])
  }

  private func measureServing(
    _ name: String, _ setting: BankSetting, shares: [Service: Int64]
  ) throws(BenchFailure) {
    let bank = try BenchBank(self, setting)
    try bank.ask(.pause(nil))
    let customers = thoroughness.served / 3 * 3
    var spent: [Double] = []
    let limit = { () throws(BenchFailure) in try self.tripsPerSecond(for: self.thoroughness.span / 4) }
    let (samples, ratios) = try rounds(beside: limit) { () throws(BenchFailure) in
      for (service, share) in shares { try bank.enqueue(customers / 3 * share, service) }
      let before = ProcessFacts.processorTime(of: bank.pid)
      let time = try Self.time { () throws(BenchFailure) in
        try bank.ask(.resume(nil))
        try bank.ask(.awaitIdle)
      }
      spent.append((ProcessFacts.processorTime(of: bank.pid) - before) * 1e6 / Double(customers))
      try bank.ask(.pause(nil))
      return Double(customers) / time.seconds
    }
    try bank.discard()
    let ratio = "\(Figure.text(ratios.median)) of the ping-pong beside it"
    let cost = "coordinator \(Figure.text(Samples(spent).median)) µs of a core a customer"
    add("serve", name, "/s", samples, target: .atLeast(50_000), note: [ratio, cost].joined(separator: "; "))
  }
}
