// Owns where programs were found a moment ago: to look through a long `PATH` for each command again took a tenth of what
// its runner did. Invariant: what is remembered is a place where the program was found and could be run, less than a second
// ago, and never that there is none. Failure: what is found may be gone; whoever could not run it forgets, and looks again.
import ByteText
import Posix
import Time

/// Looks for programs, and remembers for a second where they are. Not Sendable.
public final class ProgramPlaces {
  /// For so long a program that was put in front of another of its name may be passed over.
  static let span = TimeSpan.seconds(1)
  /// Customers bring programs of their own: more are not remembered.
  static let most = 64

  private struct Question: Hashable {
    let program: ExactText
    let path: ExactText?
    let directory: ExactText?
  }

  private var places: [Question: String] = [:]
  private var endsAt: MonotonicTime?
  /// Whether the last answer was remembered.
  private var hasRemembered = false

  public init() {}

  /// The path of a program. See ``ProgramSearch/find(_:path:directory:)``
  public func find(
    _ program: String, path: String?, directory: String? = nil
  ) -> Result<String, CommandRefusal> {
    let now = SystemClock.monotonic()
    if let endsAt, now >= endsAt || places.count >= Self.most { empty() }
    let question = Question(
      program: ExactText(program), path: path.map { ExactText($0) },
      directory: directory.map { ExactText($0) })
    if let place = places[question] {
      hasRemembered = true
      return .success(place)
    }
    hasRemembered = false
    let found = ProgramSearch.find(program, path: path, directory: directory)
    guard case .success(let place) = found else { return found }
    if endsAt == nil { endsAt = now + Self.span }
    places[question] = place
    return found
  }

  /// Forgets all places, because a program could not be run at the one that was told last.
  ///
  /// - Returns: whether that was a remembered one, so that it is worth looking again.
  public func forget() -> Bool {
    empty()
    defer { hasRemembered = false }
    return hasRemembered
  }

  private func empty() {
    places = [:]
    endsAt = nil
  }
}
