// Documentation of public declarations. The formatter's own rule requires a comment also for an initializer
// that only fills the fields of its type, and a sentence there can only repeat the fields.

enum DeclarationRules {
  /// Each public declaration has a documentation comment; an initializer that only fills fields, and
  /// functions of Codable, may have none.
  static func checkComments(_ file: File) -> [Violation] {
    guard file.isSource, file.isSwift else { return [] }
    let lines = file.lines.map { $0.drop(while: \.isWhitespace) }
    return lines.indices.compactMap { place in
      guard isPublic(lines[place]), !isDocumented(lines[..<place]), !onlyAssigns(lines[place...]),
        !isCodable(lines[place])
      else { return nil }
      return Violation(file.path, line: place + 1, "is public and has no documentation comment")
    }
  }

  private static func isPublic(_ line: Substring) -> Bool {
    var words = line.split(separator: " ")[...]
    while let word = words.first, word.hasPrefix("@") { words.removeFirst() }
    return words.first == "public" && !words.contains("extension") && !words.contains("override")
  }

  /// True for one of the two functions of Codable, which need no explanation.
  private static func isCodable(_ line: Substring) -> Bool {
    line.hasPrefix("public init(from decoder: any Decoder)")
      || line.hasPrefix("public func encode(to encoder: any Encoder)")
  }

  private static func isDocumented(_ above: ArraySlice<Substring>) -> Bool {
    above.last { !$0.hasPrefix("@") }?.hasPrefix("///") == true
  }

  /// True for an initializer of which every statement is `self.name = value`, or the same of several.
  private static func onlyAssigns(_ from: ArraySlice<Substring>) -> Bool {
    guard let first = from.first, first.hasPrefix("public init("),
      let opening = from.firstIndex(where: { $0.hasSuffix("{") })
    else { return from.first.map { assignsOnOneLine($0) } ?? false }
    if assignsOnOneLine(first) { return true }
    return from[(opening + 1)...].prefix { $0 != "}" }.allSatisfy(assignsProperty)
  }

  /// The same on one line: `public init(_ name: String) { self.name = name }`.
  private static func assignsOnOneLine(_ line: Substring) -> Bool {
    guard line.hasPrefix("public init("), line.hasSuffix("}"), let brace = line.lastIndex(of: "{") else {
      return false
    }
    return line[line.index(after: brace)...].dropLast().split(separator: ";").allSatisfy {
      assignsProperty($0.drop(while: \.isWhitespace))
    }
  }

  private static func assignsProperty(_ statement: Substring) -> Bool {
    let words = statement.split(separator: " ")
    return words.isEmpty || words.count >= 3 && words[0].hasPrefix("self.") && words[1] == "="
      || words[0].hasPrefix("(self.") && words.contains("=")
  }
}
