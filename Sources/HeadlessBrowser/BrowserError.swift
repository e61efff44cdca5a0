// Why a browser cannot go on, or a page does not become what was waited for, with what is needed to understand it from a log.

public struct BrowserError: Error, Sendable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
