// Clients that violate the protocol lose their own connection and affect nothing else. Every test ends with the same
// check of the bank: it serves, its audit is clean, its processes are the same, and nothing has leaked.
import Foundation
import Glibc
import Testing

private let hello = Message.hello().frame

private let belowZero = Message.request(1, 4, .fields([(1, .number(1)), (3, .number(3)), (6, .number(-1))]))

/// Bytes to send, number of the reason, and expected text of the refusal.
private let brokenRules: [(String, [UInt8], UInt8, String)] = [
  ("noise", [0xDE, 0xAD, 0xBE, 0xEF] + Array(repeating: 0x55, count: 500), 4, "exceeds the limit"),
  ("another protocol", Array("GET / HTTP/1.1\r\n\r\n".utf8), 4, "exceeds the limit"),
  ("a frame of 1.25 MiB and a byte", Message.length(5 << 18 + 1), 4, "exceeds the limit"),
  ("an empty frame", Message.length(0), 4, "empty"),
  ("deeply nested lists", Message.frame(Array(repeating: 0x81, count: 60_000)), 4, "are nested"),
  ("a frame that is not a message", Message.frame([0x05]), 4, "malformed"),
  ("a newer version", Message.hello(version: 9, more: [(7, .text("new"))]).frame, 1, "version 9"),
  ("a version before the first", Message.hello(version: 0).frame, 1, "version 0"),
  ("a teller at the control socket", Message.hello(role: 2).frame, 3, "clients"),
  ("a request before hello", Message.request(1, 1).frame, 3, "before the hello"),
  ("a second hello", hello + hello, 4, "second hello"),
  ("an unknown request", hello + Message.request(1, 99).frame, 4, "malformed"),
  ("two requests in one", hello + Message.frame([0xA2]), 4, "malformed"),
  ("a seed below zero", hello + belowZero.frame, 4, "fit"),
  (
    "two lists at once",
    hello + Message.list(1, customers: 1, isLast: false).frame
      + Message.list(2, customers: 1, isLast: false).frame, 4, "two lists"
  ),
  (
    "a request within a list",
    hello + Message.list(1, customers: 1, isLast: false).frame + Message.request(2, 1).frame, 4,
    "between the parts"
  ),
]

@Suite("Hostile clients", .serialized)
struct HostileClientTests {
  @Test(
    "a protocol violation is refused with its reason, and the connection is closed",
    arguments: brokenRules)
  func rules(name: String, bytes: [UInt8], reason: UInt8, message: String) throws {
    try withOpenBank { branch in
      let client = try RawClient(branch)
      client.send(bytes)
      let answer = client.listen()
      #expect(answer.hasEnded, "\(name)")
      let refusal = try #require(answer.refusal, "\(name): \(answer)")
      #expect(refusal.reason == reason, "\(name): \(refusal)")
      #expect(refusal.words.contains(message), "\(name): \(refusal)")
    }
  }

  @Test("requests sent before a violation are answered first")
  func answersFirst() throws {
    try withOpenBank { branch in
      let client = try RawClient(branch)
      client.send(hello + Message.request(1, 1).frame + Message.request(2, 1).frame + Message.frame([0x05]))
      let answer = client.listen()
      #expect(answer.replies.count == 2 && answer.refusal?.reason == 4, "\(answer)")
    }
  }

  @Test("a request beyond a limit is refused by itself, and the connection stays open")
  func limits() throws {
    try withOpenBank { branch in
      func enqueue(_ count: Int64, amount: Int64 = 5) -> Message {
        .fields([(1, .number(count)), (3, .number(3)), (4, .number(amount)), (6, .number(1))])
      }
      let requests: [(Int64, Message)] = [
        (4, enqueue(0)), (4, enqueue(-1)), (4, enqueue(.max)), (4, enqueue(1, amount: -5)),
        (7, .fields([(1, .number(.max))])), (7, .fields([(1, .number(.min))])),
        (7, .fields([(1, .number(1)), (2, .number(.max))])),
        (8, .fields([(1, .number(.max)), (2, .flag(false)), (3, .number(0))])),
        (11, .fields([(1, .number(1)), (2, .number(.min)), (3, .number(.max))])),
        (14, .list([.fields([(1, .text("deposit")), (2, .number(.max))])])),
        (14, .list(Array(repeating: .fields([(1, .text("loan")), (2, .number(2))]), count: 50_000))),
        (15, .number(.max)), (15, .number(.min)), (16, .number(0)),
        (20, .fields([(1, .flag(false)), (2, .number(-5))])),
      ]
      let client = try RawClient(branch)
      client.send(hello)
      for (index, request) in requests.enumerated() {
        client.send(Message.request(Int64(index), request.0, request.1).frame)
      }
      for part in [
        Message.list(90, customers: 2, amount: -5, isLast: true), .list(91, customers: 0, isLast: true),
        .list(92, customers: 2_001, isLast: true),
      ] { client.send(part.frame) }
      let answer = client.listen(until: 1 + requests.count + 3)
      #expect(answer.replies.count == requests.count + 3, "\(answer)")
      // A failure is the first kind of reply.
      let failures = answer.replies.count { reply in
        reply.contains(Array("bad_request".utf8)) || reply.contains(Array("no_such".utf8))
      }
      #expect(failures == requests.count + 3)
      #expect(try branch.status().queue("issued") == 0)
    }
  }

