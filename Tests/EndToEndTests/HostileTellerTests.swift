// Tellers that lie, send noise, stop or are of another build: each is killed and replaced, its customer is served, the
// ledger balances, and the log names the violation. Hostile tellers are shell scripts instead of the program, so they
// use no code of the product; the next generation is the program again.
import Foundation
import Glibc
import Testing

@Suite("Hostile tellers", .serialized)
struct HostileTellerTests {
  /// Violation of a teller.
  enum Behaviour: String, CaseIterable {
    /// Bytes that are not a frame.
    case noise
    /// A frame above the length limit.
    case oversized
    /// The hello of another build.
    case otherBuild
    /// A hello, and then the start of a message.
    case cutOff
    /// Nothing.
    case silent
    /// Done with a customer that was never assigned to it.
    case invented
    /// Done with another customer than the assigned one.
    case otherCustomer
    /// Done with its customer, twice.
    case twice
    /// Done with its customer, as the previous generation.
    case otherGeneration
    /// Returns a customer that was not recalled.
    case unasked
    /// The start of the reply for its customer, and then silence.
    case halfAnswer
    /// Endless progress reports.
    case flood

    /// True if it gets as far as being assigned a customer.
    var receivesCustomer: Bool {
      switch self {
      case .noise, .oversized, .otherBuild, .cutOff, .silent, .invented: false
      case .otherCustomer, .twice, .otherGeneration, .unasked, .halfAnswer, .flood: true
      }
    }

    /// Ends of its attempts with customers.
    var ends: [String] {
      switch self {
      case .noise, .oversized, .otherBuild, .cutOff, .silent, .invented: []
      case .twice: ["served", "killed"]
      case .otherCustomer, .otherGeneration, .unasked, .flood: ["killed"]
      case .halfAnswer: ["lease_expired"]
      }
    }

    /// Event in the log, and a text that its message contains.
    var told: (event: String, words: String?) {
      switch self {
      case .noise, .oversized: ("channel_broken", "exceeds the limit")
      case .otherBuild: ("hello_refused", "is not supported")
      case .cutOff, .silent: ("protocol_violation", "not ready in time")
      case .invented, .twice: ("protocol_violation", "customer 1, attempt 1, which it does not hold")
      case .otherCustomer: ("protocol_violation", "customer 999, attempt 1, which it does not hold")
      case .otherGeneration: ("protocol_violation", "customer 1 as generation 1, but is generation 2")
      case .unasked: ("protocol_violation", "returned customer 1 without a recall")
      case .halfAnswer: ("stuck", nil)
      case .flood: ("protocol_violation", "reports of progress in a second")
      }
    }

    /// Bytes sent at once, and bytes sent after a customer was assigned.
    func script(build: String) -> (before: [UInt8], after: [UInt8]) {
      let hello = Message.fields([(1, .fields([(1, .number(1)), (2, .text(build)), (3, .number(2))]))]).frame
      let ready = Message.fields([(2, .fields([]))]).frame
      func lease(_ kind: Int64, _ ticket: Int64, generation: Int64 = 2) -> [UInt8] {
        let lease = Message.fields([(1, .number(ticket)), (2, .number(1)), (3, .number(generation))])
        return Message.fields([(kind, lease)]).frame
      }
      return switch self {
      case .noise: (Array(repeating: 0xFE, count: 300), [])
      case .oversized: (hello + Message.length(2 << 20), [])
      case .otherBuild:
        (Message.hello(role: 2).frame.map { $0 == UInt8(ascii: "d") ? UInt8(ascii: "x") : $0 }, [])
      case .cutOff: (hello + ready.dropLast(2), [])
      case .silent: ([], [])
      case .invented: (hello + ready + lease(3, 1), [])
      case .otherCustomer: (hello + ready, lease(3, 999))
      case .twice: (hello + ready, lease(3, 1) + lease(3, 1) + lease(3, 1))
      case .otherGeneration: (hello + ready, lease(3, 1, generation: 1))
      case .unasked: (hello + ready, lease(5, 1))
      case .halfAnswer: (hello + ready, lease(3, 1).dropLast(2))
      case .flood: (hello + ready, Array((0..<200).map { _ in lease(6, 1) }.joined()))
      }
    }
  }

