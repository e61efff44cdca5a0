// Parts of a page that change while it is viewed.
// Invariant: a page has the same region names for all its values at one address, so the script needs only the names.
// The keys of a region's rows are unique.

/// A changing part of a page: the content of an element with `data-region="name"`.
public enum Region: Sendable, Equatable {
  /// A part that is replaced completely.
  case block(name: String, html: String)
  /// A list whose rows are inserted, replaced and removed one by one. Each row is one element with `data-key="key"`.
  case rows(name: String, rows: [(key: String, html: String)])

  /// Name of the element in the document.
  public var name: String {
    switch self {
    case .block(let name, _), .rows(let name, _): name
    }
  }

  /// True for a list of rows.
  public var isList: Bool { if case .rows = self { true } else { false } }

  /// Content of the element.
  public var html: String {
    switch self {
    case .block(_, let html): html
    case .rows(_, let rows): rows.reduce(into: "") { $0 += $1.html }
    }
  }

  /// True if name and contents are equal.
  public static func == (left: Region, right: Region) -> Bool {
    switch (left, right) {
    case (.block(let name, let html), .block(let otherName, let otherHTML)):
      name == otherName && html == otherHTML
    case (.rows(let name, let rows), .rows(let otherName, let otherRows)):
      name == otherName && rows.elementsEqual(otherRows, by: ==)
    default: false
    }
  }

  /// Makes a region that is replaced completely when it changes.
  static func block(_ name: String, _ html: HTML) -> Region { .block(name: name, html: html.text) }

  /// A list with a row for each value. If several values have the same key, only the first has a row: data from a
  /// socket may repeat keys.
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
  /// The element of the region with this name, with its contents, for the body of a page.
  ///
  /// - Parameter attributes: further attributes of the tag, with a space before them.
  func place(_ name: String, _ tag: HTML = "div", _ attributes: HTML = "") -> HTML {
    let inside = first { $0.name == name }.map { HTML(trusted: $0.html) }
    precondition(inside != nil, "a page places the region \(name) and does not have it")
    return #"<\#(tag) data-region="\#(name)"\#(attributes)>\#(inside)</\#(tag)>"#
  }
}