  @Test(
    "a client that is silent or stops within a message is disconnected after a while; no other client waits")
  func silence() throws {
    try withOpenBank { branch in
      let silent = try RawClient(branch, patience: 20)
      let half = try RawClient(branch, patience: 20)
      half.send([0, 0, 1, 0, 1, 2, 3])
      let stalled = try RawClient(branch, patience: 20)
      stalled.send(hello + [0, 0])
      try branch.runSuccessfully("enqueue", "2", "--wait")
      for client in [silent, half] {
        let answer = client.listen()
        #expect(answer.hasEnded && answer.refusal?.reason == 3, "\(answer)")
      }
      let answer = stalled.listen()
      #expect(answer.hasEnded && answer.refusal?.words.contains("middle of a frame") == true, "\(answer)")
    }
  }

  @Test("with a thousand silent or hostile connections at once the bank continues to serve")
  func crowd() throws {
    let files = Self.openFiles()
    try withOpenBank { branch in
      var clients: [RawClient] = []
      for index in 0..<min(1_000, files / 2 - 100) {
        let client = try RawClient(branch)
        switch index % 4 {
        case 0: client.send([UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 64))
        case 1: client.send(hello)
        case 2: client.send(hello + [0, 0, 1])
        default: break
        }
        clients.append(client)
      }
      try branch.runSuccessfully("enqueue", "20", "--wait", timeout: .seconds(10))
      #expect(try branch.status().queue("served") == 20)
      withExtendedLifetime(clients) {}
    }
  }

