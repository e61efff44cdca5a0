// Error that ends a test, with everything that is needed to understand it from a log alone.
import Testing

public struct TestFailure: Error, CustomStringConvertible {
  public let description: String

  public init(_ text: String, at location: SourceLocation? = nil) {
    description = (location.map { "\($0.fileName):\($0.line): " } ?? "") + text
  }
}
