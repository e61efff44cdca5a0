// Repeatable randomness: a test prints its seed, and BANK_TEST_SEED sets it.
import Foundation
import Testing

struct Chance: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// Random numbers of one test; prints the seed with the command that repeats the test.
  init(for test: String) {
    let given = ProcessInfo.processInfo.environment["BANK_TEST_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0..<1_000_000)
    print("seed \(seed); repeat with: BANK_TEST_SEED=\(seed) scripts/test \(test)")
    self.init(seed: seed)
  }

  /// SplitMix64 (Steele, Lea and Flood, 2014).
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