  @Test(
    "above two thousand connections a client is refused as crowded, and is served when one has closed",
    .enabled(if: Self.openFiles() > 4_200))
  func crowded() throws {
    try withOpenBank { branch in
      var clients = try (0..<2_000).map { _ in
        let client = try RawClient(branch)
        client.send(hello)
        return client
      }
      #expect(
        clients[1_999].listen(until: 1).frames.count == 1, "the last client within the limit is welcomed")
      let late = try RawClient(branch).listen()
      #expect(late.hasEnded && late.refusal?.reason == 5, "\(late)")
      let outcome = try branch.run("status")
      #expect(outcome.code == 75, outcome.story)
      clients.removeLast(1_000)
      try branch.waitUntil("there is room for a connection again") { try branch.run("status").code == 0 }
      withExtendedLifetime(clients) {}
    }
  }

  @Test("endless answers are limited for each connection; earlier requests are still answered")
  func openAnswers() throws {
    try withOpenBank { branch in
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "1")
      let client = try RawClient(branch)
      client.send(hello)
      // Four followers and one too many; the highest number of waiting requests beside them, and four too many.
      for number in 1...5 { client.send(Message.request(Int64(number), 9).frame) }
      for number in 6...261 { client.send(Message.request(Int64(number), 10).frame) }
      let answer = client.listen(until: 1 + 5)
      #expect(answer.replies.count == 5, "\(answer)")
      #expect(answer.replies.allSatisfy { $0.contains(Array("bad_request".utf8)) }, "\(answer)")
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      // A start and an end for each follower.
      #expect(
        client.listen(until: 252 + 8).replies.count == 252 + 8,
        "the other requests receive the customer's events")
    }
  }

  @Test("clients that never read their answers use a bounded amount of memory, and delay no other client")
  func deaf() throws {
    try withOpenBank { branch in
      try branch.runSuccessfully("enqueue", "1500", "--wait")
      let before = Self.residentKilobytes(try branch.status().pid)
      var asking: [UInt8] = []
      for number in 1...200 {
        let query = Message.fields([(1, .number(-1)), (2, .flag(false)), (3, .number(0))])
        asking += Message.request(Int64(number), 8, query).frame
      }
      // Each has forty megabytes of answers pending.
      let clients = try (0..<30).map { _ in try RawClient(branch) }
      for client in clients { _ = client.sendAvailable(hello + asking) }
      for _ in 1...3 { try branch.runSuccessfully("enqueue", "5", "--wait", timeout: .seconds(20)) }
      let grown = Self.residentKilobytes(try branch.status().pid) - before
      #expect(grown < 30 * 1_024, "the coordinator has grown by \(grown) kB")
      withExtendedLifetime(clients) {}
    }
  }

  @Test("twenty thousand requests at once are all answered, and other clients are served meanwhile")
  func flood() throws {
    try withOpenBank { branch in
      let client = try RawClient(branch, patience: 30)
      client.send(hello)
      #expect(client.listen(until: 1).frames.count == 1)
      var requests: [UInt8] = []
      for number in 1...20_000 { requests += Message.request(Int64(number), 16, .number(0)).frame }
      // The rest is sent in portions, between the answers.
      var sent = 0
      var answered = 0
      while answered < 20_000 {
        if sent < requests.count {
          sent += client.sendAvailable(Array(requests[sent...].prefix(64 << 10)))
        }
        if sent == requests.count || answered == 0 { try branch.runSuccessfully("enqueue", "1", "--wait") }
        let more = client.listen(until: min(2_000, 20_000 - answered))
        answered += more.replies.count
        if more.hasEnded || more.frames.isEmpty { break }
      }
      #expect(answered == 20_000)
    }
  }

  @Test("a client that disconnects in the middle of a list adds no customer")
  func vanish() throws {
    try withOpenBank { branch in
      for _ in 1...10 {
        let client = try RawClient(branch)
        client.send(hello)
        for _ in 1...3 { client.send(Message.list(1, customers: 2_000, isLast: false).frame) }
        client.send(Array(Message.list(1, customers: 2_000, isLast: true).frame.dropLast(500)))
      }
      #expect(try branch.status().queue("issued") == 0)
      let left = try FileManager.default.contentsOfDirectory(atPath: branch.home + "/run")
      #expect(!left.contains { $0.hasPrefix("list-") }, "\(left)")
    }
  }

  @Test("random messages, whole, cut and changed, end only their connections")
  func fuzz() throws {
    var chance = Chance(for: "HostileClientTests/fuzz")
    try withOpenBank { branch in
      // Neither stop nor reset is among them: every client that may connect may request these.
      let commands: [Int64] = [1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 21, 22, 0]
      let end = ContinuousClock.now + .seconds(3)
      while ContinuousClock.now < end {
        let client = try RawClient(branch)
        var bytes = chance.next() % 8 == 0 ? [] : hello
        for _ in 0..<Int.random(in: 1...20, using: &chance) {
          let command = commands.randomElement(using: &chance) ?? 1
          bytes +=
            Message.request(Int64(chance.next() % 1_000), command, Self.content(&chance, depth: 0)).frame
        }
        if chance.next() % 2 == 0 {
          for _ in 0..<Int.random(in: 1...4, using: &chance) {
            bytes[Int.random(in: bytes.indices, using: &chance)] ^= UInt8(
              1 << Int.random(in: 0..<8, using: &chance))
          }
        }
        if chance.next() % 4 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &chance)) }
        // A flipped bit can produce one of the requests that change the whole bank: 14, 18, 19, 20.
        guard ![14, 18, 19, 20].contains(where: { bytes.contains([0xA1, $0]) }) else { continue }
        client.send(bytes)
        client.finishSending()
        if chance.next() % 2 == 0 { _ = client.listen(until: 3) }
      }
      try branch.runSuccessfully("resume")
    }
  }

  private static func content(_ chance: inout Chance, depth: Int) -> Message {
    switch chance.next() % (depth > 3 ? 3 : 6) {
    case 0: return .number(Int64(chance.next() % 12) - 2)
    case 1: return .number(Int64(bitPattern: chance.next()))
    case 2: return .flag(chance.next() % 2 == 0)
    case 3: return .text(String(repeating: "가", count: Int(chance.next() % 100)))
    case 4: return .list((0..<chance.next() % 4).map { _ in content(&chance, depth: depth + 1) })
    default:
      return .fields((0..<chance.next() % 4).map { (Int64($0) + 1, content(&chance, depth: depth + 1)) })
    }
  }

  // MARK: - Check of the bank after each test

  private func withOpenBank(_ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let before = try branch.status()
      let processes = branch.processes.all()
      try test(branch)
      try branch.runSuccessfully("enqueue", "3", "--wait", timeout: .seconds(15))
      let after = try branch.status()
      #expect(after.pid == before.pid, "the coordinator was replaced")
      #expect(after.workers.map(\.generation) == before.workers.map(\.generation), "a teller was replaced")
      #expect(branch.processes.all() == processes, "processes were added or left")
      #expect(after.isBalanced)
      try branch.waitUntil("every connection is closed") {
        // The test has closed its idle connections; the remaining descriptors are the bank's own.
        (try FileManager.default.contentsOfDirectory(atPath: "/proc/\(after.pid)/fd")).count < 40
      }
      try branch.expectClean()
    }
  }

  /// Raises the limit of open files of this process to its maximum, and returns it.
  private static func openFiles() -> Int {
    var files = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    files.rlim_cur = files.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    return Int(clamping: files.rlim_cur)
  }

  private static func residentKilobytes(_ pid: Int) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    return text.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) } ?? 0
  }
}

extension [UInt8] {
  /// True if these bytes occur in sequence.
  fileprivate func contains(_ needle: [UInt8]) -> Bool {
    guard needle.count <= count else { return false }
    return (0...(count - needle.count)).contains { self[$0..<($0 + needle.count)].elementsEqual(needle) }
  }
}
