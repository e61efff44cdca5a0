// Owns the reading of a JSON document as a tree: a configuration, or a customer's payload. Foundation's decoder is not used
// because the coordinator would grow by three megabytes, and because it hides lines and keys that appear twice.
// Invariant: nesting is bounded, so the stack is too.

/// Reads a whole document.
public struct JSONReader {
  private static let maximumDepth = 32

  private var scanner: JSONScanner

  /// The document of these bytes, in UTF-8.
  public static func read(_ bytes: [UInt8]) throws(JSONFault) -> JSONNode {
    // Some editors put a mark of the byte order in front, which a reader may overlook (RFC 8259, section 8.1).
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
    default: content = try scanner.word().map { .bool($0) } ?? .null
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

/// A JSON document as a tree in which every value knows its line, so that an error can point at it.
/// Invariant: members keep their order, a key that appears twice appears twice here, and a number keeps its digits.
public struct JSONNode: Sendable, Equatable {
  /// A value of one of JSON's kinds.
  public enum Content: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The digits as they are written: nothing is rounded.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])
  }

  /// A key with its value.
  public struct Member: Sendable, Equatable {
    /// The key, its escapes undone.
    public var key: String
    /// The line of the key, from 1.
    public var line: Int
    /// What stands behind the key.
    public var value: JSONNode
  }

  /// The value.
  public var content: Content
  /// The line on which the value begins, from 1.
  public var line: Int

  /// Its kind.
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

/// A kind of JSON value, as errors name it.
public enum JSONKind: Sendable, Hashable { case null, bool, number, string, array, object }
