// Cache of paths at which programs were found, because the search of a long `PATH` takes time.
// Invariant: a returned path was found at most `lifetime` ago. A failed search is not cached. Errors: the program may
// be missing by now; see ``ProgramPathCache/forget()``.
import ByteText
import Posix
import Time

/// Searches for programs, and caches their paths. Not Sendable.
public final class ProgramPathCache {
  /// Maximum lifetime of an entry. During this time a new program in an earlier directory of `PATH` may be
  /// missed.
  static let lifetime = TimeSpan.seconds(1)
  /// Limit of the memory, because the names of programs can come from customers.
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

  private func clear() {
    paths = [:]
    endsAt = nil
  }
}
