// Why a test cannot go on, with everything that is needed to understand it from a log alone.
import Testing

struct Trouble: Error, CustomStringConvertible {
  let description: String

  init(_ text: String, at location: SourceLocation? = nil) {
    description = (location.map { "\($0.fileName):\($0.line): " } ?? "") + text
  }
}
