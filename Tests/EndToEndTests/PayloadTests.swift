// Payloads through the built programs: given on the command line, in a file or in a list; shown by `ticket` over
// crashes and requeues; removed with the receipt; refused with a message in both languages.
import Foundation
import Testing

@Suite("Payloads", .serialized)
struct PayloadTests {
  private func payload(_ ticket: Int, of branch: ScratchBank) throws -> JSON {
    try branch.json("ticket", "\(ticket)")["payload"]
  }

  /// Services whose commands read the payload of their customers.
  private func services(_ branch: ScratchBank, more: String = "") throws -> String {
    try branch.configuration(
      deposit: 1, loan: 0, depositWork: "1ms",
      more:
        #", "services": {"echo": {"run": ["cat"], "windows": 1}, "hold": {"run": ["sleep", "60"], "windows": 1}}"#
        + more)
  }

  @Test("each customer carries a payload from text, file or standard input, shown in both languages")
  func given() throws {
    try withScratchBank { branch in
      try branch.start("--config", services(branch), "--speed", "max")
      try branch.runSuccessfully("pause")
      #expect(
        try branch.runSuccessfully("enqueue", "--service", "echo", "--payload", "안녕 'x'").out
          == "1 customer: ticket 1, day 1\n")
      let file = try branch.write("line\none", to: "text")
      #expect(
        try branch.json("enqueue", "2", "--service", "echo", "--payload-file", file)["last"].integer == 3)
      try branch.runSuccessfully("enqueue", "--service", "echo", "--payload=")
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      #expect(try payload(1, of: branch).text == "안녕 'x'")
      for ticket in 2...3 { #expect(try payload(ticket, of: branch).text == "line\none") }
      #expect(try payload(4, of: branch).text == "")
      #expect(try payload(5, of: branch) == .missing)
      #expect(try branch.runSuccessfully("ticket", "1").out.contains("payload: 10 bytes: '안녕 'x''"))
      #expect(
        try branch.runSuccessfully("ticket", "2", language: .ko).out.contains("페이로드 8바이트: 'line\\u{a}one'"))
      #expect(try !branch.runSuccessfully("ticket", "5").out.contains("payload: "))
      // Lists of tickets do not contain the payload.
      #expect(try branch.lines("tickets").allSatisfy { $0["payload"] == .missing })
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      #expect(try branch.json("ticket", "1")["state"].text == "done" && payload(1, of: branch) == .missing)
      #expect(try branch.receipts().allSatisfy { $0["payload"] == .missing })
      try branch.expectClean()
    }
  }

  @Test("binary payloads come back as base64, also from a list, and a key covers the payload, too")
  func bytes() throws {
    try withScratchBank { branch in
      try branch.start("--config", services(branch), "--speed", "max")
      try branch.runSuccessfully("pause")
      let path = branch.path("bytes")
      try Data([255, 0, 97]).write(to: URL(fileURLWithPath: path))
      try branch.runSuccessfully("enqueue", "--service", "echo", "--payload-file", path)
      #expect(
        try branch.json("ticket", "1")["payload_b64"].text == "/wBh" && payload(1, of: branch) == .missing)
      let list = try branch.write(
        #"{"service":"echo","payload":"a","key":"k1"}"# + "\n{}\n"
          + #"{"service":"echo","payload_b64":"AAE="}"# + "\n", to: "list")
      #expect(try branch.json("enqueue", "--from", list)["last"].integer == 4)
      #expect(try payload(2, of: branch).text == "a" && payload(3, of: branch) == .missing)
      #expect(try payload(4, of: branch).text == "\u{0}\u{1}")
      #expect(try branch.json("enqueue", "--from", list)["already_issued_count"].integer == 1)
      let other = try branch.write(#"{"service":"echo","payload":"b","key":"k1"}"#, to: "other")
      try branch.expectRefusal(5, "key_conflict", of: "enqueue", "--from", other)
      try branch.runSuccessfully("enqueue", "--service", "echo", "--payload", "x", "--key", "k2")
      #expect(
        try branch.json("enqueue", "--service", "echo", "--payload", "x", "--key", "k2")["known"].flag == true
      )
      try branch.expectRefusal(
        5, "key_conflict", of: "enqueue", "--service", "echo", "--payload", "y", "--key", "k2")
      try branch.expectRefusal(5, "key_conflict", of: "enqueue", "1", "--service", "echo", "--key", "k2")
      try branch.expectClean()
    }
  }

  @Test("a payload survives crashes of all processes and a restart, and is removed by cancel and reset")
  func survives() throws {
    try withScratchBank { branch in
      let file = try services(branch)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "3", "--service", "hold", "--payload", "kept")
      for attempt in 1...3 {
        try branch.waitUntilServed(by: "hold-1", ticket: 1)
        try branch.kill(worker: "hold-1")
        try branch.waitUntil("attempt \(attempt) has ended") {
          try branch.json("ticket", "1")["attempts"].items.count { $0["end"] != .null } == attempt
        }
      }
      try branch.waitUntil("customer 1 is a dead letter") {
        try branch.json("ticket", "1")["state"].text == "dead"
      }
      #expect(try payload(1, of: branch).text == "kept")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("requeue", "1")
      #expect(try payload(1, of: branch).text == "kept")
      try branch.killCoordinator()
      try branch.start("--config", file)
      for ticket in 1...3 { #expect(try payload(ticket, of: branch).text == "kept") }
      try branch.runSuccessfully("cancel", "3")
      #expect(try payload(3, of: branch) == .missing)
      try branch.runSuccessfully("stop", "--now")
      try branch.start("--config", file)
      #expect(try payload(1, of: branch).text == "kept")
      try branch.runSuccessfully("reset")
      try branch.runSuccessfully("enqueue", "2", "--service", "hold")
      #expect(try payload(1, of: branch) == .missing)
      try branch.expectClean()
    }
  }

  @Test("an invalid payload is refused with a remedy, in both languages, and adds no customer")
  func refused() throws {
    try withScratchBank { branch in
      try branch.start("--config", services(branch), "--speed", "max")
      let long = try branch.write(String(repeating: "x", count: 65_537), to: "long")
      let huge = try branch.write(String(repeating: "x", count: 1_048_577), to: "huge")
      let bad = try branch.write("{}\n" + #"{"payload_b64":"a*=="}"#, to: "bad")
      let both = try branch.write(#"{"payload":"","payload_b64":""}"#, to: "both")
      let entry = try branch.write(
        "{}\n{\"payload\":\"\(String(repeating: "x", count: 65_537))\"}", to: "entry")
      let unread = try branch.write("{}\n" + #"{"service":"deposit","payload":""}"#, to: "unread")
      let cases: [(Int32, [String], String, String)] = [
        (2, ["--payload", "a", "--payload-file", long], "--payload-file", "--payload-file"),
        (2, ["--service", "echo", "--payload-file", long], "max_payload", "max_payload"),
        (2, ["--service", "echo", "--payload-file", huge], "more than 1,048,576 bytes", "1,048,576바이트보다"),
        (4, ["--payload-file", branch.path("nothing")], "could not be read", "읽을 수 없습니다"),
        (4, ["--payload-file", branch.path("")], "could not be read", "읽을 수 없습니다"),
        (2, ["--from", bad], "character 2", "2번째 글자"),
        (2, ["--from", both], "both given", "모두 있습니다"),
        (2, ["--from", entry], "customer 2 of the list", "2번째 고객"),
        (2, ["--from", bad, "--payload", "a"], "--from", "--from"),
        (2, ["--service", "loan"], "needs N", "N"),
        (2, ["--service", "loan", "--payload", "x"], "service loan takes no payload", "대출 업무는 페이로드를"),
        (2, ["--payload", "x"], "a payload requires a service", "업무를 지정해야"),
        (2, ["--from", unread], "customer 2 of the list: service deposit", "2번째 고객: 예금 업무는"),
      ]
      for (code, arguments, english, korean) in cases {
        let outcome = try branch.launch(["enqueue"] + arguments).finish()
        #expect(outcome.code == code && outcome.err.contains(english), "\(arguments): \(outcome.story)")
        let told = try branch.launch(["enqueue"] + arguments, language: .ko).finish()
        #expect(told.code == code && told.err.contains(korean), "\(arguments): \(told.story)")
      }
      #expect(try branch.status().queue("issued") == 0)
      try branch.expectClean()
    }
  }

  @Test("the longest payloads are stored and returned, and a large request of them takes little memory")
  func large() throws {
    try withScratchBank { branch in
      let file = try services(branch, more: #", "max_payload": 1048576"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("pause")
      let text = String(repeating: "0123456789abcdef", count: 65_536)
      let most = try branch.write(text, to: "most")
      try branch.runSuccessfully(
        "enqueue", "100", "--service", "echo", "--payload-file", most, timeout: .seconds(60))
      let list = try branch.write(
        String(repeating: "{\"service\":\"echo\",\"payload\":\"\(text)\"}\n", count: 3), to: "list")
      try branch.runSuccessfully("enqueue", "--from", list, timeout: .seconds(120))
      for ticket in [1, 51, 100, 103] { #expect(try payload(ticket, of: branch).text == text, "\(ticket)") }
      let status = try String(contentsOfFile: "/proc/\(branch.status().pid)/status", encoding: .utf8)
      let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        .flatMap { Int($0.filter(\.isNumber)) }
      #expect(try #require(peak) < 80_000, "in kilobytes")
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait", timeout: .seconds(60))
      try branch.expectClean()
    }
  }
}
