// Owns the payload of a customer who brings a command line: what `bankctl run` puts in the queue.
// Invariant: nothing in it stands for something else: its words are handed over as they are, and no shell reads them.
// Failure: a sentence about what is wrong with it; it would be as wrong another time.
import JSON

/// `{"command":["sh","-c","…"],"directory":"/abs","environment":{"NAME":"VALUE"},"waited":true}`
struct CommandLinePayload: Equatable {
  /// The program and its words.
  var words: [String] = []
  /// Where it starts; nil where the bank is.
  var directory: String?
  /// Its whole environment; nil for what every command has.
  var environment: [String: String]?

  /// Whether a client waits for its end, and ends with its code.
  var isWaited = false

  /// What is wrong with a payload.
  struct Fault: Error, Equatable {
    let words: String
    init(_ words: String) { self.words = "the payload is no command line: \(words)" }
  }

  init(_ bytes: [UInt8]) throws(Fault) {
    guard !bytes.isEmpty else { throw Fault("it is empty") }
    let node: JSONNode
    do throws(JSONFault) { node = try JSONReader.read(bytes) } catch {
      throw Fault("no JSON at line \(error.line), column \(error.column)")
    }
    guard case .object(let members) = node.content else { throw Fault("no JSON object") }
    var seen: Set<String> = []
    for member in members {
      guard seen.insert(member.key).inserted else {
        throw Fault("\(Self.quoted(member.key)) stands there twice")
      }
      switch member.key {
      case "command": words = try Self.words(member.value)
      case "directory": directory = try Self.directory(member.value)
      case "environment": environment = try Self.environment(member.value)
      case "waited":
        guard case .bool(let isWaited) = member.value.content else {
          throw Fault("\"waited\" is neither true nor false")
        }
        self.isWaited = isWaited
      default: throw Fault("\(Self.quoted(member.key)) has no meaning there")
      }
    }
    guard seen.contains("command") else { throw Fault("\"command\" is missing") }
  }

  private static func words(_ node: JSONNode) throws(Fault) -> [String] {
    guard case .array(let elements) = node.content else { throw Fault("\"command\" is no list of words") }
    var words: [String] = []
    for element in elements { words.append(try text(element, of: "a word of \"command\"")) }
    guard let program = words.first, !program.isEmpty else { throw Fault("\"command\" names no program") }
    return words
  }

  private static func directory(_ node: JSONNode) throws(Fault) -> String {
    let path = try text(node, of: "\"directory\"")
    guard path.hasPrefix("/") else { throw Fault("\"directory\" is no absolute path") }
    return path
  }

  private static func environment(_ node: JSONNode) throws(Fault) -> [String: String] {
    guard case .object(let members) = node.content else {
      throw Fault("\"environment\" is no object of names and values")
    }
    var variables: [String: String] = [:]
    for member in members {
      guard !member.key.isEmpty, !member.key.utf8.contains(UInt8(ascii: "=")), !member.key.utf8.contains(0)
      else { throw Fault("no variable can be called \(quoted(member.key))") }
      variables[member.key] = try text(member.value, of: "the variable \(quoted(member.key))")
    }
    return variables
  }

  private static func text(_ node: JSONNode, of what: String) throws(Fault) -> String {
    guard case .string(let text) = node.content else { throw Fault("\(what) is no text") }
    guard !text.utf8.contains(0) else { throw Fault("\(what) holds a zero byte") }
    return text
  }

  /// As it would stand in a text of a program, and no longer than one reads.
  private static func quoted(_ name: String) -> String { String(reflecting: String(name.prefix(64))) }
}
