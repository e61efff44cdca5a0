// Formatting of a detail as an English sentence, and conversion of another program's text into a detail.
// Invariant: a detail of a kind that this program does not know is shown as its values.

extension Remark: CustomStringConvertible {
  /// The sentence in English.
  public var description: String {
    let sentence = kind.map { kind in filling(kind.wording.english) { value, _ in value } }
    return (source?.english ?? "") + (sentence ?? values.joined(separator: " "))
  }
}

extension Remark: ExpressibleByStringInterpolation {
  /// Quotes the text of another program.
  public init(stringLiteral text: String) { self.init(quoting: text) }
}

extension Remark {
  /// This detail with another origin.
  public func of(_ source: Source) -> Remark {
    var remark = self
    remark.source = source
    return remark
  }
}
