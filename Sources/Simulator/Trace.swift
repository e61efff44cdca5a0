// Record of a history: a digest of everything that happened, and lines of text if an output is given.
// Invariant: two histories with the same digest were the same, unless their digests collide.
import BankModel
import Time

/// The record of one history.
struct Trace {
  /// Digest of the history up to now, based on FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) over bytes and
  /// 64-bit words.
  private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
  /// Receives the lines; nil if none are wanted.
  let output: ((String) -> Void)?
  /// Lines not printed yet. Printed while a process of the simulated host is running, they would be written to the
  /// files of that process.
  private final class TraceBuffer { var lines: [String] = [] }
  private let waiting = TraceBuffer()

  init(output: ((String) -> Void)?) { self.output = output }

  mutating func mix(_ value: Int64) {
    digest = (digest ^ UInt64(bitPattern: value)) &* 0x0000_0100_0000_01B3
    digest ^= digest >> 29
  }

  /// Adds bytes and their count to the digest.
  mutating func mix(_ bytes: [UInt8]) {
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    mix(Int64(bytes.count))
  }

  /// Keeps one line with its time until `flush`, if an output is given.
  func line(_ now: MonotonicTime, _ message: @autoclosure () -> String) {
    guard output != nil else { return }
    let microseconds = now.nanoseconds / 1_000
    let fraction = String(microseconds % 1_000_000)
    let padded = String(repeating: "0", count: 6 - fraction.count) + fraction
    waiting.lines.append("\(microseconds / 1_000_000).\(padded)  \(message())")
  }

  /// Writes the lines. Call only while no process of the host is running.
  func flush() {
    guard let output else { return }
    for line in waiting.lines { output(line) }
    waiting.lines.removeAll(keepingCapacity: true)
  }
}
