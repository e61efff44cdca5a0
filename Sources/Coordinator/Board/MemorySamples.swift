// Memory of the processes at the windows and of outside workers, for viewers.
// Invariant: the number of measurements per snapshot is limited; later snapshots measure the other processes.

import Posix
import Time

struct MemorySamples {
  /// Time for which a measurement is valid, and largest number of measurements per snapshot.
  private static let (lifetime, perSnapshot) = (TimeSpan.seconds(1), 16)

  /// Last measurement of each process. `isWanted` is true if the present snapshot has used it.
  private var samples: [Int32: (bytes: Int64?, at: MonotonicTime, isWanted: Bool)] = [:]
  private var now = MonotonicTime(nanoseconds: 0)
  /// Number of measurements for the present snapshot.
  private var made = 0
  private let read: (Int32) -> Int64?

  /// - Parameter read: Returns the resident bytes of a process, or nil if they are unknown.
  init(read: @escaping (Int32) -> Int64? = ProcessMemory.residentBytes) { self.read = read }

  /// Starts the measurements for a snapshot at this moment, and drops those that the last snapshot did not use.
  mutating func begin(at now: MonotonicTime) {
    (self.now, made) = (now, 0)
    // Drop processes that were not in the last snapshot.
    samples = samples.filter { $0.value.isWanted }
    for pid in samples.keys { samples[pid]?.isWanted = false }
  }

  /// Resident bytes of a process, from a measurement within `lifetime`, or an earlier one if this snapshot has reached
  /// its limit of measurements; nil if they are unknown or not measured yet.
  mutating func bytes(of pid: Int32) -> Int64? {
    if let known = samples[pid], now.since(known.at) < Self.lifetime || made >= Self.perSnapshot {
      samples[pid]?.isWanted = true
      return known.bytes
    }
    guard made < Self.perSnapshot else { return nil }
    made += 1
    let bytes = read(pid)
    samples[pid] = (bytes, now, true)
    return bytes
  }
}
