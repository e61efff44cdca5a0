// Formatting of a detail as an English sentence, and conversion of another program's text into a detail.
// Invariant: a detail of a kind that this program does not know is shown as its values.

extension MessageDetail: CustomStringConvertible {
  /// The sentence in English.
  public var description: String {
    let sentence = kind.map { kind in formatTemplate(kind.wording.english) { value, _ in value } }
    return (source?.english ?? "") + (sentence ?? values.joined(separator: " "))
  }
}

extension MessageDetail: ExpressibleByStringInterpolation {
  /// Quotes the text of another program.
  public init(stringLiteral text: String) { self.init(quoting: text) }
}

extension MessageDetail {
  /// A copy of this detail that names `source` as the part of the bank that found it.
  public func of(_ source: Source) -> MessageDetail {
    var messageDetail = self
    messageDetail.source = source
    return messageDetail
  }
}
