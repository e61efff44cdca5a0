// Arguments, variables, payloads and directories of arbitrary bytes: data arrives unchanged, and what must be text is
// refused by name. A shell makes the bytes, because a Swift String cannot hold them.
import Foundation
import Glibc
import Testing

private let services = #"""
  {"services": {"same": {"run": ["cat"]}, "batch": {"run": [], "windows": 1}},
   "windows": {"deposit": 1, "loan": 0, "juice": 0}}
  """#

@Suite("Bytes that are not UTF-8", .serialized)
struct ByteTests {
  private func withServices(_ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      try branch.start("--config", try branch.write(services, to: "bank.json"), "--speed", "max")
      try test(branch)
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  /// Runs a shell script in which `bankctl` is the program.
  private func shell(
    _ branch: ScratchBank, _ script: String, language: OutputLanguage? = .en,
    at location: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let function = "bankctl() { '\(Binaries.bankctl)' \"$@\"; }\n"
    return try branch.launch(["-c", function + script], program: "/bin/sh", language: language).finish(
      at: location)
  }

  /// Output of a script in hexadecimal.
  private func hex(_ branch: ScratchBank, _ script: String, at location: SourceLocation = #_sourceLocation)
    throws
    -> String
  {
    let outcome = try shell(branch, "{ \(script)\n} | od -An -v -tx1 | tr -d ' \\n'", at: location)
    return outcome.out
  }

  @Test("a key must be text: the error names option and byte in both languages, and adds no customer")
  func keys() throws {
    try withServices { branch in
      for language in OutputLanguage.allCases {
        let refused = try shell(
          branch, #"bankctl enqueue 1 --service deposit --amount 5 --account 1 --key "$(printf 'caf\351')""#,
          language: language)
        #expect(refused.code == 2, refused.story)
        #expect(refused.err.contains("--key") && refused.err.contains(#"\xE9"#), refused.story)
      }
      for words in [
        #"enqueue "$(printf '1\351')""#, #"enqueue --service "$(printf 'up\351')""#,
        #"scale "$(printf 'r\351=1')""#,
      ] {
        let refused = try shell(branch, "bankctl \(words)")
        #expect(refused.code == 2 && refused.err.contains(#"\xE9"#), refused.story)
      }
      #expect(try branch.json("status")["queue"]["issued"].integer == 0)
    }
  }

  @Test("arguments, variables, payload, input and directory arrive byte by byte")
  func data() throws {
    try withServices { branch in
      #expect(try hex(branch, #"bankctl run --wait -- printf %s "$(printf 'f\351')" '' é"#) == "66e9c3a9")
      #expect(
        try hex(branch, #"X=$(printf 'v\351\377'); export X; bankctl run --wait -- sh -c 'printf %s "$X"'"#)
          == "76e9ff")
      #expect(
        try hex(branch, #"printf 'in\351\000' | bankctl run --wait --stdin -- cat"#) == "696ee900")
      let directory = #"d=$(printf '\#(branch.path("dir"))\351'); mkdir -p "$d"; cd "$d""#
      #expect(
        try hex(branch, directory + #"; bankctl run --wait -- sh -c 'basename "$(pwd)"'"#).hasSuffix(
          "646972e90a"))
      _ = try shell(branch, #"bankctl enqueue 1 --service same --payload "$(printf 'p\351')" --wait"#)
      let ticket = try #require(try branch.receipts().last)
      #expect(ticket["result_b64"].text == Data([0x70, 0xe9]).base64EncodedString(), "\(ticket)")
    }
  }

  @Test("two variables whose names are equivalent in Unicode stay distinct")
  func names() throws {
    try withServices { branch in
      let names = #""$(printf '\303\251')=same-1" "$(printf 'e\314\201')=same-2""#
      let outcome = try shell(
        branch, #"env \#(names) '\#(Binaries.bankctl)' run --wait -- env | grep -ac '=same-[12]$'"#)
      #expect(outcome.out == "2\n", outcome.story)
    }
  }

  @Test("a home with any bytes in its name is exactly that directory")
  func home() throws {
    try withScratchBank { branch in
      let home = #"h=$(printf '\#(branch.path("h"))\351')"#
      let opened = try shell(
        branch, home + #"; bankctl --home "$h" start --speed max && bankctl --home "$h" enqueue 2 --wait"#)
      #expect(opened.code == 0, opened.story)
      let audit = try shell(branch, home + #"; test -e "$h/bank.db" && bankctl --home "$h" audit"#)
      #expect(audit.code == 0, audit.story)
      let run = try shell(
        branch, home + #"; BANK_HOME=$h; export BANK_HOME; bankctl run --wait -- echo here"#)
      #expect(run.out == "here\n", run.story)
      let stopped = try shell(branch, home + #"; bankctl --home "$h" stop && bankctl --home "$h" audit"#)
      #expect(stopped.code == 0, stopped.story)
      let names = try shell(branch, "ls '\(branch.path(""))' | grep -c '^h'")
      #expect(names.out == "1\n", "\(names)")
      // Output for people and scripts is UTF-8.
      let closed = try shell(branch, home + #"; bankctl --home "$h" status"#)
      #expect(closed.code == 3 && closed.err.contains(#"h\xE9"#), closed.story)
      let document = try shell(branch, home + #"; bankctl --home "$h" status --json"#)
      #expect(try document.json()["error"]["message"].text?.contains(#"h\xE9"#) == true, document.story)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a script whose first line ends with a carriage return is explained by run and by config check")
  func firstLine() throws {
    try withServices { branch in
      let script = try branch.write("#!/bin/sh\r\necho\r\n", to: "script")
      chmod(script, 0o700)
      let file = try branch.write(#"{"services": {"x": {"run": ["\#(script)"]}}}"#, to: "other.json")
      for outcome in [
        try branch.run("run", "--wait", "--", script), try branch.run("config", "check", file),
      ] {
        #expect(outcome.code != 0 && outcome.err.contains(#""/bin/sh\r""#), outcome.story)
        #expect(outcome.err.contains("carriage return"), outcome.story)
      }
    }
  }

  @Test("a piped input that is not used is named, and one that is too long is refused")
  func input() throws {
    try withServices { branch in
      let ignored = try branch.run("run", "--wait", "--", "cat", input: "hello")
      #expect(ignored.code == 0 && ignored.out == "", ignored.story)
      #expect(ignored.err.contains("--stdin"), ignored.story)
      let taken = try branch.run("run", "--wait", "--stdin", "--", "cat", input: "hello 은행")
      #expect(taken.out == "hello 은행" && !taken.err.contains("--stdin"), taken.story)
      let none = try branch.run("run", "--wait", "--", "cat")
      #expect(none.errorsWithoutProgress == "", none.story)
      let long = try branch.run(
        "run", "--stdin", "--", "cat", input: String(repeating: "x", count: 1 << 20 + 1))
      #expect(long.code == 2 && long.err.contains("1,048,576"), long.story)
      let large = try branch.run(
        "run", "--", "true", environment: ["HUGE": String(repeating: "y", count: 70_000)])
      #expect(large.code == 2 && large.err.contains("HUGE (70,00"), large.story)
      #expect(large.err.contains("env -u HUGE") && large.err.contains("max_payload"), large.story)
      let gone = try shell(
        branch, "d='\(branch.path("gone"))'; mkdir \"$d\"; cd \"$d\"; rmdir \"$d\"; bankctl run -- true")
      #expect(gone.code == 1 && gone.err.contains("current directory"), gone.story)
      #expect(try branch.json("status")["queue"]["issued"].integer == 3)
    }
  }

  @Test(
    "arguments are complete without /proc",
    .enabled(if: geteuid() == 0, "only root can hide /proc"))
  func withoutProc() throws {
    try withScratchBank { branch in
      let script = "mount -t tmpfs none /proc && exec \"$0\" \"$@\""
      let outcome = try branch.launch(
        ["-m", "sh", "-c", script, Binaries.bankctl, "enqueue", "--help"], program: "/usr/bin/unshare"
      ).finish()
      #expect(outcome.code == 0 && outcome.out.contains("bankctl enqueue 10"), outcome.story)
    }
  }
}
