// Error of a browser, or of a page that does not reach an expected state.
// Its text is for the log of a test.

/// Failure of the browser, of a request to it or of a wait for a page.
package struct BrowserError: Error, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
