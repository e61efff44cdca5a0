// Error of a browser, or of a page that does not reach an expected state.
// Invariant: the text is sufficient to understand the error from a log.

/// Failure of the browser, of a request to it or of a wait for a page, with the reason as text.
package struct BrowserError: Error, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