  @Test(
    "a hostile teller is killed and replaced, its customer is served, and the log names the violation",
    arguments: Behaviour.allCases)
  func hostile(behaviour: Behaviour) throws {
    try withScratchBank { branch in
      let place = branch.path("programs")
      try Binaries.install(Binaries.names, in: place)
      // Only the silent teller waits for the end of a lease; for the others it is long enough at any load.
      let lease = behaviour == .halfAnswer ? "2s" : "60s"
      let file = try branch.configuration(
        deposit: 1, loan: 0, depositWork: "0s", more: #", "lease": "\#(lease)""#)
      let started = try branch.launch(["start", "--config", file], program: place + "/bankctl").finish()
      #expect(started.code == 0, started.story)
      let pid = try branch.status().pid
      // The pause makes sure that the hostile teller is assigned the first customer, and at a known moment.
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "30", "--service", "deposit")

      try replace("\(place)/bank-teller", with: behaviour, build: try branch.build(), branch)
      try branch.kill(worker: "deposit-1")
      try branch.waitUntil("the hostile teller has connected") {
        try branch.status().worker("deposit-1").map { $0.generation >= 2 } ?? false
      }
      if behaviour.receivesCustomer {
        try branch.waitUntil("the hostile teller is ready") {
          try branch.status().worker("deposit-1")?.state == "idle"
        }
        try branch.runSuccessfully("resume")
        try branch.waitUntilServed(by: "deposit-1", ticket: 1)
        _ = try branch.write("", to: "programs/go")
      } else {
        try branch.runSuccessfully("resume")
      }
      try branch.runSuccessfully("wait", timeout: .seconds(60))

      let status = try branch.status()
      #expect(status.pid == pid && status.queue("served") == 30 && status.isBalanced)
      let present = try #require(status.worker("deposit-1"))
      #expect(present.generation >= 3 && present.state == "idle", "\(present)")
      try branch.expectOneReceiptEach(30)
      try branch.expectClean()
      let ends = try (1...2).flatMap { ticket in
        try branch.json("ticket", "\(ticket)")["attempts"].items.filter { $0["generation"].integer == 2 }
          .compactMap(\.["end"].text)
      }
      #expect(ends == behaviour.ends)

      let log = branch.events(behaviour.told.event, in: "coordinator")
      let isLogged = log.contains {
        $0["window"] == "deposit-1" && behaviour.told.words.map(($0["msg"] ?? "").contains) ?? true
      }
      #expect(isLogged, "\(log)")
      let exits = branch.events("exit", in: "coordinator")
      #expect(
        exits.contains { $0["window"] == "deposit-1" && $0["child_gen"] == "2" }, "its process has exited")
      let stopped = try branch.launch(["stop", "--now"], program: place + "/bankctl").finish()
      #expect(stopped.code == 0, stopped.story)
      try branch.expectNoProcessesLeft()
    }
  }

  private func replace(_ program: String, with behaviour: Behaviour, build: String, _ branch: ScratchBank)
    throws
  {
    func escaped(_ bytes: [UInt8]) -> String { bytes.map { "\\x" + String($0, radix: 16) }.joined() }
    let script = behaviour.script(build: build)
    let say = "printf '\(escaped(script.after))' >&3"
    // The script reads until the test lets it continue, and runs until it is killed or its channel closes.
    let text = """
      #!/bin/bash
      [ "$2" = 2 ] || exec '\(program).good' "$@"
      printf '\(escaped(script.before))' >&3
      while [ ! -e '\(branch.path("programs/go"))' ]; do read -r -N 1 -t 0.02 <&3; done
      \(behaviour == .flood ? "while \(say); do :; done" : say)
      while read -r -N 1 <&3; do :; done
      """
    // Written by another process: a program that a parallel test starts now would inherit the descriptor, and the
    // script could not be executed (ETXTBSY, execve(2)).
    let words = ["-m", "700", try branch.write(text, to: "hostile"), program + ".new"]
    let installed = try branch.launch(words, program: "/usr/bin/install").finish()
    try #require(installed.code == 0, installed.story)
    try #require(rename(program, program + ".good") == 0 && rename(program + ".new", program) == 0)
  }
}
