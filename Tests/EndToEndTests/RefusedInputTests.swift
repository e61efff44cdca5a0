// Usage errors: exit code 2, the wrong argument and a correction, in both languages and as JSON, before any effect.
import Foundation
import Testing

private let refused: [([String], String)] = [
  (["enqueue"], "N"), (["enqueue", "0"], "not 0"), (["enqueue", "-5"], "not -5"),
  (["enqueue", "abc"], "'abc'"),
  (["enqueue", "3.5"], "'3.5'"), (["enqueue", "1e3"], "'1e3'"), (["enqueue", ""], "empty"),
  (["enqueue", "10000001"], "10,000,000"), (["enqueue", "99999999999999999999999"], "10,000,000"),
  (["enqueue", "3", "4"], "'4'"), (["enqueue", "3", "--grade", "king"], "vvip, vip, regular"),
  (["enqueue", "3", "--amount", "0"], "--amount"),
  (["enqueue", "3", "--amount", "9999999999999"], "--amount"),
  (["enqueue", "3", "--account", "-1"], "--account"),
  (["enqueue", "3", "--seed", "x"], "--seed"), (["enqueue", "3", "--key", ""], "--key"),
  (["enqueue", "3", "--key", String(repeating: "k", count: 201)], "200"),
  (["enqueue", "3", "--wait=no"], "--wait"),
  (["enqueue", "3", "--service", "loan", "--service", "loan"], "once"),
  (["enqueue", "3", "--from", "x"], "--from"),
  (["wait", "--timeout", "5"], "5s"), (["wait", "--timeout", "-1s"], "negative"),
  (["wait", "--timeout", "5x"], "'x'"),
  (["wait", "--timeout", "999999999999h"], "292"), (["stop", "--timeout", "soon"], "'soon'"),
  (["scale", "deposit"], "NAME=N"), (["scale", "deposit=-1"], "256"), (["scale", "deposit=257"], "256"),
  (["scale", "deposit=1", "deposit=2"], "twice"), (["cancel", "0"], "'0'"), (["ticket", "x"], "'x'"),
  (["receipts", "--day", "x"], "all"), (["tickets", "--state", "asleep"], "waiting"),
  (["logs", "-n", "-1"], "-n"),
  (["logs", "--since", "whenever"], "--since"), (["start", "--speed", "0"], "above 0"),
  (["start", "--speed", "-1"], "negative"), (["start", "--speed", "nan"], "max"),
  (["start", "--deposit", "257"], "256"),
  (["start", "--config", ""], "empty"), (["open", "--customers", "0"], "not 0"),
  (["status", "--home", ""], "--home"),
  (["status", "--lang", "fr"], "ko, en"), (["statsu"], "'status'"), (["status", "--jsno"], "'--json'"),
]

@Suite("Refused input", .serialized)
struct RefusedInputTests {
  @Test("a wrong argument is refused with exit code 2, and is named")
  func usage() throws {
    try withScratchBank { branch in
      for (arguments, reason) in refused {
        let english = try branch.launch(arguments, language: .en).finish()
        #expect(english.code == 2 && english.out == "" && english.err.contains(reason), english.story)
        let korean = try branch.launch(arguments, language: .ko).finish()
        #expect(korean.code == 2 && korean.out == "" && korean.err != english.err, korean.story)
        guard !arguments.contains("--lang"), !arguments.contains("--jsno") else { continue }
        let json = try branch.launch(arguments + ["--json"]).finish()
        #expect(json.code == 2, json.story)
        #expect(try json.json()["error"]["code"].text == "usage", json.story)
      }
      #expect(!FileManager.default.fileExists(atPath: branch.home), "nothing has happened")
    }
  }

