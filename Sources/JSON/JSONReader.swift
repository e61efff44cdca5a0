// Parser of a JSON document into a tree. Foundation's decoder is not used, because it would make the coordinator larger
// and does not report line numbers and duplicate keys.
// Invariant: the nesting is limited, and with it the depth of the stack.

/// Parser of a whole JSON document.
public struct JSONReader {
  /// Maximum depth of nested arrays and objects.
  private static let maximumDepth = 32

  private var scanner: JSONScanner

  /// Parses a document in UTF-8.
  public static func read(_ bytes: [UInt8]) throws(JSONFault) -> JSONNode {
    // Some editors write a byte order mark first, which a parser may ignore (RFC 8259, section 8.1).
    let hasMark = bytes.starts(with: [0xef, 0xbb, 0xbf])
    var reader = JSONReader(scanner: JSONScanner(bytes.dropFirst(hasMark ? 3 : 0)))
    let node = try reader.value(depth: 0)
    try reader.scanner.end()
    return node
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONNode {
    scanner.skipSpace()
    let begin = scanner.line
    let content: JSONNode.Content
    switch scanner.next {
    case UInt8(ascii: "{"): content = .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): content = .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): content = .string(try scanner.string())
    case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?: content = .number(try scanner.number())
    default: content = try scanner.literal().map { .bool($0) } ?? .null
    }
    return JSONNode(content: content, line: begin)
  }

  private mutating func object(depth: Int) throws(JSONFault) -> [JSONNode.Member] {
    guard depth <= Self.maximumDepth else { throw scanner.fault(.tooDeep) }
    try scanner.take(UInt8(ascii: "{"))
    var members: [JSONNode.Member] = []
    while let key = try scanner.nextKey(isFirst: members.isEmpty) {
      members.append(JSONNode.Member(key: key.name, line: key.line, value: try value(depth: depth)))
    }
    return members
  }

  private mutating func array(depth: Int) throws(JSONFault) -> [JSONNode] {
    guard depth <= Self.maximumDepth else { throw scanner.fault(.tooDeep) }
    try scanner.take(UInt8(ascii: "["))
    var elements: [JSONNode] = []
    while try scanner.hasNext(isFirst: elements.isEmpty, before: UInt8(ascii: "]")) {
      elements.append(try value(depth: depth))
    }
    return elements
  }
}

/// A JSON document as a tree. Its values have line numbers, for error messages. The members of an object have the order
/// of the document and include duplicate keys; a number keeps its digits.
public struct JSONNode: Sendable, Equatable {
  /// A value of one of the six kinds of JSON.
  public enum Content: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The number as written in the document, so that it is not rounded.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
  }

  /// A key with its value.
  public struct Member: Sendable, Equatable {
    /// The key, with its escapes decoded.
    public var key: String
    /// Line of the key, from 1.
    public var line: Int
    /// Value of the key.
    public var value: JSONNode
  }

  /// The value, without its line.
  public var content: Content
  /// Line on which the value starts, from 1.
  public var line: Int

  /// Kind of the value.
  public var kind: JSONKind {
    switch content {
    case .null: .null
    case .bool: .bool
    case .number: .number
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }
}

/// Kind of a JSON value.
public enum JSONKind: Sendable, Hashable { case null, bool, number, string, array, object }
