// Reads a document as strictly as its pages are written: every element is closed, every attribute is in
// double quotes.

struct DocumentReader {
  struct Element {
    var name: String
    var attributes: [String: String]
    /// The contents, as written.
    var inside = ""
    var parents: [String]
  }

  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  static let empty: Set<String> = ["meta", "link", "input", "br"]

  /// Every element, in the order in which they are closed.
  static func elements(_ text: String) throws -> [Element] {
    var open: [(element: Element, start: String.Index)] = []
    var closed: [Element] = []
    var rest = text[...]
    while let start = rest.firstIndex(of: "<") {
      guard let end = rest[start...].firstIndex(of: ">") else { throw Fault(description: "a tag has no end") }
      let tag = text[text.index(after: start)..<end]
      rest = text[text.index(after: end)...]
      if tag.hasPrefix("!") { continue }
      if tag.hasPrefix("/") {
        guard var last = open.popLast(), last.element.name == tag.dropFirst() else {
          throw Fault(description: "</\(tag.dropFirst())> closes nothing; open: \(open.map(\.element.name))")
        }
        last.element.inside = String(text[last.start..<start])
        closed.append(last.element)
        continue
      }
      var element = try Self.element(tag)
      element.parents = open.map(\.element.name)
      if tag.hasSuffix("/") || empty.contains(element.name) {
        closed.append(element)
      } else {
        open.append((element, rest.startIndex))
      }
    }
    guard open.isEmpty else { throw Fault(description: "left open: \(open.map(\.element.name))") }
    return closed
  }

  private static func element(_ tag: Substring) throws -> Element {
    let name = tag.prefix { $0 != " " && $0 != "/" && $0 != "\n" }
    var attributes: [String: String] = [:]
    var rest = tag.dropFirst(name.count)
    while true {
      rest = rest.drop { $0 == " " || $0 == "\n" || $0 == "/" }
      guard !rest.isEmpty else { break }
      let key = rest.prefix { $0 != "=" && $0 != " " && $0 != "/" }
      rest = rest.dropFirst(key.count)
      var value = ""
      if rest.hasPrefix("=") {
        guard rest.hasPrefix("=\""), let close = rest.dropFirst(2).firstIndex(of: "\"") else {
          throw Fault(description: "the value of \(key) is in no quotes: <\(tag)>")
        }
        value = String(rest[rest.index(rest.startIndex, offsetBy: 2)..<close])
        rest = rest[rest.index(after: close)...]
      }
      guard attributes.updateValue(value, forKey: String(key)) == nil else {
        throw Fault(description: "\(key) stands twice: <\(tag)>")
      }
    }
    return Element(name: String(name), attributes: attributes, parents: [])
  }
}
