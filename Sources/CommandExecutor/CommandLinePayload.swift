// Payload of a customer with its own command line, as `bankctl run` enqueues it.
// Invariant: its words are passed to the program unchanged, byte by byte. No placeholder is replaced, and no shell
// reads them.
// Errors: a sentence about an invalid payload, which is invalid in every attempt.
import ByteText
import JSON
import Posix

/// The command line of one customer, decoded from a JSON object:
/// `{"command":["sh","-c","…"],"directory":"/abs","environment":{"NAME":"VALUE"},"umask":"0022",
/// "limits":{"nofile":[1024,null]},"waited":true}`
///
/// Values that are not UTF-8 are base64, in `command_b64`, `directory_b64`, `environment_b64` (`NAME=VALUE`
/// each) and `input_b64`.
struct CommandLinePayload: Equatable {
  var argv: [String] = []
  /// Working directory; nil for that of the service.
  var directory: String?
  /// The environment to which the variables about the customer are added; nil for the common variables of the service.
  var environment: EnvironmentVariables?
  /// True if a client waits for the end and exits with the command's code.
  var isWaited = false
  /// Standard input.
  var input: [UInt8] = []
  /// umask of the command; nil for the one of the service.
  var mask: UInt32?
  /// Resource limits of the client that enqueued the command.
  var limits: [ResourceLimit] = []

  struct Fault: Error, Equatable {
    /// A sentence about the mistake, without its full stop.
    let words: String
    init(_ words: String) { self.words = "the payload is not a command line: \(words)" }
  }

  /// Decodes a payload, and refuses unknown, repeated and conflicting members.
  init(_ bytes: [UInt8]) throws(Fault) {
    guard !bytes.isEmpty else { throw Fault("it is empty") }
    let node: JSONNode
    do throws(JSONFault) { node = try JSONReader.read(bytes) } catch {
      throw Fault("no JSON at line \(error.line), column \(error.column)")
    }
    guard case .object(let members) = node.content else { throw Fault("no JSON object") }
    var seen: Set<ExactText> = []
    for member in members {
      guard seen.insert(ExactText(member.key)).inserted else {
        throw Fault("\(Self.quoted(member.key)) appears twice")
      }
      try take(member)
    }
    for (name, other) in [("command", "command_b64"), ("directory", "directory_b64"), ("input", "input_b64")]
    where seen.contains(ExactText(name)) && seen.contains(ExactText(other)) {
      throw Fault("\"\(name)\" and \"\(other)\" conflict")
    }
    guard !argv.isEmpty else { throw Fault("\"command\" is missing") }
  }

  private mutating func take(_ member: JSONNode.Member) throws(Fault) {
    let value = member.value
    switch member.key {
    case "command", "command_b64": argv = try Self.argv(member)
    case "directory": directory = try Self.directory(Self.text(value, of: "\"directory\""))
    case "directory_b64": directory = try Self.directory(Self.decoded(value, of: "\"directory_b64\""))
    case "environment": environment = try Self.environment(value).overlaid(by: environment ?? [:])
    case "environment_b64":
      environment = (environment ?? [:]).overlaid(by: try Self.encodedEnvironment(value))
    case "input": input = Array(try Self.anyText(value, of: "\"input\"").utf8)
    case "input_b64": input = try Self.bytes(value, of: "\"input_b64\"")
    case "umask":
      let text = try Self.text(value, of: "\"umask\"")
      guard let mask = FileMask.mask(text) else { throw Fault("\"umask\" is not a valid file mask") }
      self.mask = mask
    case "limits": limits = try Self.limits(value)
    case "waited":
      guard case .bool(let isWaited) = value.content else {
        throw Fault("\"waited\" must be true or false")
      }
      self.isWaited = isWaited
    default: throw Fault("\(Self.quoted(member.key)) is unknown")
    }
  }

  /// The program and its arguments, from a list of strings or of base64 strings.
  private static func argv(_ member: JSONNode.Member) throws(Fault) -> [String] {
    let name = "\"\(member.key)\""
    guard case .array(let elements) = member.value.content else {
      throw Fault("\(name) is not a list of strings")
    }
    var words: [String] = []
    for element in elements {
      words.append(
        try member.key == "command"
          ? text(element, of: "an item of \(name)") : decoded(element, of: "an item of \(name)"))
    }
    guard let program = words.first, !program.isEmpty else { throw Fault("\(name) names no program") }
    return words
  }

