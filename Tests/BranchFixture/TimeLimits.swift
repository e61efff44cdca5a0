// Time limits of the tests. A limit proves nothing: it only ends a test that would otherwise wait for ever.

/// Limits for all tests, which run in parallel on machines of any speed.
public enum TimeLimits {
  /// Extends a limit that suits an idle machine to what a busy one may need.
  public static func scaled(_ limit: Duration) -> Duration { limit * 6 }

  /// Limit for a whole test with one branch; see ``Watchdog``.
  public static let wholeTest = Duration.seconds(1_200)
}
