// Repeatable randomness for tests: a generator with a seed, and the line that tells how to use that seed
// again. Invariant: the same seed gives the same run on every machine.

import Glibc

/// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough to make test lines.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A generator whose seed is `ARGUMENTS_SEED` or a new one, and which is printed.
  static func announced(_ test: String) -> SeededRandom {
    let given = getenv("ARGUMENTS_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    print("\(test): seed \(seed); repeat: ARGUMENTS_SEED=\(seed) swift test --filter \(test)")
    return SeededRandom(seed: seed)
  }
}
