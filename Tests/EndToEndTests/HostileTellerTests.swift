// A teller that lies, talks nonsense or is of another build: its window suffers, its customer goes to another one, and
// the books stay right. The hostile tellers are shell scripts in the place of the program, so that nothing of the
// product is on their side.
import Foundation
import Glibc
import Testing

@Suite("Hostile tellers", .serialized)
struct HostileTellerTests {
  /// What a teller does instead of its work.
  enum Behaviour: String, CaseIterable {
    /// Bytes that are no frame.
    case noise
    /// A frame that is longer than any may be.
    case oversized
    /// The hello of another build.
    case otherBuild
    /// A hello, and then the beginning of a message.
    case cutOff
    /// Done with a customer whom it was never given.
    case invented
    /// Done with another customer than the one it was given.
    case anothers
    /// Done with its customer, twice.
    case twice

    /// What is sent before it listens, and when the first customer has come.
    func script(build: String) -> (before: [UInt8], after: [UInt8]) {
      let hello = Message.fields([(1, .fields([(1, .number(1)), (2, .text(build)), (3, .number(2))]))]).frame
      let ready = Message.fields([(2, .fields([]))]).frame
      func done(_ ticket: Int64) -> [UInt8] {
        Message.fields([(3, .fields([(1, .number(ticket)), (2, .number(1)), (3, .number(2))]))]).frame
      }
      return switch self {
      case .noise: (Array(repeating: 0xFE, count: 300), [])
      case .oversized: (hello + Message.length(1 << 20), [])
      case .otherBuild:
        (Message.hello(role: 2).frame.map { $0 == UInt8(ascii: "d") ? UInt8(ascii: "x") : $0 }, [])
      case .cutOff: (hello + ready.dropLast(2), [])
      case .invented: (hello + ready + done(1), [])
      case .anothers: (hello + ready, done(999))
      case .twice: (hello + ready, done(1) + done(1) + done(1))
      }
    }
  }

  @Test("a hostile teller costs the bank nothing but its window", arguments: Behaviour.allCases)
  func hostile(behaviour: Behaviour) throws {
    try withBranch { branch in
      let place = branch.path("programs")
      mkdir(place, 0o700)
      for program in ["bankctl", "bankd", "bank-teller", "bank-guardian"] {
        guard link("\(Binaries.directory)/\(program)", "\(place)/\(program)") != 0 else { continue }
        try FileManager.default.copyItem(
          atPath: "\(Binaries.directory)/\(program)", toPath: "\(place)/\(program)")
      }
      let started = try branch.launch(
        ["start", "--deposit", "2", "--loan", "0", "--speed", "max"], program: place + "/bankctl"
      ).finish()
      #expect(started.code == 0, started.story)
      let pid = try branch.status().pid

      try replace("\(place)/bank-teller", with: behaviour.script(build: try build(of: branch)), branch)
      try branch.kill(worker: "deposit-1")
      try branch.waitUntil("the hostile teller has come") {
        try branch.status().worker("deposit-1").map { $0.generation >= 2 } ?? false
      }
      if [.noise, .oversized, .otherBuild, .invented].contains(behaviour) {
        try branch.waitUntil("it is ended") {
          branch.events("exit", in: "coordinator").contains {
            $0["window"] == "deposit-1" && $0["child_gen"] == "2"
          }
        }
      }
      try branch.done("enqueue", "30", "--wait", "--service", "deposit", timeout: .seconds(20))

      let status = try branch.status()
      #expect(status.pid == pid && status.queue("served") == 30 && status.isBalanced)
      try branch.expectOneReceiptEach(30)
      try branch.expectClean()
      // Only a customer that it was really given can have been finished by it.
      let byHostile = try branch.receipts().filter { $0["window"].text == "deposit-1" }.count
      #expect(byHostile <= (behaviour == .twice ? 1 : 0), "\(byHostile) receipts are of the hostile teller")
      let stopped = try branch.launch(["stop", "--now"], program: place + "/bankctl").finish()
      #expect(stopped.code == 0, stopped.story)
      try branch.expectNobodyLeft()
    }
  }

  /// The build that a teller has to name, as the coordinator names it to any client.
  private func build(of branch: Branch) throws -> String {
    let client = try RawClient(branch)
    client.send(Message.hello().frame)
    let welcome = try #require(client.listen(until: 1).frames.first)
    // A map of one field, 1, with a map of the version and the build, whose text has a length of one or two bytes.
    let head = try #require(welcome.firstIndex(of: 0x02))
    let text = welcome[(head + 1)...]
    return String(decoding: text.dropFirst((text.first ?? 0) >= 0x78 ? 2 : 1), as: UTF8.self)
  }

  private func replace(
    _ program: String, with script: (before: [UInt8], after: [UInt8]), _ branch: Branch
  ) throws {
    func escaped(_ bytes: [UInt8]) -> String { bytes.map { "\\x" + String($0, radix: 16) }.joined() }
    // It reads until something has come, the welcome or a customer, and stays until it is ended or the channel is.
    let text = """
      #!/bin/bash
      printf '\(escaped(script.before))' >&3
      read -r -N 120 -t 2 <&3
      printf '\(escaped(script.after))' >&3
      while read -r -N 1 <&3; do :; done
      """
    let new = program + ".new"
    try Data(text.utf8).write(to: URL(fileURLWithPath: new))
    chmod(new, 0o700)
    try #require(rename(new, program) == 0)
  }
}
