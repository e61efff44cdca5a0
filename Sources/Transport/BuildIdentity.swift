// Identity of this build.
// Invariant: all executables of one build have the same identity.
import CBuild

/// Identity of this program's build.
public enum BuildIdentity {
  /// A short digest of the sources, or `dev` if none was computed.
  public static let current = String(cString: bank_build_id())
}