  @Test("a wrong line of a list is named by its number, with the reason, and no customer is added")
  func lines() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let lines: [(String, String)] = [
        ("no object", "JSON object"), ("[]", "JSON object"), ("{} {}", "column 4"),
        (#"{"service":"loan""#, "column"),
        (#"{"service":"Loan"}"#, "'Loan'"), (#"{"servce":"loan"}"#, "mean service"),
        (#"{"service":null}"#, "quotes"),
        (#"{"grade":"king"}"#, "'king'"), (#"{"grade":"vip","grade":"vip"}"#, "twice"),
        (#"{"amount":-5}"#, "-5"),
        (#"{"amount":1.5}"#, "whole number"), (#"{"amount":"5"}"#, "whole number"),
        (#"{"amount":99999999999999999999}"#, "whole number"), (#"{"account":-1}"#, "-1"),
        (#"{"key":""}"#, "empty"), (#"{"key":5}"#, "quotes"), (#"{"key":{"a":1}}"#, "quotes"),
        (#"{"key":"\#(String(repeating: "k", count: 201))"}"#, "201"), (#"{"key":"\ud800"}"#, "JSON string"),
        (#"{"key":"\#(String(repeating: "k", count: 100_000))"}"#, "100000 bytes"),
        (String(repeating: "x", count: 6_400_000), "6,356,992"),
        (String(repeating: #"{"a":"#, count: 5_000), "'a'"),
      ]
      for (line, reason) in lines {
        let file = try branch.write("{\"service\":\"loan\"}\n\n\(line)\n{}\n", to: "customers.jsonl")
        let outcome = try branch.run("enqueue", "--from", file)
        #expect(outcome.code == 2 && outcome.err.contains("Line 3 of"), outcome.story)
        #expect(
          outcome.err.contains(reason) && outcome.err.hasSuffix("No customers were added.\n"), outcome.story)
      }
      #expect(try branch.status().queue("issued") == 0)
    }
  }

  @Test("an invalid list is refused as a whole: empty, binary, a directory, nothing, or without an end")
  func noList() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let binary = branch.path("binary")
      try Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 197) }).write(
        to: URL(fileURLWithPath: binary))
      let cases: [(String, Int32, String)] = [
        (try branch.write("", to: "empty"), 2, "no customer"),
        (try branch.write("\n \n\t\n", to: "blank"), 2, "no customer"),
        ("/dev/null", 2, "no customer"), ("-", 2, "standard input"), (binary, 2, "Line 1 of"),
        ("/dev/zero", 2, "Line 1 of"), (branch.path("io"), 1, "EISDIR"),
        (branch.path("nothing"), 1, "ENOENT"),
      ]
      for (path, code, reason) in cases {
        let outcome = try branch.run("enqueue", "--from", path)
        #expect(outcome.code == code && outcome.err.contains(reason), outcome.story)
        #expect(outcome.err.hasSuffix("No customers were added.\n"), outcome.story)
      }
      #expect(try branch.status().queue("issued") == 0)
    }
  }

  @Test("a missing object is exit code 4, and a conflict with the state is 5")
  func statesAndNames() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "1", "--wait")
      for arguments in [
        ["ticket", "99"], ["cancel", "99"], ["requeue", "99"], ["ticket", "1", "--day", "9"],
        ["receipts", "--day", "9"],
        ["pause", "juggling"], ["scale", "juggling=1"], ["logs", "unknown"], ["logs", "../../../etc/passwd"],
      ] {
        let outcome = try branch.launch(arguments).finish()
        #expect(outcome.code == 4, outcome.story)
      }
      #expect(try branch.run("pause", "depsoit").err.contains("deposit"), "with a suggestion")
      for arguments in [["cancel", "1"], ["requeue", "1"], ["start"], ["open", "--customers", "1"]] {
        let outcome = try branch.launch(arguments).finish()
        #expect(outcome.code == 5, outcome.story)
      }
      try branch.expectClean()
    }
  }

  @Test("control characters of user input do not reach a terminal")
  func escapes() throws {
    try withScratchBank { branch in
      for arguments in [
        ["sta\u{1B}[31mtus"], ["enqueue", "\u{1B}]0;x\u{7}"], ["pause", "\u{1B}[2J"], ["logs", "\u{1B}[2J"],
      ] {
        let outcome = try branch.launch(arguments).finish()
        #expect(
          outcome.code != 0 && !outcome.err.contains("\u{1B}") && !outcome.err.contains("\u{7}"),
          outcome.story)
      }
    }
  }
}
