// Workers with several customers in hand whose payloads are near the bound and six times as long as JSON: none of them is sent
// away for what the bank has sent, and each customer is served in the first attempt.
import Foundation
import Glibc
import Testing

@Suite("Large payloads", .serialized) struct LargePayloadTests {
  @Test("a worker gets sixteen of a mebibyte each, at a window and by itself", arguments: [false, true])
  func sixteenInHand(isOutside: Bool) throws {
    try withBranch { branch in
      let worker = try branch.write(try DocumentedWorkers.program("python"), to: "worker.py")
      let marked = #""env", "\#(ProcessTable.mark)=\#(branch.path("").dropLast())""#
      let kind =
        isOutside ? #""outside": true"# : #""worker": [\#(marked), "python3", "\#(worker)"], "windows": 1"#
      let file = try branch.write(
        """
        {"services": {"large": {\(kind), "max_attempts": 1, "prefetch": 16, "lease": "30s"}},
         "max_payload": 1048576, "windows": {"deposit": 0, "loan": 0, "juice": 0}}
        """, to: "bank.json")
      try branch.start("--config", file)
      try branch.done("pause", "large")
      let payload = branch.path("payload")
      _ = FileManager.default.createFile(atPath: payload, contents: Data(repeating: 1, count: 1 << 20))
      try branch.done("enqueue", "16", "--service", "large", "--payload-file", payload)
      let program =
        isOutside
        ? try branch.launch([worker, branch.home + "/run/worker.sock", "large"], program: "/usr/bin/python3")
        : nil
      try branch.waitUntil("the worker is there") {
        try branch.status().workers.contains {
          $0.role == (isOutside ? "outside" : "worker") && $0.state == "idle"
        }
      }
      // All of them are handed out in one moment.
      try branch.done("resume", "large")
      try branch.done("wait", "--timeout", "100s", timeout: .seconds(110))
      try branch.expectOneReceiptEach(16)
      #expect(try branch.receipts().allSatisfy { $0["attempts"].integer == 1 })
      #expect(try branch.status().queue("dead") == 0)
      try branch.done("stop", timeout: .seconds(60))
      #expect(try program?.finish().code ?? 0 == 0)
      try branch.expectNobodyLeft()
    }
  }
}
