// How long the tests wait for what must come. Nothing is proved by a limit: it only ends a test that would wait for ever.

/// The patience of all tests, which run beside others on machines of any speed.
public enum Patience {
  /// A limit that is right on a quiet machine, as long as a busy one may need.
  public static func stretched(_ limit: Duration) -> Duration { limit * 6 }

  /// How long a whole test may take with one branch; see ``Watchdog``.
  public static let ofATest = Duration.seconds(1_200)
}
