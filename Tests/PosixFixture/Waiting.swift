// Waiting for a condition, and the contents of a file.
import Glibc
import Posix
import Time

/// Asks until the answer is yes; false when that took longer than this.
///
/// For effects of closing a descriptor, too: a child that another test is just starting holds copies of all
/// descriptors until its exec, so the last one may be closed a moment later.
public func eventually(
  within limit: TimeSpan = .seconds(120), _ condition: () throws -> Bool
) throws -> Bool {
  let deadline = SystemClock.monotonic() + limit
  while try !condition() {
    if SystemClock.monotonic() >= deadline { return false }
    sched_yield()
  }
  return true
}

public func contents(of path: String) throws -> String {
  String(decoding: try FileDescriptor.open(path, .readOnly).readAll(), as: UTF8.self)
}
