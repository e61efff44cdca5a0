// Owns the one place where chance enters a process; everything random grows from a seed that can be printed.
// It must not know generators.
// Invariant: 64 bits of the kernel's randomness, never a clock or a pid.
// Failure: waits for the kernel's pool at boot; after that the call cannot fail for eight bytes.
import CLinux

/// A seed for a random generator.
public enum RandomSeed {
  /// 64 random bits. `getrandom(2)`
  public static func fromSystem() -> UInt64 {
    if let kernel = Kernel.simulated { return kernel.random() }
    var seed: UInt64 = 0
    let count = uninterrupted { linux_random(&seed, MemoryLayout<UInt64>.size) }
    precondition(count == MemoryLayout<UInt64>.size, "the kernel gives eight random bytes at once")
    return seed
  }
}
