// Owns why a browser cannot go on, or a page does not become what was waited for.
// Invariant: the words hold what is needed to understand it from a log alone.

/// What went wrong in a browser, and what it said of it.
package struct BrowserError: Error, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
