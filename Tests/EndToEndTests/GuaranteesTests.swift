// Examples of the guarantees page, run as printed: with the customer's key every effect happens once, although the
// workers are killed at the worst moments.
import Foundation
import Glibc
import Testing

private let python = "/usr/bin/python3"

@Suite("Guarantees", .serialized)
struct GuaranteesTests {
  /// Fenced blocks of the page in this language.
  private func blocks(_ language: String) throws -> [String] {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let page = root.appendingPathComponent("Sources/CommandExecutor/CommandExecutor.docc/Promises.md")
    let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```")
    return parts.enumerated().filter { $0.offset % 2 == 1 && $0.element.hasPrefix(language + "\n") }
      .map { String($0.element.dropFirst(language.utf8.count + 1)) }
  }

  /// Configuration of the page whose commands record their start and end. They hang in their first attempt.
  private func slowed(_ block: String, _ branch: ScratchBank, _ more: [String: Any]) throws -> String {
    let document = try #require(try JSONSerialization.jsonObject(with: Data(block.utf8)) as? [String: Any])
    var services = try #require(document["services"] as? [String: [String: Any]])
    let name = try #require(services.keys.first)
    let arguments = try #require(services[name]?["run"] as? [String])
    let script = """
      echo "$BANK_KEY" >> \(branch.path("starts")); "$@"; code=$?; echo "$BANK_TICKET" >> \(branch.path("ends"))
      [ "$BANK_ATTEMPT" != 1 ] || sleep 1000; exit $code
      """
    services[name]?["run"] = ["sh", "-c", script, "sh"] + arguments
    services[name]?["retries"] = ["max_crashes": 1_000]
    services[name]?.merge(more) { $1 }
    let text = try JSONSerialization.data(withJSONObject: [
      "services": services, "windows": ["deposit": 0, "loan": 0, "juice": 0],
    ])
    return try branch.write(String(decoding: text, as: UTF8.self), to: "bank.json")
  }

  private func lines(_ name: String, _ branch: ScratchBank) -> [String] {
    ((try? String(contentsOfFile: branch.path(name), encoding: .utf8)) ?? "").split(separator: "\n").map(
      String.init)
  }

  /// Kills the worker of every customer once: of every third one right after the start, of the others after the command
  /// has ended and before the bank knows it. No first attempt ends in another way.
  private func kill(_ branch: ScratchBank, until served: Int) throws {
    var killed: Set<Int> = []
    try branch.waitUntil("all customers are served", within: .seconds(60)) {
      guard let status = try branch.statusIfAnswered() else { return false }
      let ended = Set(lines("ends", branch))
      for worker in status.workers where worker.role == "runner" && worker.state == "serving" {
        guard let ticket = worker.ticket, !killed.contains(ticket),
          ended.contains("\(ticket)") || killed.count % 3 == 0
        else { continue }
        if branch.processes.signal(worker.pid, SIGKILL) { killed.insert(ticket) }
      }
      return status.queue("served") == served
    }
  }

  /// Expects one receipt for each customer, with its own key, under which every attempt was started.
  private func expectGuarantees(_ branch: ScratchBank, _ count: Int) throws -> Set<String> {
    let told = try (1...count).compactMap { try branch.json("ticket", "\($0)")["key"].text }
    #expect(Set(told).count == count)
    let starts = lines("starts", branch)
    #expect(Set(starts) == Set(told), "the same key in every attempt")
    #expect(starts.count > count, "customers were started again")
    try branch.expectOneReceiptEach(count)
    #expect(try branch.json("audit")["ok"].flag == true)
    return Set(told)
  }

  @Test("the SQLite example makes every effect once, whichever process is killed")
  func database() throws {
    try withScratchBank { branch in
      _ = try branch.write(try #require(try blocks("python").first), to: "pay.py")
      let block = try #require(try blocks("json").first)
      try branch.start("--config", try slowed(block, branch, ["directory": branch.path("")]))
      for amount in 1...12 {
        try branch.runSuccessfully("enqueue", "--service", "pay", "--payload", "\(amount)")
      }
      try kill(branch, until: 12)
      _ = try expectGuarantees(branch, 12)
      let look = """
        import sqlite3
        shop = sqlite3.connect("\(branch.path("shop.db"))")
        print(*[row[0] for row in shop.execute("SELECT amount FROM payments ORDER BY amount")])
        print(shop.execute("SELECT count(*) FROM done").fetchone()[0])
        """
      let seen = try branch.launch(["-c", look], program: python).finish()
      #expect(seen.outLines == [(1...12).map { "\($0)" }.joined(separator: " "), "12"], seen.story)
      let results = try branch.receipts().compactMap(\.["result"].text)
      #expect(results.count == 12 && results.allSatisfy { ["paid\n", "was paid before\n"].contains($0) })
      #expect(results.contains("was paid before\n"), "a worker was killed after the effect")
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  /// Server that records the key and the body of each request, and applies the effect of each new key.
  private static let server = """
    import http.server, sys
    known = {}
    class Charges(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            key = self.headers["Idempotency-Key"]
            with open(sys.argv[1], "a") as log: log.write(f"{'again' if key in known else 'charged'} {key} {body}\\n")
            answer = known.setdefault(key, f"charged {body}").encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        def log_message(self, *words): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Charges)
    print(server.server_address[1], flush=True)
    server.serve_forever()
    """

  @Test("the example with a header sends the same key in every attempt, whichever process is killed")
  func network() throws {
    try withScratchBank { branch in
      let server = try branch.launch(["-c", Self.server, branch.path("charges")], program: python)
      try branch.waitUntil("the server listens") { server.lines.count == 1 }
      let block = try #require(try blocks("json").last)
      let environment = ["CHARGES": "http://127.0.0.1:\(server.lines[0])/charges"]
      try branch.start(
        "--config", try slowed(block, branch, ["environment": environment, "windows": 2]))
      for amount in 1...12 {
        try branch.runSuccessfully("enqueue", "--service", "charge", "--payload", "\(amount)")
      }
      try kill(branch, until: 12)
      let keys = try expectGuarantees(branch, 12)
      let requests = try String(contentsOfFile: branch.path("charges"), encoding: .utf8).split(
        separator: "\n"
      )
      .map { $0.split(separator: " ").map(String.init) }
      let charged = requests.filter { $0[0] == "charged" }
      #expect(requests.count > 12, "a worker was killed after the effect")
      #expect(Set(charged.map { $0[1] }) == keys && charged.count == 12)
      #expect(Set(charged.map { $0[2] }) == Set((1...12).map { "\($0)" }))
      let results = try branch.receipts().compactMap(\.["result"].text)
      #expect(Set(results) == Set((1...12).map { "charged \($0)" }))
      server.signal(SIGTERM)
      _ = try server.finish()
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("every configuration on the page is valid")
  func configurations() throws {
    try withScratchBank { branch in
      let all = try blocks("json")
      #expect(all.count == 2)
      for block in all {
        try branch.runSuccessfully("config", "check", try branch.write(block, to: "page.json"))
      }
    }
  }
}
