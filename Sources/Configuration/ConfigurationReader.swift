// Conversion of one JSON value to a checked Swift value.
// Invariant: a returned value has the expected type and is in range.
// Errors: `ConfigurationError` with key and line.

import Arguments
import BankModel
import Glibc
import JSON
import Posix
import Time

/// One JSON value of a file, with its key. Its methods return the value as another type, and throw if it is not valid.
struct ConfigurationReader {
  /// Path of the file, for errors.
  let path: String
  /// The key with its groups; nil for the whole file.
  let key: String?
  let node: JSONNode

  /// Returns the error with this reason, at the key and line of the value. The caller throws it.
  func fail(_ reason: ConfigurationError.Reason) -> ConfigurationError {
    ConfigurationError(path: path, key: key, line: node.line, reason: reason)
  }

  /// Returns the error for a value that is not of this JSON type. The caller throws it.
  private func expected(_ expected: ConfigurationError.Expected) -> ConfigurationError {
    fail(.wrongKind(expected: expected, found: node.kind))
  }

  /// Calls `body` with each member of an object, in order. Throws at the first unknown or repeated key.
  func members(
    known: [String], _ body: (String, ConfigurationReader) throws(ConfigurationError) -> Void
  ) throws(ConfigurationError) {
    var seen: Set<String> = []
    for (name, line, value) in try entries() {
      let isKnown = known.contains(name)
      guard isKnown, seen.insert(name).inserted else {
        if isKnown { throw ConfigurationError(path: path, key: value.key, line: line, reason: .duplicateKey) }
        if let present = Setting.presentName(of: value.key ?? name) {
          throw ConfigurationError(path: path, key: name, line: line, reason: .renamedKey(present))
        }
        let suggestion = Suggestions.nearest(to: name, among: known).first
        throw ConfigurationError(
          path: path, key: name, line: line, reason: .unknownKey(suggestion: suggestion))
      }
      try body(name, value)
    }
  }

  /// The members of an object with arbitrary keys, in their order.
  func membersWithAnyKey() throws(ConfigurationError) -> [(String, ConfigurationReader)] {
    try entries().map { ($0.name, $0.value) }
  }

  /// The members of an object, in their order, with their lines.
  private func entries() throws(ConfigurationError) -> [(name: String, line: Int, value: ConfigurationReader)]
  {
    guard case .object(let members) = node.content else { throw expected(.object) }
    return members.map { member in
      let full = key.map { "\($0).\(member.key)" } ?? member.key
      return (member.key, member.line, ConfigurationReader(path: path, key: full, node: member.value))
    }
  }

  /// The values of an object by key. Throws if a key of `required` is missing, and for a key in neither list.
  func parts(required: [String], open: [String]) throws(ConfigurationError) -> [String: ConfigurationReader] {
    var parts: [String: ConfigurationReader] = [:]
    try members(known: required + open) { key, value throws(ConfigurationError) in parts[key] = value }
    for name in required where parts[name] == nil { throw fail(.missing(name)) }
    return parts
  }

  /// The value of a required key; throws if it is missing.
  func part(
    _ name: String, _ parts: [String: ConfigurationReader]
  ) throws(ConfigurationError) -> ConfigurationReader {
    guard let part = parts[name] else { throw fail(.missing(name)) }
    return part
  }

  /// The elements of a list. Throws if there are more than `limit`.
  func elements(atMost limit: Int) throws(ConfigurationError) -> [ConfigurationReader] {
    guard case .array(let elements) = node.content else { throw expected(.list) }
    if elements.count > limit { throw fail(.tooMany(limit)) }
    return elements.enumerated().map { place, node in
      ConfigurationReader(path: path, key: "\(key ?? "")[\(place + 1)]", node: node)
    }
  }

  /// Reads id, Korean name and English name of an item. Throws if `given` contains one of them already, else adds them.
  func names(
    _ parts: [String: ConfigurationReader], atMost longest: Int, _ given: inout Set<String>
  ) throws(ConfigurationError) -> (id: ItemID, korean: String, english: String) {
    let (idPart, koreanPart) = (try part("id", parts), try part("ko", parts))
    let englishPart = try part("en", parts)
    let id = ItemID(try idPart.text(atMost: StockLimits.itemLength))
    if !id.isValid { throw idPart.fail(.badName(id.name)) }
    let (korean, english) = (try koreanPart.text(atMost: longest), try englishPart.text(atMost: longest))
    let names = [(id.name, idPart), (korean, koreanPart), (english, englishPart)]
    for (name, reader) in names where given.contains(name) { throw reader.fail(.duplicateName(name)) }
    given.formUnion(names.map(\.0))
    return (id, korean, english)
  }

