// Owns the removal of a bank's home between two measurements. It must not know what is in a home.
// Invariant: it follows no symbolic link, and removes nothing but what is under the given path.
// Failure: what cannot be removed stays; `scripts/bench` removes the whole scratch directory in the end.

import Glibc
import Posix

enum Scratch {
  static func remove(_ path: String) {
    guard let facts = try? FileFacts.inspect(path, followLinks: false) else { return }
    guard facts.isDirectory else {
      unlink(path)
      return
    }
    for name in (try? Directory.entries(of: path)) ?? [] { remove(Paths.join(path, name)) }
    rmdir(path)
  }
}