  /// Returns the path if it is absolute; throws otherwise.
  private static func directory(_ path: String) throws(Fault) -> String {
    guard path.hasPrefix("/") else { throw Fault("\"directory\" is not an absolute path") }
    return path
  }

  /// Variables from an object of names and values.
  private static func environment(_ node: JSONNode) throws(Fault) -> EnvironmentVariables {
    guard case .object(let members) = node.content else {
      throw Fault("\"environment\" is not an object of names and values")
    }
    var variables = EnvironmentVariables()
    for member in members {
      guard !member.key.isEmpty, !member.key.utf8.contains(UInt8(ascii: "=")), !member.key.utf8.contains(0)
      else { throw Fault("\(quoted(member.key)) is not a valid variable name") }
      variables[member.key] = try text(member.value, of: "the variable \(quoted(member.key))")
    }
    return variables
  }

  /// Variables from a list of `NAME=VALUE` in base64.
  private static func encodedEnvironment(_ node: JSONNode) throws(Fault) -> EnvironmentVariables {
    let what = "\"environment_b64\""
    guard case .array(let elements) = node.content else { throw Fault("\(what) is not a list of variables") }
    var variables = EnvironmentVariables()
    for element in elements {
      guard
        let (name, value) = EnvironmentVariables.parts(of: try decoded(element, of: "a variable of \(what)"))
      else {
        throw Fault("a variable of \(what) is not NAME=VALUE")
      }
      variables[name] = value
    }
    return variables
  }

  /// Resource limits from an object whose values are pairs of a soft and a hard limit.
  private static func limits(_ node: JSONNode) throws(Fault) -> [ResourceLimit] {
    guard case .object(let members) = node.content else { throw Fault("\"limits\" is not an object") }
    var limits: [ResourceLimit] = []
    for member in members {
      guard let resource = ResourceLimit.Resource(rawValue: member.key), resource != .realTime else {
        throw Fault("unknown limit \(quoted(member.key))")
      }
      guard case .array(let bounds) = member.value.content, bounds.count == 2, let soft = bound(bounds[0]),
        let hard = bound(bounds[1]), soft <= hard
      else { throw Fault("the limit \(quoted(member.key)) is not a pair of numbers") }
      limits.append(ResourceLimit(resource, soft, hard: hard))
    }
    return limits
  }

  /// One limit: a number, or null for no limit; nil for any other value.
  private static func bound(_ node: JSONNode) -> UInt64? {
    switch node.content {
    case .null: ResourceLimit.unlimited
    case .number(let digits): UInt64(digits)
    default: nil
    }
  }

  /// A string that can be an argument or a path; throws if it contains a zero byte, or a private character, which
  /// stands for a byte that is not UTF-8. `what` names the value in the error.
  private static func text(_ node: JSONNode, of what: String) throws(Fault) -> String {
    let text = try anyText(node, of: what)
    guard !text.utf8.contains(0) else { throw Fault("\(what) contains a NUL byte") }
    // Bytes that are not UTF-8 have to be base64 in the payload.
    guard !ByteText.containsNonUTF8Bytes(text) else { throw Fault("\(what) contains a private character") }
    return text
  }

  /// The value if it is a string, with any content; throws otherwise. `what` names the value in the error.
  private static func anyText(_ node: JSONNode, of what: String) throws(Fault) -> String {
    guard case .string(let text) = node.content else { throw Fault("\(what) is not a string") }
    return text
  }

  /// Bytes from a base64 string.
  private static func bytes(_ node: JSONNode, of what: String) throws(Fault) -> [UInt8] {
    let text = try anyText(node, of: what)
    do throws(Base64.Fault) { return try Base64.decode(text) } catch {
      throw Fault("\(what) is not valid base64 at character \(error.place)")
    }
  }

  /// A text that carries the bytes of a base64 string, which must not contain a zero byte.
  private static func decoded(_ node: JSONNode, of what: String) throws(Fault) -> String {
    let bytes = try bytes(node, of: what)
    guard !bytes.contains(0) else { throw Fault("\(what) contains a NUL byte") }
    return ByteText.text(of: bytes)
  }

  /// A name for an error message: quoted as a string literal, and truncated.
  private static func quoted(_ name: String) -> String { String(reflecting: String(name.prefix(64))) }
}
