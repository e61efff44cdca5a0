// The random numbers of this target's tests. Invariant: the same seed gives the same numbers; every run
// prints its seed and how to repeat it. A BANK_SEED that is not a number is ignored, and a seed is drawn.

import Glibc

/// SplitMix64 (Steele, Lea and Flood, 2014): small, fast, and good enough to choose test cases.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// A generator with the seed of `BANK_SEED`, or one drawn now; prints it under the name of the test.
  static func announced(_ test: String) -> SeededGenerator {
    let given = getenv("BANK_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 0...UInt64.max)
    print("\(test): seed \(seed); repeat with BANK_SEED=\(seed) swift test --filter WireTests")
    return SeededGenerator(seed: seed)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
