// Owns the name of this build, as the handshake carries it. Invariant: the same in every executable of one
// build, and constant while a process lives. Failure: none; a build that nobody named is called "dev".
import CBuild

/// Which build this program belongs to.
public enum BuildIdentity {
  /// A short digest of the sources, or `dev` where nobody computed one.
  public static let current = String(cString: bank_build_id())
}
