// Identity of this build, as the handshake contains it. Invariant: the same in every executable of one build,
// and constant while a process runs.
import CBuild

/// Identity of this program's build.
public enum BuildIdentity {
  /// A short digest of the sources, or `dev` if none was computed.
  public static let current = String(cString: bank_build_id())
}
