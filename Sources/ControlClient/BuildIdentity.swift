// Owns the identity of this build, as the handshake shows it.
// It must not know how it is made: the build hands it in.
// Invariant: every executable of one build has the same.
// Failure: none.
import CBuild

/// The identity of the build that this program belongs to.
public enum BuildIdentity {
  /// A short digest of the sources, or `dev`.
  public static var current: String { String(cString: bank_build_id()) }
}
