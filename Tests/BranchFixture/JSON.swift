// JSON document as a script reads it: members are read by name, and documents are compared with a sample of the
// contract. A missing member is `.missing` and not an error, so that a failed expectation shows the value found.
import Foundation

public enum JSON: Equatable, Sendable {
  case missing
  case null
  case flag(Bool)
  case integer(Int)
  case fraction(Double)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  public init(parsing text: String) throws {
    do {
      self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    } catch {
      throw TestFailure("not a JSON document: \(text.debugDescription) (\(error))")
    }
  }

  /// Documents of a text that has one document on each line.
  public static func lines(_ text: String) throws -> [JSON] {
    try text.split(separator: "\n").map { try JSON(parsing: String($0)) }
  }

  public subscript(_ name: String) -> JSON {
    guard case .object(let members) = self else { return .missing }
    return members[name] ?? .missing
  }

  public subscript(_ index: Int) -> JSON { items.indices.contains(index) ? items[index] : .missing }

  public var items: [JSON] { if case .list(let items) = self { items } else { [] } }
  public var integer: Int? { if case .integer(let number) = self { number } else { nil } }
  public var text: String? { if case .text(let text) = self { text } else { nil } }
  public var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }

  /// Item of a list whose member `name` has this text.
  public func item(where name: String, is text: String) -> JSON {
    items.first { $0[name].text == text } ?? .missing
  }
}

extension JSON {
  /// Tickets in an answer to `enqueue`: day, first, last and count.
  public var tickets: [Int?] { ["day", "first", "last", "count"].map { self[$0].integer } }
  /// True if the tickets existed before the request.
  public var wasAlreadyIssued: Bool { self["known"].flag == true }
}

extension JSON: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .fraction(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let items = try? container.decode([JSON].self) {
      self = .list(items)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }
}

extension JSON: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing: "(missing)"
    case .null: "null"
    case .flag(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .fraction(let number): "\(number)"
    case .text(let text): text.debugDescription
    case .list(let items): "[\(items.map(\.description).joined(separator: ","))]"
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",") + "}"
    }
  }
}

extension JSON {
  /// Differences of this document from a sample. Every member of the sample must exist with the same kind of value;
  /// other members may be added. A `null` in the sample allows any value; a text that ends in `Z` requires a time.
  public func differences(from sample: JSON, at path: String = "$") -> [String] {
    switch (sample, self) {
    case (.null, _) where self != .missing: return []
    case (.flag, .flag), (.integer, .integer), (.fraction, .fraction): return []
    case (.text(let wanted), .text(let text)):
      guard wanted.hasSuffix("Z"), !Self.isTime(text) else { return [] }
      return ["\(path) is not a time: \(text)"]
    case (.list(let wanted), .list(let items)):
      guard let each = wanted.first else { return [] }
      guard !items.isEmpty else { return ["\(path) is empty"] }
      return items.enumerated().flatMap { $1.differences(from: each, at: "\(path)[\($0)]") }
    case (.object(let wanted), .object(let members)):
      return wanted.sorted { $0.key < $1.key }.flatMap { name, value in
        (members[name] ?? .missing).differences(from: value, at: "\(path).\(name)")
      }
    default: return ["\(path) is \(self), unlike \(sample)"]
    }
  }

  /// RFC 3339 in UTC with milliseconds.
  private static func isTime(_ text: String) -> Bool {
    text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil
  }
}
