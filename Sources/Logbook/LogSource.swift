// Owns the seam between the merge and where lines come from.
// It must not know files: a test's source is an array.
// Invariant: a source hands out its lines in its own order, with times that never go back.
// Failure: whatever the source throws.

/// Something that lines are read from, one after the other.
public protocol LogSource: AnyObject {
  /// The next line; nil where there is none now. There may be one later, if the source is still being
  /// written.
  func next() throws(LogFailure) -> LogRecord?
}
