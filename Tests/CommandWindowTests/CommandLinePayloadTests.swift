// Owns the tests of what a customer brings who brings a command line.
// Failure: a failed expectation.
import Testing

@testable import CommandWindow

@Suite struct CommandLinePayloadTests {
  @Test("it is a list of words, a directory and an environment")
  func whole() throws {
    let line = try CommandLinePayload(
      bytes(#"{"command":["sh","-c","echo 가 \"$A\""],"directory":"/srv","environment":{"A":"1 2","B":""}}"#))
    #expect(line.words == ["sh", "-c", "echo 가 \"$A\""])
    #expect(line.directory == "/srv")
    #expect(line.environment == ["A": "1 2", "B": ""])
  }

  @Test("the words are enough, and none of them stands for anything")
  func words() throws {
    let line = try CommandLinePayload(bytes(#"{"command":["echo","{payload}","{key}",""]}"#))
    #expect(line.words == ["echo", "{payload}", "{key}", ""])
    #expect(line.directory == nil && line.environment == nil)
  }

  @Test(
    "whatever else it is, a sentence says what is wrong",
    arguments: [
      ("", "it is empty"), ("true", "no JSON object"), ("{", "no JSON at line 1, column 2"),
      ("{}", "\"command\" is missing"), (#"{"command":[]}"#, "\"command\" names no program"),
      (#"{"command":[""]}"#, "\"command\" names no program"),
      (#"{"command":"true"}"#, "\"command\" is no list of words"),
      (#"{"command":["a",1]}"#, "a word of \"command\" is no text"),
      (#"{"command":["a\u0000b"]}"#, "a word of \"command\" holds a zero byte"),
      (#"{"command":["a"],"command":["b"]}"#, "\"command\" stands there twice"),
      (#"{"command":["a"],"dir":"/"}"#, "\"dir\" has no meaning there"),
      (#"{"command":["a"],"directory":"here"}"#, "\"directory\" is no absolute path"),
      (#"{"command":["a"],"environment":["A=1"]}"#, "\"environment\" is no object of names and values"),
      (#"{"command":["a"],"environment":{"A=B":"1"}}"#, "no variable can be called \"A=B\""),
      (#"{"command":["a"],"environment":{"A":1}}"#, "the variable \"A\" is no text"),
    ])
  func faults(payload: String, words: String) {
    #expect(throws: CommandLinePayload.Fault(words)) { try CommandLinePayload(bytes(payload)) }
  }
}
