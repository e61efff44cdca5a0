// The random choices of these tests. Invariant: the same seed gives the same test, and the seed is always
// printed.

import BankModel
import Posix

/// Small numbers from a seed, `LOGBOOK_SEED` or a new one.
struct SeededNumbers {
  private var generator: SeededGenerator

  init(test: String) {
    let seed = Environment.value("LOGBOOK_SEED").flatMap { UInt64($0) } ?? RandomSeed.fromSystem()
    print("\(test): seed \(seed); repeat: LOGBOOK_SEED=\(seed) swift test --filter \(test)")
    generator = SeededGenerator(seed: seed)
  }

  mutating func next() -> UInt64 { generator.next() >> 8 }
}
