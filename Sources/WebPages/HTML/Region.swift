// Owns the parts of a page that can change while somebody looks at it. Invariant: a page has the same regions, by name, for
// all its values, so that the script in the page needs to know nothing but names; no two rows of a region have one key.

/// A part of a page that changes. In the document it is the inside of an element with `data-region="name"`.
public enum Region: Sendable, Equatable {
  /// A part that is replaced whole.
  case block(name: String, html: String)
  /// A list of which single rows are put in, replaced and taken out. Each is one element with `data-key="key"`.
  case rows(name: String, rows: [(key: String, html: String)])

  /// What the element of the document is called.
  public var name: String {
    switch self {
    case .block(let name, _), .rows(let name, _): name
    }
  }

  /// Whether it is a list of rows.
  public var isList: Bool { if case .rows = self { true } else { false } }

  /// What stands inside the element.
  public var html: String {
    switch self {
    case .block(_, let html): html
    case .rows(_, let rows): rows.reduce(into: "") { $0 += $1.html }
    }
  }

  /// Whether both have the same name and the same contents.
  public static func == (left: Region, right: Region) -> Bool {
    switch (left, right) {
    case (.block(let name, let html), .block(let otherName, let otherHTML)):
      name == otherName && html == otherHTML
    case (.rows(let name, let rows), .rows(let otherName, let otherRows)):
      name == otherName && rows.elementsEqual(otherRows, by: ==)
    default: false
    }
  }

  static func block(_ name: String, _ html: HTML) -> Region { .block(name: name, html: html.text) }

  /// A list with a row for each of some values. Of values with one key the first has its row: what a socket tells is not ours
  /// to vouch for.
  static func rows<Values: Sequence>(
    _ name: String, _ values: Values, key: (Values.Element) -> String, row: (Values.Element) -> HTML
  ) -> Region {
    var seen: Set<String> = []
    return .rows(
      name: name,
      rows: values.compactMap { value in
        let key = key(value)
        return seen.insert(key).inserted ? (key, row(value).text) : nil
      })
  }
}

extension [Region] {
  /// The document's element of a region, with its contents.
  ///
  /// - Parameter attributes: what else its tag says, with a space before it.
  func place(_ name: String, _ tag: HTML = "div", _ attributes: HTML = "") -> HTML {
    let inside = first { $0.name == name }.map { HTML(trusted: $0.html) }
    precondition(inside != nil, "a page places the region \(name) and does not have it")
    return #"<\#(tag) data-region="\#(name)"\#(attributes)>\#(inside)</\#(tag)>"#
  }
}