  /// A text without control characters, with 1 to `limit` characters.
  func text(atMost limit: Int) throws(ConfigurationError) -> String {
    guard case .string(let text) = node.content else { throw expected(.text) }
    let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard (1...limit).contains(text.count), text.utf8.count <= 8 * limit, isPlain else {
      throw fail(.badText(limit))
    }
    return text
  }

  /// A whole number within bounds.
  func wholeNumber<Number: FixedWidthInteger>(
    in bounds: ClosedRange<Int64>, as type: Number.Type = Number.self
  ) throws(ConfigurationError) -> Number {
    guard case .number(let text) = node.content else { throw expected(.wholeNumber) }
    guard let number = Int64(text) else { throw fail(.notWhole(text)) }
    guard bounds.contains(number), let narrow = Number(exactly: number) else {
      throw fail(.outOfRange(text, from: "\(bounds.lowerBound)", to: "\(bounds.upperBound)"))
    }
    return narrow
  }

  /// The value in thousandths; it must be a number from 0 to 1.
  func thousandths() throws(ConfigurationError) -> Int32 {
    guard case .number(let text) = node.content else { throw expected(.fraction) }
    guard let thousandths = FractionText.parse(text) else { throw fail(.notAFraction(text)) }
    return thousandths
  }

  func bool() throws(ConfigurationError) -> Bool {
    guard case .bool(let value) = node.content else { throw expected(.bool) }
    return value
  }

  /// A duration within bounds.
  func span(in bounds: ClosedRange<TimeSpan>) throws(ConfigurationError) -> TimeSpan {
    guard case .string(let text) = node.content else { throw expected(.duration) }
    let span: TimeSpan
    do throws(DurationText.Failure) { span = try DurationText.parse(text) } catch {
      throw fail(.duration(text, error))
    }
    guard bounds.contains(span) else {
      let (from, to) = (DurationText.print(bounds.lowerBound), DurationText.print(bounds.upperBound))
      throw fail(.outOfRange(text, from: from, to: to))
    }
    return span
  }

  /// A speed: a number, a number in quotes, or `"max"`.
  func speed() throws(ConfigurationError) -> Speed {
    let text: String
    switch node.content {
    case .number(let number): text = number
    case .string(let string): text = string
    default: throw expected(.speed)
    }
    do throws(SpeedText.Failure) { return Speed(try SpeedText.parse(text)) } catch {
      throw fail(.speed(text, error))
    }
  }

  /// True for null, which counts as an absent key if the setting allows null.
  var isNull: Bool { node.kind == .null }
  var isText: Bool { node.kind == .string }

  /// Address of a shared database. Null counts as an absent key: the bank has a database of its own.
  func address() throws(ConfigurationError) -> StoreAddress? {
    switch node.content {
    case .null: return nil
    case .string(let text):
      do throws(StoreAddress.Fault) { return try StoreAddress(text) } catch { throw fail(.address(error)) }
    default: throw expected(.text)
    }
  }

  /// A language. Null counts as an absent key: the language follows the locale.
  func language() throws(ConfigurationError) -> Language? {
    switch node.content {
    case .null: return nil
    case .string(let text):
      guard let language = Language(code: text) else { throw fail(.language(text)) }
      return language
    default: throw expected(.language)
    }
  }
}

/// Reads a file as a JSON tree.
enum ConfigurationFile {
  /// Maximum length of a file, in bytes.
  static let longest = 1 << 20

  /// All bytes of a file. A missing file is ``ConfigurationError/Reason/notFound``.
  static func bytes(of path: String) throws(ConfigurationError) -> [UInt8] {
    // Opening a pipe would block until it has a writer, and a reload must not block the bank.
    if let facts = try? FileMetadata.inspect(path), !facts.isFile, !facts.isDirectory {
      throw ConfigurationError(path: path, reason: .notAFile)
    }
    do throws(SystemError) { return try FileDescriptor.open(path, .readOnly).readAll(limit: longest) } catch {
      let reason: ConfigurationError.Reason =
        switch error.code {
        case ENOENT, ENOTDIR: .notFound
        case EFBIG: .tooLong
        default: .unreadable(error.description)
        }
      throw ConfigurationError(path: path, reason: reason)
    }
  }

  /// The JSON value of a file's bytes.
  static func root(of bytes: [UInt8], path: String) throws(ConfigurationError) -> ConfigurationReader {
    guard bytes.count <= longest else { throw ConfigurationError(path: path, reason: .tooLong) }
    do throws(JSONFault) {
      return ConfigurationReader(path: path, key: nil, node: try JSONReader.read(bytes))
    } catch { throw ConfigurationError(path: path, line: error.line, reason: .syntax(error.reason)) }
  }
}
