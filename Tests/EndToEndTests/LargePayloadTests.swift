// Workers that hold several customers with payloads near the limit, whose JSON is six times as long: none of them is
// disconnected for data that the bank has sent, and each customer is served in its first attempt.
import Foundation
import Glibc
import Testing

@Suite("Large payloads", .serialized) struct LargePayloadTests {
  @Test(
    "a worker receives twelve payloads of one mebibyte at once, at a window and as an outside worker",
    arguments: [false, true])
  func twelveInHand(isOutside: Bool) throws {
    try withScratchBank { branch in
      // The results are short: this test covers the direction to the worker.
      let program = try DocumentedWorkers.program("python")
        .replacingOccurrences(of: #"customer.get("payload", "").upper()"#, with: #""""#)
      #expect(!program.contains("upper"))
      let worker = try branch.write(program, to: "worker.py")
      let marked = #""env", "\#(ProcessTable.mark)=\#(branch.path("").dropLast())""#
      let kind =
        isOutside ? #""outside": true"# : #""worker": [\#(marked), "python3", "\#(worker)"], "windows": 1"#
      let file = try branch.write(
        """
        {"services": {"large": {\(kind), "max_attempts": 1, "prefetch": 12, "lease": "60s"}},
         "max_payload": 1048576, "windows": {"deposit": 0, "loan": 0, "juice": 0}}
        """, to: "bank.json")
      try branch.start("--config", file)
      try branch.runSuccessfully("pause", "large")
      let payload = branch.path("payload")
      _ = FileManager.default.createFile(atPath: payload, contents: Data(repeating: 1, count: 1 << 20))
      try branch.runSuccessfully("enqueue", "12", "--service", "large", "--payload-file", payload)
      let outsider =
        isOutside
        ? try branch.launch([worker, branch.home + "/run/worker.sock", "large"], program: "/usr/bin/python3")
        : nil
      try branch.waitUntil("the worker has connected") {
        try branch.status().workers.contains {
          $0.role == (isOutside ? "outside" : "worker") && $0.state == "idle"
        }
      }
      // All customers are assigned at once.
      try branch.runSuccessfully("resume", "large")
      try branch.runSuccessfully("wait", "--timeout", "280s", timeout: .seconds(290))
      try branch.expectOneReceiptEach(12)
      #expect(try branch.receipts().allSatisfy { $0["attempts"].integer == 1 })
      #expect(try branch.status().queue("dead") == 0)
      try branch.runSuccessfully("stop", timeout: .seconds(60))
      #expect(try outsider?.finish().code ?? 0 == 0)
      try branch.expectNoProcessesLeft()
    }
  }
}
