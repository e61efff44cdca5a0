// Error of a browser, or of a page that does not reach an expected state.
// Invariant: the text is sufficient to understand the error from a log.

/// An error with the messages of the browser.
package struct BrowserError: Error, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
