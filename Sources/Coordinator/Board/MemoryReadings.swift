// Owns how much memory the processes of the windows take, for those who look at them. Invariant: a process is looked at when
// somebody asks for it, at most once a second, and only so many in one go: whoever is not looked at now is the next time.

import Posix
import Time

struct MemoryReadings {
  /// How long a reading holds, and how many are made in one go.
  private static let (life, inOneGo) = (TimeSpan.seconds(1), 16)

  private var readings: [Int32: (bytes: Int64?, at: MonotonicTime, isWanted: Bool)] = [:]
  private var now = MonotonicTime(nanoseconds: 0)
  private var made = 0
  private let read: (Int32) -> Int64?

  /// - Parameter read: bytes of a process in RAM; nil where it is gone.
  init(read: @escaping (Int32) -> Int64? = ProcessMemory.residentBytes) { self.read = read }

  /// A picture is made at this moment.
  mutating func begin(at now: MonotonicTime) {
    (self.now, made) = (now, 0)
    // Whoever was in no picture since the last one has gone.
    readings = readings.filter { $0.value.isWanted }
    for pid in readings.keys { readings[pid]?.isWanted = false }
  }

  /// Bytes of a process; nil where nobody knows yet.
  mutating func bytes(of pid: Int32) -> Int64? {
    if let known = readings[pid], now.since(known.at) < Self.life || made >= Self.inOneGo {
      readings[pid]?.isWanted = true
      return known.bytes
    }
    guard made < Self.inOneGo else { return nil }
    made += 1
    let bytes = read(pid)
    readings[pid] = (bytes, now, true)
    return bytes
  }
}
