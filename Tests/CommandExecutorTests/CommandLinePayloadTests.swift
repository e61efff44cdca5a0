// Payloads that are command lines.
import ByteText
import JSON
import Posix
import Testing

@testable import CommandExecutor

@Suite struct CommandLinePayloadTests {
  @Test("it is a list of words, a directory and an environment")
  func whole() throws {
    let line = try CommandLinePayload(
      bytes(#"{"command":["sh","-c","echo 가 \"$A\""],"directory":"/srv","environment":{"A":"1 2","B":""}}"#))
    #expect(line.argv == ["sh", "-c", "echo 가 \"$A\""])
    #expect(line.directory == "/srv")
    #expect(line.environment == ["A": "1 2", "B": ""])
  }

  @Test("the words are enough, and none of them is a placeholder")
  func words() throws {
    let line = try CommandLinePayload(bytes(#"{"command":["echo","{payload}","{key}",""]}"#))
    #expect(line.argv == ["echo", "{payload}", "{key}", ""])
    #expect(line.directory == nil && line.environment == nil)
  }

  @Test(
    "any other payload is refused with a sentence",
    arguments: [
      ("", "it is empty"), ("true", "no JSON object"), ("{", "no JSON at line 1, column 2"),
      ("{}", "\"command\" is missing"), (#"{"command":[]}"#, "\"command\" names no program"),
      (#"{"command":[""]}"#, "\"command\" names no program"),
      (#"{"command":"true"}"#, "\"command\" is not a list of strings"),
      (#"{"command":["a",1]}"#, "an item of \"command\" is not a string"),
      (#"{"command":["a\u0000b"]}"#, "an item of \"command\" contains a NUL byte"),
      (#"{"command":["a"],"command":["b"]}"#, "\"command\" appears twice"),
      (#"{"command":["a"],"dir":"/"}"#, "\"dir\" is unknown"),
      (#"{"command":["a"],"directory":"here"}"#, "\"directory\" is not an absolute path"),
      (#"{"command":["a"],"environment":["A=1"]}"#, "\"environment\" is not an object of names and values"),
      (#"{"command":["a"],"environment":{"A=B":"1"}}"#, "\"A=B\" is not a valid variable name"),
      (#"{"command":["a"],"environment":{"A":1}}"#, "the variable \"A\" is not a string"),
    ])
  func faults(payload: String, words: String) {
    #expect(throws: CommandLinePayload.Fault(words)) { try CommandLinePayload(bytes(payload)) }
  }
}

@Suite("Bytes in a command line") struct CommandLineBytesTests {
  private static let e9 = ByteText.text(of: [0x61, 0xe9])

  @Test("invalid UTF-8 is given as base64")
  func bytesOfAnyKind() throws {
    let word = Base64.encode([0x61, 0xe9])
    let variable = Base64.encode(Array("N=".utf8) + [0xe9])
    let line = try CommandLinePayload(
      bytes(
        """
        {"command_b64":["\(Base64.encode(bytes("sh")))","\(word)"],"directory_b64":"\(Base64.encode([0x2f, 0xe9]))",\
        "environment":{"A":"1"},"environment_b64":["\(variable)"],"input_b64":"\(Base64.encode([0, 0xff]))",\
        "umask":"0022","limits":{"nofile":[100,null],"core":[0,0]}}
        """))
    #expect(line.argv.map(ByteText.bytes) == [bytes("sh"), [0x61, 0xe9]])
    #expect(line.directory.map(ByteText.bytes) == [0x2f, 0xe9])
    #expect(line.environment == ["A": "1", "N": ByteText.text(of: [0xe9])])
    #expect(line.input == [0, 0xff] && line.mask == 0o022)
    #expect(
      line.limits == [ResourceLimit(.openFiles, 100, hard: ResourceLimit.unlimited), ResourceLimit(.core, 0)])
  }

  @Test("names that Unicode treats as equal are two variables")
  func names() throws {
    let line = try CommandLinePayload(
      bytes("{\"command\":[\"a\"],\"environment\":{\"\u{e9}\":\"1\",\"e\u{301}\":\"2\"}}"))
    #expect(line.environment?.count == 2)
  }

  @Test(
    "any other payload is refused with a sentence",
    arguments: [
      (#"{"command":["a"],"command_b64":["YQ=="]}"#, "\"command\" and \"command_b64\" conflict"),
      (#"{"command_b64":["YQ"]}"#, "an item of \"command_b64\" is not valid base64 at character 3"),
      (#"{"command_b64":["AA=="]}"#, "an item of \"command_b64\" contains a NUL byte"),
      (#"{"command":["\udbff\udfe9"]}"#, "an item of \"command\" contains a private character"),
      (
        #"{"command":["a"],"environment_b64":["YQ=="]}"#,
        "a variable of \"environment_b64\" is not NAME=VALUE"
      ),
      (#"{"command":["a"],"umask":"9"}"#, "\"umask\" is not a valid file mask"),
      (#"{"command":["a"],"limits":{"speed":[1,1]}}"#, "unknown limit \"speed\""),
      (#"{"command":["a"],"limits":{"nofile":[2,1]}}"#, "the limit \"nofile\" is not a pair of numbers"),
    ])
  func faults(payload: String, words: String) {
    #expect(throws: CommandLinePayload.Fault(words)) { try CommandLinePayload(bytes(payload)) }
  }
}
