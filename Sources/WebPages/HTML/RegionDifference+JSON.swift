// JSON of changes for the script in the page.
// Invariant: one line. Rows that are equal except for their keys share one template, which saves bytes.
import JSON

extension RegionDifference {
  /// The message to the script: `{"blocks":{"name":"html"},"looks":["<li…>"],"rows":{"name":{"gone":["7"],
  /// "set":[["8","<li…>","9"]]}}}` on one line; for a complete list `"all":[["8","<li…>"],…]` instead of
  /// `gone` and `set`. A number instead of a row's HTML is the index of its template in `looks`, in which
  /// U+007F marks the place of the key.
  public var json: String {
    var templates = RowTemplates()
    for change in changes {
      switch change {
      case .block: break
      case .rows(_, _, let set): for row in set { templates.note(row.html, of: row.key) }
      case .allRows(_, let rows): for row in rows { templates.note(row.html, of: row.key) }
      }
    }
    var rows: [UInt8] = []
    append(changes.filter(\.isListChange), &templates, to: &rows)
    var bytes: [UInt8] = Array(#"{"blocks":{"#.utf8)
    append(changes.filter { !$0.isListChange }, &templates, to: &bytes)
    if !templates.written.isEmpty {
      bytes.append(contentsOf: #"},"looks":["#.utf8)
      Self.list(templates.written, to: &bytes) { JSONText.append($0, to: &$1) }
      bytes.append(contentsOf: #"],"rows":{"#.utf8)
    } else {
      bytes.append(contentsOf: #"},"rows":{"#.utf8)
    }
    bytes.append(contentsOf: rows)
    bytes.append(contentsOf: "}}".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends changes as members of a JSON object, each named after its region.
  private func append(_ changes: [RegionChange], _ templates: inout RowTemplates, to bytes: inout [UInt8]) {
    Self.list(changes, to: &bytes) { change, bytes in
      switch change {
      case .block(let name, let html):
        Self.name(name, to: &bytes)
        JSONText.append(html, to: &bytes)
      case .rows(let name, let removed, let set):
        Self.name(name, to: &bytes)
        bytes.append(contentsOf: #"{"gone":["#.utf8)
        Self.list(removed, to: &bytes) { JSONText.append($0, to: &$1) }
        bytes.append(contentsOf: #"],"set":["#.utf8)
        Self.list(set, to: &bytes) { row, bytes in
          Self.row(row.key, row.html, &templates, to: &bytes)
          bytes.append(UInt8(ascii: ","))
          JSONText.append(row.before, to: &bytes)
          bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(contentsOf: "]}".utf8)
      case .allRows(let name, let rows):
        Self.name(name, to: &bytes)
        bytes.append(contentsOf: #"{"all":["#.utf8)
        Self.list(rows, to: &bytes) { row, bytes in
          Self.row(row.key, row.html, &templates, to: &bytes)
          bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(contentsOf: "]}".utf8)
      }
    }
  }

  /// Appends the name of a member and the colon after it.
  private static func name(_ name: String, to bytes: inout [UInt8]) {
    JSONText.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }

  /// Appends a row: its key, and its HTML or the index of its template, without the closing bracket.
  private static func row(
    _ key: String, _ html: String, _ templates: inout RowTemplates, to bytes: inout [UInt8]
  ) {
    bytes.append(UInt8(ascii: "["))
    JSONText.append(key, to: &bytes)
    bytes.append(UInt8(ascii: ","))
    if let index = templates.index(of: html, key) {
      bytes.append(contentsOf: String(index).utf8)
    } else {
      JSONText.append(html, to: &bytes)
    }
  }

  private static func list<Element>(
    _ elements: [Element], to bytes: inout [UInt8], _ each: (Element, inout [UInt8]) -> Void
  ) {
    for (offset, element) in elements.enumerated() {
      if offset > 0 { bytes.append(UInt8(ascii: ",")) }
      each(element, &bytes)
    }
  }
}

/// Templates of a message: HTML of rows without their keys. A template that several rows share is sent once.
private struct RowTemplates {
  /// Number of rows of each template.
  private var counts: [[UInt8]: Int] = [:]
  /// Indices of the templates in use.
  private var indexes: [[UInt8]: Int] = [:]
  /// The templates in use, in the order of their indices.
  private(set) var written: [String] = []

  /// Documents do not contain this character, so it can mark the place of a key.
  private static let placeholder: UInt8 = 0x7F

  /// Counts the template of a row, to find those that several rows share. All rows are counted before the first index
  /// is requested.
  mutating func note(_ html: String, of key: String) {
    if let template = Self.template(html, key) { counts[template, default: 0] += 1 }
  }

  /// Index of a row's template in the message, to which it is added if needed; nil if the row's HTML is sent instead,
  /// because no other row has the same template.
  mutating func index(of html: String, _ key: String) -> Int? {
    guard let template = Self.template(html, key), counts[template, default: 0] > 1 else { return nil }
    if let index = indexes[template] { return index }
    indexes[template] = written.count
    written.append(String(decoding: template, as: UTF8.self))
    return written.count - 1
  }

  /// The row with the placeholder instead of its key. Nil if the key is empty, if the row is at most twice as long as
  /// its key, or if the row contains the placeholder.
  private static func template(_ html: String, _ key: String) -> [UInt8]? {
    let (html, key) = (Array(html.utf8), Array(key.utf8))
    guard let first = key.first, html.count > 2 * key.count else { return nil }
    var template: [UInt8] = []
    template.reserveCapacity(html.count)
    var index = 0
    while index < html.count {
      let byte = html[index]
      if byte == placeholder { return nil }
      if byte == first, html[index...].starts(with: key) {
        template.append(placeholder)
        index += key.count
      } else {
        template.append(byte)
        index += 1
      }
    }
    return template
  }
}
