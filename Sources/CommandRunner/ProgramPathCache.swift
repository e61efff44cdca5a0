// Cache of paths at which programs were found: searching a long `PATH` again for each command took a tenth of
// the runner's time.
// Invariant: an entry is a path at which the program was found and executable, less than a second ago. A failed
// search is never cached. Errors: the program may be missing by now. A caller that cannot run it clears the
// cache and searches again.
import ByteText
import Posix
import Time

/// Searches for programs, and caches their paths for a second. Not Sendable.
public final class ProgramPathCache {
  /// Maximum lifetime of an entry. During this time a new program in an earlier directory of `PATH` may be
  /// missed.
  static let lifetime = TimeSpan.seconds(1)
  /// Maximum number of entries. It bounds the memory, because programs can come from customers.
  static let maximumEntries = 64

  /// Everything on which the result of a search depends, except the files.
  private struct Key: Hashable {
    let program: ExactText
    let path: ExactText?
    let directory: ExactText?
  }

  private var paths: [Key: String] = [:]
  /// Time at which all entries expire; nil if there are none.
  private var endsAt: MonotonicTime?
  /// True if the last result came from the cache.
  private var wasCached = false

  public init() {}

  /// Finds the path of a program, in the cache or by ``ProgramSearch/find(_:path:directory:)``.
  public func find(
    _ program: String, path: String?, directory: String? = nil
  ) -> Result<String, CommandStartError> {
    let now = SystemClock.monotonic()
    if let endsAt, now >= endsAt || paths.count >= Self.maximumEntries { clear() }
    let key = Key(
      program: ExactText(program), path: path.map { ExactText($0) },
      directory: directory.map { ExactText($0) })
    if let place = paths[key] {
      wasCached = true
      return .success(place)
    }
    wasCached = false
    let found = ProgramSearch.find(program, path: path, directory: directory)
    guard case .success(let place) = found else { return found }
    if endsAt == nil { endsAt = now + Self.lifetime }
    paths[key] = place
    return found
  }

  /// Clears the cache, because a program could not be run at the path that was returned last. Returns true if that path
  /// was in the cache, so that another search may find a different one.
  public func forget() -> Bool {
    clear()
    defer { wasCached = false }
    return wasCached
  }

  /// Removes all entries.
  private func clear() {
    paths = [:]
    endsAt = nil
  }
}
