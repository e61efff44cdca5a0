// The targets that Package.swift declares and their dependencies, read from its text: `swift package` cannot
// run while it runs the tests. It parses the calls of this repository's manifest; a declaration that it does
// not understand is missing from the result, which the rule about floors then reports.

struct Manifest {
  struct Declaration: Equatable {
    let name: String
    let dependencies: [String]
    let isTest: Bool
  }

  let declarations: [Declaration]

  private static let calls: [(word: String, isTest: Bool)] = [
    ("floor(", false), ("process(", false), (".target(", false), (".executableTarget(", false),
    (".systemLibrary(", false), ("tests(", true), (".testTarget(", true),
  ]

  init(_ file: File) {
    let text = SourceText.code(of: file.text, keepingStrings: true)
    var found: [(position: String.Index, declaration: Declaration)] = []
    for call in Self.calls {
      for range in text.ranges(of: call.word) where Self.isCall(at: range.lowerBound, in: text) {
        let arguments = Self.arguments(after: range.upperBound, in: text)
        guard let name = Self.name(in: arguments) else { continue }
        let declaration = Declaration(
          name: name, dependencies: Self.dependencies(in: arguments), isTest: call.isTest)
        found.append((range.lowerBound, declaration))
      }
    }
    declarations = found.sorted { $0.position < $1.position }.map(\.declaration)
  }

  subscript(name: String) -> Declaration? {
    declarations.first { $0.name == name }
  }

  /// Not the end of a longer word, and not the declaration of the function itself.
  private static func isCall(at position: String.Index, in text: String) -> Bool {
    let before = text[..<position]
    if before.hasSuffix("func ") { return false }
    guard let last = before.last else { return true }
    return !(last.isLetter || last.isNumber || last == "_")
  }

  /// Everything up to the parenthesis that closes the call.
  private static func arguments(after position: String.Index, in text: String) -> Substring {
    var depth = 0
    let end = text[position...].firstIndex { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return depth < 0
    }
    return text[position..<(end ?? text.endIndex)]
  }

  private static func name(in arguments: Substring) -> String? {
    var rest = arguments.drop { $0.isWhitespace }
    if rest.hasPrefix("name:") { rest = rest.dropFirst("name:".count).drop { $0.isWhitespace } }
    guard rest.first == "\"" else { return nil }
    return literals(in: rest).first
  }

  private static func dependencies(in arguments: Substring) -> [String] {
    for label in ["on:", "of:", "dependencies:"] {
      guard let range = arguments.ranges(of: label).first,
        let open = arguments[range.upperBound...].firstIndex(of: "["),
        let close = arguments[open...].firstIndex(of: "]")
      else { continue }
      return literals(in: arguments[open..<close])
    }
    return []
  }

  /// The contents of the string literals, which have no escapes in a manifest.
  private static func literals(in text: Substring) -> [String] {
    text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
  }
}
