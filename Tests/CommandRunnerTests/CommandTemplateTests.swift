// The arguments of a command: the substitution of placeholders, and of text that looks like one.
import CommandRunner
import Testing

@Suite struct CommandTemplateTests {
  private func argv(
    _ template: [String], payload: String = "a b;$(c)", key: String = "K"
  ) throws -> [String] {
    try #require(CommandTemplate(template)).argv(payload: Array(payload.utf8), key: key).get()
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a placeholder is one argument, whatever the customer's value is")
  func placeholders() throws {
    #expect(try argv(["convert", "-", "{payload}"]) == ["convert", "-", "a b;$(c)"])
    #expect(try argv(["a", "{key}", "{payload}", "{key}"]) == ["a", "K", "a b;$(c)", "K"])
    #expect(try argv(["a", "{payload}"], payload: "") == ["a", ""])
  }

  @Test("a customer's value is not expanded again, and no other argument changes")
  func nothingPasted() throws {
    #expect(try argv(["a", "{payload}"], payload: "{key}") == ["a", "{key}"])
    for word in ["--text={payload}", "{payload} ", "{ payload }", "{{payload}}", "{Payload}", "$payload"] {
      #expect(try argv(["sh", "-c", word]) == ["sh", "-c", word])
    }
  }

  @Test("bytes that are not text are an argument unchanged")
  func bytes() throws {
    let template = try #require(CommandTemplate(["a", "{payload}"]))
    #expect(try template.argv(payload: [0xff, 0xfe, 10], key: "").get().last == [0xff, 0xfe, 10])
  }

  @Test("an invalid argument is refused, and only if it is to be one")
  func refused() throws {
    let template = try #require(CommandTemplate(["a", "{payload}"]))
    let longest = [UInt8](repeating: 1, count: CommandTemplate.longestArgument)
    #expect(throws: Never.self) { try template.argv(payload: longest, key: "").get() }
    #expect(template.argv(payload: longest + [1], key: "") == .failure(.argumentTooLong(bytes: 131_072)))
    #expect(template.argv(payload: [1, 0, 2], key: "") == .failure(.zeroByteInArgument))
    let other = try #require(CommandTemplate(["a"]))
    #expect(other.argv(payload: longest + [0], key: "") == .success([Array("a".utf8)]))
    #expect(!other.takesPayload)
  }

  @Test(
    "a command without a program is invalid",
    arguments: [[], [""], ["", "a"], ["{payload}"], ["{key}", "a"], ["a\0b"], ["a", "\0"]])
  func none(argv: [String]) { #expect(CommandTemplate(argv) == nil) }
}
