// How a particular becomes a sentence in English, and how the words of another program become a particular.
// Invariant: a kind that this program does not know keeps its values.

extension Remark: CustomStringConvertible {
  /// The sentence in English.
  public var description: String {
    let sentence = kind.map { kind in filling(kind.wording.english) { value, _ in value } }
    return (source?.english ?? "") + (sentence ?? values.joined(separator: " "))
  }
}

extension Remark: ExpressibleByStringInterpolation {
  /// The words of somebody else.
  public init(stringLiteral text: String) { self.init(quoting: text) }
}

extension Remark {
  /// The same, of somebody in particular.
  public func of(_ source: Source) -> Remark {
    var remark = self
    remark.source = source
    return remark
  }
}
